"""Adjacency vectors of the nodes of a graph, as SKG learns them."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.exceptions import TooFewValuesError
from gradraker.graph.edges import orient_entries
from gradraker.graph.hops import count_walks
from gradraker.graph.names import References, find_positions
from gradraker.graph.node_graph import NodeGraph


def make_node_rows(
    graph: NodeGraph,
    rows: NDArray[np.int64],
    references: References,
    direction: str,
    hops: int,
    hop_weights: str,
) -> tuple[csr_array, list[Hashable]]:
    """Return the adjacency vectors of some nodes, and the names of their columns."""
    columns, names = None, graph.nodes
    if references is not None:
        names = np.fromiter(references, dtype=object, count=len(references))
        columns = find_positions(names, graph.nodes)
        if np.any(columns < 0):
            raise ValueError(
                f"references holds names that the graph does not have: {names[columns < 0][0]!r}"
            )
    (X,) = count_walks(_orient(graph, direction), rows, columns, [hops], hop_weights)
    return X, names.tolist()


def _orient(graph: NodeGraph, direction: str) -> csr_array:
    """Return a matrix whose row n holds the edges of node n in one or both directions."""
    A = graph.adjacency
    if direction == "out" or not graph.is_directed:
        return A
    edges = A.tocoo()
    rows, columns, weights = orient_entries((edges.row, edges.col, edges.data), True, direction)
    return csr_array((weights, (rows, columns)), shape=A.shape)


def check_rows_differ(X: csr_array) -> None:
    """Refuse known nodes that no rule can choose σ² from."""
    n = X.shape[0]
    if n == 1 or abs(X - X[np.zeros(n, dtype=np.int64)]).sum() == 0.0:
        raise TooFewValuesError(
            "only 1 value is known" if n == 1 else "all known nodes have the same edges",
            "and to choose sigma2 takes two known nodes with different edges",
            "give more values",
            settings=("sigma2",),
        )
