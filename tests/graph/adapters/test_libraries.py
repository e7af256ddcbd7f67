"""Graphs of other libraries."""

import networkx as nx

from gradraker import adjacency_vectors


def test_networkx_edges_without_weight_count_1_beside_others() -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=3)
    graph.add_edge("b", "a")
    assert adjacency_vectors(graph).rows.toarray().tolist() == [[0, 3], [1, 0]]
