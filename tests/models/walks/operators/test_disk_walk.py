"""Walks over a graph on disk."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

from disk_edges import N_NODES, make_edges
from gradraker import NodeClassifier, NodeRegressor, read_edges
from gradraker.models.walks.iterative import selection
from gradraker.models.walks.operators import chains
from gradraker.models.walks.operators.polynomials import expand_power
from oracles import nodes as oracle


def test_choice_of_shares_from_disk_equals_that_from_memory(tmp_path: Path) -> None:
    source, target, _ = make_edges()
    source, target = np.append(source, target), np.append(target, source)
    pl.DataFrame({"source": source, "target": target}).write_csv(tmp_path / "edges.csv")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    labels = {node: "high" if np.sin(node / 20) > 0 else "low" for node in range(0, N_NODES, 3)}
    edges = np.column_stack([source, target])
    memory = NodeClassifier(solver="operators").fit(edges, labels, kind="edges")
    disk = NodeClassifier().fit(graph, labels)
    assert (disk.kernel_, disk.alpha_) == (memory.kernel_, memory.alpha_)
    np.testing.assert_allclose(disk.predict_proba([1, 2]), memory.predict_proba([1, 2]), atol=1e-3)


def test_scale_of_values_is_chosen_without_walks_that_the_model_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, _ = make_edges()
    pl.DataFrame({"source": source, "target": target}).write_csv(tmp_path / "edges.csv")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    values = {node: float(np.exp(4 * np.sin(node / 20))) for node in range(0, N_NODES, 2)}
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)  # parts are held out, as of many nodes
    expand = Mock(wraps=expand_power)
    monkeypatch.setattr(chains, "expand_power", expand)
    model = NodeRegressor(blocks=("hop1",), alpha=0.5, width=1.0).fit(graph, values)
    assert len(model.choice_.tried_transforms) > 1
    assert {call.args for call in expand.mock_calls} == {(1,)}


@pytest.mark.parametrize("walk", ["hop", "lazy", "alternating"])
def test_walks_on_disk_equal_those_in_memory(tmp_path: Path, walk: str) -> None:
    from gradraker.models.walks.operators import disk_walk

    (tmp_path / "edges.csv").write_text("1,2\n2,1\n2,3\n3,2\n3,1\n1,3\n3,4\n4,3\n5,5\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    found = disk_walk.build_disk_walk(graph.folder, graph.matrix, walk, np.float64).toarray()
    A = graph.matrix.toarray() / 2.0  # both directions of each edge
    sign = -1.0 if walk == "alternating" else 1.0
    expected = oracle.operator_walk(A, "both", sign=sign, is_lazy=walk == "lazy")
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_walk_of_a_folder_that_cannot_be_written_is_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradraker.models.walks.operators import disk_walk

    def refuse(**_: Any) -> Any:
        raise PermissionError("read-only")

    (tmp_path / "edges.csv").write_text("1,2\n2,3\n3,1\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    expected = disk_walk.build_disk_walk(graph.folder, graph.matrix, "hop", np.float32).toarray()
    os.remove(graph.folder / "hop.f4")
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    found = disk_walk.build_disk_walk(graph.folder, graph.matrix, "hop", np.float32).toarray()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found.sum(), 3.0)
    assert not (graph.folder / "hop.f4").exists()
