"""Edges larger than memory: parts of files → a folder, and models that stream over it."""

import gzip
import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array

from gradraker import NodeClassifier, NodeRegressor, read_edges
from gradraker.exceptions import GraphFileError
from gradraker.graph import open_disk_graph
from gradraker.io.disk import build, numbering, parts, sorting
from gradraker.models.walks.operators import chains, selection
from gradraker.models.walks.operators.polynomials import expand_power

N = 400


def _make_edges(seed: int = 0, n: int = N, k: int = 3000) -> Any:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, n, k)
    source[:n] = np.arange(n)  # all nodes have an edge
    return source, (source + rng.integers(0, 20, k)) % n, rng.integers(1, 5, k).astype(float)


def _make_matrix(source: Any, target: Any, weight: Any, n: int = N) -> Any:
    A = coo_array((weight, (source, target)), shape=(n, n)).tocsr()
    return abs(A) + abs(A).T


def _write(folder: Path, edges: Any, *, weighted: bool) -> None:
    """Four parts in four forms."""
    source, target, weight = edges
    columns = {"source": source, "target": target} | ({"weight": weight} if weighted else {})
    frame = pl.DataFrame(columns)
    step = -(-len(frame) // 4)
    some = [frame.slice(i * step, step) for i in range(4)]
    some[0].write_parquet(folder / "edges-0.parquet")
    some[1].write_csv(folder / "edges-1.csv")
    (folder / "edges-2.tsv").write_text(some[2].write_csv(separator="\t"))
    with gzip.open(folder / "edges-3.csv.gz", "wb") as file:
        file.write(some[3].write_csv().encode())


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that each file and each step has several."""
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", 200)
    monkeypatch.setattr(parts, "_BYTES_AT_ONCE", 300)
    monkeypatch.setattr(build, "_EDGES_AT_ONCE", 170)
    monkeypatch.setattr(sorting, "ENTRIES_PER_BUCKET", 500)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most_marked", [numbering.MOST_MARKED, 1])
def test_read_edges_on_disk_equals_the_matrix_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weighted: bool, most_marked: int
) -> None:
    monkeypatch.setattr(build, "MOST_MARKED", most_marked)
    source, target, weight = _make_edges()
    weight = weight * np.where(np.arange(weight.size) % 2, -1.0, 1.0) if weighted else weight
    _write(tmp_path, (7 * source - 50, 7 * target - 50, weight), weighted=weighted)
    graph = read_edges(str(tmp_path / "edges-*"), on_disk=tmp_path / "graph")
    np.testing.assert_array_equal(graph.nodes, 7 * np.arange(N) - 50)
    counts = weight if weighted else np.ones(source.size)
    # Weights are summed as they are in each direction, by their sizes.
    expected = _make_matrix(source, target, np.abs(counts))
    np.testing.assert_array_equal(graph.matrix.toarray(), expected.toarray())
    assert (
        graph.matrix.indices == np.repeat(np.arange(N), np.diff(graph.matrix.indptr))
    ).sum() == N
    assert graph.matrix.has_sorted_indices
    assert all(
        np.diff(row).min() > 0
        for row in np.split(graph.matrix.indices, graph.matrix.indptr[1:-1])
        if row.size > 1
    )
    assert (graph.n_edges, len(graph)) == (3000, N)
    again = open_disk_graph(tmp_path / "graph")
    np.testing.assert_array_equal(again.matrix.data, graph.matrix.data)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "edges-0.parquet",
        "edges-1.csv",
        "edges-2.tsv",
        "edges-3.csv.gz",
        "graph",
    ]


@pytest.mark.parametrize("blocks", [("hop1", "hop4"), ("hop64", "alternating"), ("hop1", "degree")])
def test_model_from_disk_predicts_as_from_memory(tmp_path: Path, blocks: tuple[str, ...]) -> None:
    source, target, _ = _make_edges()
    # Both ways, so that degrees of both directions are equal in memory too.
    source, target = np.append(source, target), np.append(target, source)
    pl.DataFrame({"source": source, "target": target}).write_parquet(tmp_path / "edges.parquet")
    graph = read_edges(tmp_path / "edges.parquet", on_disk=tmp_path / "graph")
    values = {node: float(np.sin(node / 20)) for node in range(0, N, 3)}
    settings: dict[str, Any] = {"blocks": blocks, "width": 4.0, "alpha": 0.5, "tol": 1e-6}
    edges = np.column_stack([source, target])
    memory = NodeRegressor(solver="operators", **settings).fit(edges, values, kind="edges")
    disk = NodeRegressor(**settings).fit(graph, values)
    assert disk.solver_ == "operators"
    nodes = list(range(N))
    np.testing.assert_allclose(disk.predict(nodes), memory.predict(nodes), atol=1e-4)
    np.testing.assert_allclose(
        disk.explain([1]).weights, memory.explain([1]).weights[:, :], atol=1e-4
    )
    again = NodeRegressor(**settings).fit(open_disk_graph(tmp_path / "graph"), values)
    np.testing.assert_array_equal(again.predict(nodes), disk.predict(nodes))


def test_choice_of_shares_from_disk_equals_that_from_memory(tmp_path: Path) -> None:
    source, target, _ = _make_edges()
    source, target = np.append(source, target), np.append(target, source)
    pl.DataFrame({"source": source, "target": target}).write_csv(tmp_path / "edges.csv")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    labels = {node: "high" if np.sin(node / 20) > 0 else "low" for node in range(0, N, 3)}
    edges = np.column_stack([source, target])
    memory = NodeClassifier(solver="operators").fit(edges, labels, kind="edges")
    disk = NodeClassifier().fit(graph, labels)
    assert (disk.kernel_, disk.alpha_) == (memory.kernel_, memory.alpha_)
    np.testing.assert_allclose(disk.predict_proba([1, 2]), memory.predict_proba([1, 2]), atol=1e-3)


def test_scale_of_values_is_chosen_without_walks_that_the_model_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, _ = _make_edges()
    pl.DataFrame({"source": source, "target": target}).write_csv(tmp_path / "edges.csv")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    values = {node: float(np.exp(4 * np.sin(node / 20))) for node in range(0, N, 2)}
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)  # parts are held out, as of many nodes
    expand = Mock(wraps=expand_power)
    monkeypatch.setattr(chains, "expand_power", expand)
    model = NodeRegressor(blocks=("hop1",), alpha=0.5, width=1.0).fit(graph, values)
    assert len(model.choice_.tried_transforms) > 1
    assert {call.args for call in expand.mock_calls} == {(1,)}


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nb,c\n", "whole numbers as names"),
        ("source,target\n1,2\n3\n", "line 3"),
        ("source,target,weight\n1,2,nan\n", "line 2"),
    ],
)
def test_read_edges_on_disk_leaves_nothing_of_a_bad_file(
    tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "edges.csv").write_text(content)
    with pytest.raises(GraphFileError, match=message):
        read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    assert [path.name for path in tmp_path.iterdir()] == ["edges.csv"]


def test_read_edges_on_disk_refuses_a_folder_in_use_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("1,2\n")
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "mine").write_text("")
    with pytest.raises(FileExistsError, match="new or empty"):
        read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    with pytest.raises(FileNotFoundError, match="no file is at"):
        read_edges(tmp_path / "none-*.csv", on_disk=tmp_path / "other")
    with pytest.raises(ValueError, match="on_disk takes text and Parquet"):
        read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "other", ids="text")


def test_open_disk_graph_refuses_a_cut_file(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("1,2\n2,3\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    with open(graph.folder / "indices.i4", "r+b") as file:
        file.truncate(8)
    with pytest.raises(ValueError, match="is not a graph on disk"):
        open_disk_graph(tmp_path / "graph")
    with pytest.raises(ValueError, match="is not a graph on disk"):
        open_disk_graph(tmp_path / "nowhere")


def test_model_on_disk_refuses_what_needs_memory(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("1,2\n2,3\n3,4\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    values = {1: 0.0, 2: 1.0, 3: 2.0}
    for wrong in ({"direction": "out"}, {"neighbours": "known"}, {"solver": "exact"}):
        with pytest.raises(ValueError, match="a graph on disk needs"):
            NodeRegressor(**wrong).fit(graph, values)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes no options"):
        NodeRegressor().fit(graph, values, directed=False)
    model = NodeRegressor(blocks=("hop1",), alpha=0.5, width=1.0).fit(graph, values)
    with pytest.raises(ValueError, match="cannot grow"):
        model.partial_fit([(4, 5)])
    model.partial_fit(values={4: 3.0})
    assert np.isfinite(model.predict([1])).all()
