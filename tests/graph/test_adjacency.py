"""Adjacency vectors of graphs small enough to compute by hand."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from edge_examples import EDGES, rows
from gradraker import adjacency_vectors


def test_row_holds_edges_out_of_its_node() -> None:
    vectors = adjacency_vectors(EDGES)
    assert vectors.nodes.tolist() == ["a", "b", "c"]
    assert vectors.references.tolist() == ["a", "b", "c"]
    assert vectors.rows.toarray().tolist() == [[0, 2, 0.5], [0, 0, 0], [0, 1, 3]]
    assert repr(vectors) == "AdjacencyVectors(3 nodes × 3 references, 4 entries)"


def test_direction_in_is_the_transpose() -> None:
    assert rows(EDGES, direction="in") == [[0, 0, 0], [2, 0, 1], [0.5, 0, 3]]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_undirected_graph_has_the_same_rows_in_every_direction(direction: str) -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("c", "b", 3.0), ("c", "c", 4.0)])
    assert rows(graph, direction=direction) == [[0, 2, 0], [2, 0, 3], [0, 3, 4]]


def test_weight_false_makes_every_entry_1() -> None:
    assert rows(EDGES, weight=False) == [[0, 1, 1], [0, 0, 0], [0, 1, 1]]
    matrix = np.diag([2.0, -3.0, 0.0, 5.0])
    assert rows(matrix, weight=False) == np.diag([1.0, 1, 0, 1]).tolist()


def test_rows_are_canonical() -> None:
    unordered = sp.csr_array(([3.0, 0.0, 2.0, 1.0], [3, 2, 0, 0], [0, 4, 4, 4, 4]), shape=(4, 4))
    found = adjacency_vectors(unordered).rows
    assert found.indices.tolist() == [0, 3]
    assert found.data.tolist() == [3.0, 3.0]
    assert found.has_canonical_format
    assert unordered.indices.tolist() == [3, 2, 0, 0]  # the argument is as it was


def test_nodes_and_references_are_chosen_by_name() -> None:
    vectors = adjacency_vectors(EDGES, nodes=["c", "a"], references=["c", "b"])
    assert vectors.nodes.tolist() == ["c", "a"]
    assert vectors.references.tolist() == ["c", "b"]
    assert vectors.rows.toarray().tolist() == [[3, 1], [0.5, 2]]


def test_a_list_of_edges_gives_zero_rows_to_nodes_without_edges() -> None:
    vectors = adjacency_vectors(EDGES, nodes=["lonely", "a"])
    assert vectors.rows.toarray().tolist() == [[0, 0, 0], [0, 2, 0.5]]
    assert vectors.references.tolist() == ["a", "b", "c"]
    vectors = adjacency_vectors(EDGES, references=["b", "lonely"])
    assert vectors.rows.toarray().tolist() == [[2, 0], [0, 0], [1, 0]]
    assert vectors.nodes.tolist() == ["a", "b", "c"]
    assert rows(EDGES, nodes=["x"], references=["x", "y"], self_loops="add") == [[1, 0]]
    assert rows([], nodes=["x", "y"]) == [[], []]


def test_keys_of_a_dict_are_a_list_of_names() -> None:
    assert rows(EDGES, nodes={"c": 1, "a": 2}.keys()) == rows(EDGES, nodes=["c", "a"])


def test_other_graphs_refuse_unknown_names() -> None:
    with pytest.raises(
        ValueError, match=r"nodes holds names .* not have: 7, 8, 9, 10, 11 and 1 more"
    ):
        adjacency_vectors(np.eye(4), nodes=[0, 7, 8, 9, 10, 11, 12])
    with pytest.raises(ValueError, match=r"references holds names .* 'z'"):
        adjacency_vectors(nx.path_graph(3), references=["z"])


def test_names_of_another_type_are_not_taken_for_nodes_without_edges() -> None:
    with pytest.raises(ValueError, match=r"nodes holds '1' of type str.*is 1 of type int"):
        adjacency_vectors([(1, 2)], nodes=["1"])
    with pytest.raises(ValueError, match=r"references holds 1 of type int.*is '1' of type str"):
        adjacency_vectors([("1", "2")], references=[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": ["a", "a"]}, "nodes must not repeat a name, got 'a' more than once"),
        ({"nodes": "ab"}, "nodes must be a list or array of names, got 'ab'"),
        ({"nodes": {"a"}}, "nodes must be a list or array of names"),
        ({"nodes": [None]}, "nodes is missing"),
        ({"nodes": [["a"]]}, "names must be hashable"),
        ({"direction": "up"}, "direction must be one of 'out', 'in', 'both', got 'up'"),
        ({"self_loops": True}, "self_loops must be one of"),
        ({"duplicates": "first"}, "duplicates must be one of"),
        ({"hops": 0}, "hops must be an integer of at least 1, got 0"),
        ({"hops": 1.5}, "hops must be an integer"),
        ({"weight": True}, "weight must be None, False or the name"),
        ({"weight": "w"}, "weight must be None or False for a list of edges"),
        ({"kind": "frame"}, "kind must be 'matrix', 'edges' or None, got 'frame'"),
        ({"names": ["a", "b", "c"]}, "names is given, but a list of edges names its nodes"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[Any, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        adjacency_vectors(EDGES, **arguments)


def test_two_hops_by_hand() -> None:
    # Walks of two edges: a → c → b (½·1), a → c → c (½·3), c → c → b (3·1), c → c → c (3·3).
    assert rows(EDGES, hops=2) == [[0, 0.5, 1.5], [0, 0, 0], [0, 3, 9]]
    assert rows(EDGES, hops=2, nodes=["a"], references=["c", "b"]) == [[1.5, 0.5]]
    # With a loop on every node, walks of at most two edges: a → b three ways (2·1, 1·2, ½·1).
    assert rows(EDGES, hops=2, self_loops="add")[0][1] == 4.5


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_hops_are_powers(hops: Any, seed: Any) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 3, size=(5, 5)).astype(float)
    power = np.linalg.matrix_power(matrix, hops)
    assert np.array_equal(adjacency_vectors(matrix, hops=hops).rows.toarray(), power)
    chosen = adjacency_vectors(matrix, hops=hops, nodes=[3, 1], references=[0, 4, 2])
    assert np.array_equal(chosen.rows.toarray(), power[np.ix_([3, 1], [0, 4, 2])])


def test_too_many_entries_are_refused_before_they_are_computed() -> None:
    # A star: every leaf reaches every other in two hops, (10⁵)² entries.
    n = 100_000
    star = np.column_stack([np.zeros(n, dtype=int), np.arange(1, n + 1)])
    with pytest.raises(ValueError, match=r"2 hops give up to 1e\+10 entries \(120 GB\)"):
        adjacency_vectors(star, direction="both", hops=2)
    few = adjacency_vectors(star, direction="both", hops=2, nodes=[1, 2])
    assert few.rows.nnz == 2 * n


def test_weights_that_overflow_are_refused() -> None:
    with pytest.raises(ValueError, match="weights overflow after hops=2"):
        adjacency_vectors([("a", "b", 1e200), ("b", "a", 1e200)], hops=2)


def test_rectangular_matrix_has_nodes_and_references() -> None:
    matrix = np.arange(20.0).reshape(4, 5)
    vectors = adjacency_vectors(matrix)
    assert vectors.nodes.tolist() == [0, 1, 2, 3]
    assert vectors.references.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(vectors.rows.toarray(), matrix)
    named = adjacency_vectors(
        matrix, names=(list("abcd"), list("vwxyz")), nodes=["c"], references=["z", "v"]
    )
    assert named.rows.toarray().tolist() == [[14, 10]]
    for arguments in ({"direction": "in"}, {"self_loops": "add"}, {"hops": 2}):
        with pytest.raises(ValueError, match=r"must be .* for a rectangular graph .* got"):
            adjacency_vectors(matrix, **arguments)
    with pytest.raises(ValueError, match="names must be a pair"):
        adjacency_vectors(matrix, names=list("abcd"))


def test_names_are_read_only() -> None:
    vectors = adjacency_vectors(EDGES)
    with pytest.raises(ValueError, match="read-only"):
        vectors.nodes[0] = "z"


@given(st.permutations(range(6)), st.integers(0, 2**32 - 1))
def test_relabelling_nodes_permutes_rows_and_columns(permutation: Any, seed: Any) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 6, size=(12, 2))
    names = [f"n{i}" for i in permutation]
    renamed = [(names[i], names[j]) for i, j in edges.tolist()]
    expected = adjacency_vectors(edges, nodes=range(6), references=range(6)).rows.toarray()
    found = adjacency_vectors(renamed, nodes=names, references=names).rows.toarray()
    assert np.array_equal(found, expected)
