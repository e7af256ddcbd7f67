"""GraphML files."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from gradraker import adjacency_vectors, read_edges
from gradraker.exceptions import GraphFileError


def test_undirected_graph_keeps_isolated_nodes(tmp_path: Path) -> None:
    graph = nx.Graph([("a", "b")])
    graph.add_node("c")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    vectors = adjacency_vectors(read_edges(tmp_path / "g.graphml"))
    assert vectors.nodes.tolist() == ["a", "b", "c"]
    assert vectors.rows.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_without_networkx_the_extra_is_named(
    write_file: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        GraphFileError, match=r"read with networkx: pip install 'gradraker\[networkx\]'"
    ):
        read_edges(write_file(b"<graphml></graphml>", "edges"))
