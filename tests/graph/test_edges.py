"""Edges on their way to a matrix: duplicates, directions, self-loops and weights."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from edge_examples import EDGES, rows
from gradraker import adjacency_vectors
from gradraker.graph import EdgeList


def test_direction_both_adds_and_counts_a_loop_once() -> None:
    assert rows(EDGES, direction="both") == [[0, 2, 0.5], [2, 0, 1], [0.5, 1, 3]]
    there_and_back = [("a", "b", 2.0), ("b", "a", 5.0)]
    assert rows(there_and_back, direction="both") == [[0, 7], [7, 0]]
    # "False" is about entries: two edges between two nodes are still one 1.
    assert rows(there_and_back, direction="both", weight=False) == [[0, 1], [1, 0]]


def test_self_loops_are_kept_added_or_dropped() -> None:
    assert rows(EDGES, self_loops="drop") == [[0, 2, 0.5], [0, 0, 0], [0, 1, 0]]
    assert rows(EDGES, self_loops="add") == [[1, 2, 0.5], [0, 1, 0], [0, 1, 3]]


def test_duplicates_are_summed_replaced_or_refused() -> None:
    edges = [("a", "b", 2.0), ("a", "b", 3.0), ("b", "a", 7.0)]
    assert rows(edges) == [[0, 5], [7, 0]]
    assert rows(edges, duplicates="last") == [[0, 3], [7, 0]]
    with pytest.raises(ValueError, match=r"edge 'a' → 'b' is given more than once.*duplicates"):
        rows(edges, duplicates="error")
    assert rows(EDGES, duplicates="error") == rows(EDGES)


def test_duplicates_of_an_undirected_graph_ignore_direction() -> None:
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", weight=1.0)
    graph.add_edge("b", "a", weight=2.0)
    assert rows(graph) == [[0, 3], [3, 0]]
    assert rows(graph, duplicates="last") == [[0, 2], [2, 0]]
    with pytest.raises(ValueError, match="edge 'a' – 'b' is given more than once"):
        rows(graph, duplicates="error")


def test_undirected_edges_may_be_listed_either_way() -> None:
    source, target, names = np.array([0, 1]), np.array([1, 0]), np.arange(2)
    edges = EdgeList(source, target, np.array([1.0, 2.0]), names, directed=False)
    assert rows(edges) == [[0, 3], [3, 0]]
    assert rows(edges, duplicates="last") == [[0, 2], [2, 0]]
    with pytest.raises(ValueError, match="edge 0 – 1 is given more than once"):
        rows(edges, duplicates="error")


def test_duplicate_entries_of_a_sparse_matrix_follow_the_same_rule() -> None:
    matrix = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(4, 4))
    assert adjacency_vectors(matrix).rows[0, 1] == 3.0
    assert adjacency_vectors(matrix, duplicates="last").rows[0, 1] == 2.0
    with pytest.raises(ValueError, match="edge 0 → 1"):
        adjacency_vectors(matrix, duplicates="error")


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(weight: float) -> None:
    with pytest.raises(ValueError, match=r"weight of edge 'b' → 'a' is .*must be finite"):
        adjacency_vectors([("a", "b", 1.0), ("b", "a", weight)])
    matrix = np.zeros((4, 4))
    matrix[1, 2] = weight
    with pytest.raises(ValueError, match="edge 1 → 2"):
        adjacency_vectors(matrix)


def test_negative_weights_are_allowed() -> None:
    assert rows([("a", "b", -2.0)]) == [[0, -2], [0, 0]]
