"""Parts of graphs: the whole, communities, surroundings, overviews."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("igraph", reason="the extra 'studio' is not installed")

from gradraker import NodeRegressor
from gradraker.studio import StudioOptions
from gradraker.studio.answers import graph_parts
from gradraker.studio.answers.graph_parts import GraphParts
from gradraker.studio.answers.node_columns import average_columns


def make_model(n_cliques: int = 4, size: int = 8) -> Any:
    pairs = [(i, j) for i in range(size) for j in range(i)]
    edges = [(f"{c}-{i}", f"{c}-{j}") for c in range(n_cliques) for i, j in pairs]
    edges += [(f"{c}-0", f"{c + 1}-1") for c in range(n_cliques - 1)]
    known = {f"{c}-{i}": float(c) for c in range(n_cliques) for i in range(size // 2)}
    return NodeRegressor().fit(edges, known, directed=False)


def make_parts(model: Any, tmp_path: Path, **options: Any) -> Any:
    names = model.nodes_.tolist()
    return GraphParts(model, names, StudioOptions(cache=tmp_path, **options)), names


def test_small_graph_is_shown_whole(tmp_path: Path) -> None:
    model = make_model()
    parts, names = make_parts(model, tmp_path)
    part = parts.make_whole()
    assert part.kind == "whole"
    assert part.rows.tolist() == list(range(len(names)))
    assert 2 * len(part.edges) == model.adjacency_.nnz
    assert (part.edge_weights == 1.0).all()


def test_nodes_are_drawn_by_their_coordinates(tmp_path: Path) -> None:
    model = make_model()
    names = model.nodes_.tolist()
    given = {name: (float(i), float(i % 3)) for i, name in enumerate(names[:-1])}
    parts, _ = make_parts(model, tmp_path, positions=given)
    part = parts.make_whole()
    assert part.has_coordinates
    assert not list(tmp_path.iterdir())
    assert (np.diff(part.positions[:-1, 0]) > 0.0).all()
    assert part.positions[0, 1] > part.positions[2, 1]  # north is up
    assert np.isfinite(part.positions).all()


def test_few_coordinates_are_ignored(tmp_path: Path) -> None:
    model = make_model()
    parts, _ = make_parts(model, tmp_path, positions={"0-0": (1.0, 2.0)})
    assert not parts.make_whole().has_coordinates


def test_large_graph_is_shown_by_communities(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(graph_parts, "MAX_NODES", 20)
    model = make_model()
    parts, names = make_parts(model, tmp_path)
    part = parts.make_whole()
    assert part.kind == "overview"
    assert part.sizes.sum() == len(names) == 32
    assert len(part.sizes) == 4
    assert part.edge_weights.tolist() == [1.0, 1.0, 1.0]
    means = average_columns({"value": model.values_}, part.members, 4)["value"]
    assert sorted(means) == [0.0, 1.0, 2.0, 3.0]
    inside = parts.make_community(0)
    assert inside.kind == "community"
    assert len({names[i].split("-")[0] for i in inside.rows}) == 1
    with pytest.raises(ValueError, match="community must be from 0 to 3, got 9"):
        parts.make_community(9)


def test_surroundings_begin_with_the_nearest(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(graph_parts, "_MAX_IN_PART", 9)
    model = make_model()
    parts, names = make_parts(model, tmp_path)
    row = names.index("2-5")
    part = parts.make_surroundings(row)
    found = [names[i] for i in part.rows]
    assert len(found) == 9
    assert "2-5" in found
    assert {f"2-{i}" for i in range(8)} <= set(found)
    assert part.n_left_out == 23
