"""Graphs in a folder that are refused."""

from pathlib import Path

import pytest

from gradraker import read_edges
from gradraker.graph import open_disk_graph


def test_open_disk_graph_refuses_a_cut_file(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("1,2\n2,3\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    with open(graph.folder / "indices.i4", "r+b") as file:
        file.truncate(8)
    with pytest.raises(ValueError, match="is not a graph on disk"):
        open_disk_graph(tmp_path / "graph")
    with pytest.raises(ValueError, match="is not a graph on disk"):
        open_disk_graph(tmp_path / "nowhere")
