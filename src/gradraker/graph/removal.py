"""Edges and nodes taken out of a graph."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.graph.node_graph import NodeGraph, find_nodes


def remove_edges(graph: NodeGraph, edges: Iterable[Any]) -> NodeGraph:
    """Take edges (source, target) out of a graph; of an undirected one in both directions.

    Examples
    --------
    >>> from gradraker.graph.node_graph import make_node_graph
    >>> from gradraker.graph.removal import remove_edges
    >>> graph = make_node_graph([("a", "b"), ("b", "c")], {})
    >>> remove_edges(graph, [("a", "b")]).adjacency.nnz
    1
    """
    pairs = [tuple(edge) for edge in edges]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"edges must be pairs (source, target), got {pair!r}")
    n = len(graph)
    rows, columns = (
        find_nodes(graph, [pair[side] for pair in pairs], argument="edges") for side in (0, 1)
    )
    entries = graph.adjacency.tocoo()
    keys = entries.row.astype(np.int64) * n + entries.col
    wanted = rows * n + columns
    missing = np.flatnonzero(~np.isin(wanted, keys))
    if missing.size:
        source, target = pairs[int(missing[0])]
        raise ValueError(f"edges holds {source!r} → {target!r}, which is not in the graph")
    if not graph.is_directed:
        wanted = np.concatenate([wanted, columns * n + rows])
    kept = ~np.isin(keys, wanted)
    matrix = csr_array(
        (entries.data[kept], (entries.row[kept], entries.col[kept])), shape=entries.shape
    )
    return NodeGraph(graph.nodes, matrix, graph.is_directed)


def remove_nodes(graph: NodeGraph, rows: NDArray[np.int64]) -> tuple[NodeGraph, NDArray[np.int64]]:
    """Take nodes and their edges out of a graph; return it and the old rows of those that stay."""
    stays = np.ones(len(graph), dtype=np.bool_)
    stays[rows] = False
    kept = np.flatnonzero(stays)
    matrix = csr_array(graph.adjacency[kept][:, kept])
    return NodeGraph(graph.nodes[kept], matrix, graph.is_directed), kept
