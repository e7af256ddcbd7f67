"""New nodes beside a graph: their links, found without making the graph anew."""

import pickle
from typing import Any

import numpy as np
import pytest

from gradraker.graph.node_graph import append_new_nodes, find_new_links, make_node_graph

N = 30


def make_graph(kind: type, directed: bool) -> Any:
    rng = np.random.default_rng(0)
    edges = [(kind(i), kind(rng.integers(N)), float(rng.integers(1, 9))) for i in range(N)]
    return make_node_graph(edges, {"directed": directed})


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", [str, int])
def test_find_new_links_equals_links_of_the_merged_graph(kind: type, directed: bool) -> None:
    graph = make_graph(kind, directed)
    links = {
        kind(100): {kind(7): 2.0, kind(3): 1.0, kind(29): 5.0},
        kind(102): {kind(0): -1.0},
        kind(101): {kind(3): 4.0, kind(7): 0.5},
    }
    found = find_new_links(graph, links, {})
    whole = append_new_nodes(graph, links, {})
    assert found.names.tolist() == whole.nodes[len(graph) :].tolist()
    new, old = slice(len(graph), None), slice(0, len(graph))
    np.testing.assert_array_equal(found.out.toarray(), whole.adjacency[new, old].toarray())
    np.testing.assert_array_equal(found.into.toarray(), whole.adjacency[old, new].toarray().T)
    assert found.out.has_sorted_indices
    assert (found.into.nnz > 0) is not directed


def test_edges_into_new_nodes() -> None:
    graph = make_graph(str, True)
    found = find_new_links(graph, [("3", "x", 2.0), ("x", "5", 1.0)], {})
    assert found.into.toarray()[0, graph.index.find(np.array(["3"], dtype=object))[0]] == 2.0
    assert found.out.nnz == found.into.nnz == 1


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({}, "it is empty"),
        ({"3": ["5"]}, "between nodes of the graph"),
        ({"x": ["y"]}, "two nodes that the graph does not have"),
        ({3: ["5"]}, "give names of one type"),
    ],
)
def test_links_that_are_refused(links: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        find_new_links(make_graph(str, True), links, {})


def test_positions_are_not_in_the_pickle() -> None:
    graph = make_graph(str, True)
    before = len(pickle.dumps(graph))
    assert graph.index.find(np.array(["3", "x"], dtype=object))[1] == -1
    assert len(pickle.dumps(graph)) == before
