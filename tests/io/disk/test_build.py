"""Edges larger than memory: parts of files → a folder, and models that stream over it."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array

from disk_edges import N_NODES, make_edges
from gradraker import read_edges
from gradraker.exceptions import GraphFileError
from gradraker.graph import open_disk_graph
from gradraker.io.disk import build, numbering, parts, sorting


def _make_matrix(source: Any, target: Any, weight: Any, n: int = N_NODES) -> Any:
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
    source, target, weight = make_edges()
    weight = weight * np.where(np.arange(weight.size) % 2, -1.0, 1.0) if weighted else weight
    _write(tmp_path, (7 * source - 50, 7 * target - 50, weight), weighted=weighted)
    graph = read_edges(str(tmp_path / "edges-*"), on_disk=tmp_path / "graph")
    np.testing.assert_array_equal(graph.nodes, 7 * np.arange(N_NODES) - 50)
    counts = weight if weighted else np.ones(source.size)
    # Weights are summed as they are in each direction, by their sizes.
    expected = _make_matrix(source, target, np.abs(counts))
    np.testing.assert_array_equal(graph.matrix.toarray(), expected.toarray())
    assert (
        graph.matrix.indices == np.repeat(np.arange(N_NODES), np.diff(graph.matrix.indptr))
    ).sum() == N_NODES
    assert graph.matrix.has_sorted_indices
    assert all(
        np.diff(row).min() > 0
        for row in np.split(graph.matrix.indices, graph.matrix.indptr[1:-1])
        if row.size > 1
    )
    assert (graph.n_edges, len(graph)) == (3000, N_NODES)
    again = open_disk_graph(tmp_path / "graph")
    np.testing.assert_array_equal(again.matrix.data, graph.matrix.data)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "edges-0.parquet",
        "edges-1.csv",
        "edges-2.tsv",
        "edges-3.csv.gz",
        "graph",
    ]


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
