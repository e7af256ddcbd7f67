"""Build the sub-graph of the nodes with known values, which a sweep works on."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from gradraker.datasets import GraphDataset
from gradraker.exceptions import TooFewValuesError
from gradraker.graph import adjacency_vectors, known_values


def build_known_subgraph(
    graph: Any,
    values: Mapping[Any, float],
    *,
    name: str,
    unknown_nodes: Literal["error", "ignore", "isolated"] = "error",
    **options: Any,
) -> GraphDataset:
    """Build the sub-graph of the nodes with known values; a sweep hides and predicts some of them.

    Parameters
    ----------
    graph : any graph that :func:`gradraker.adjacency_vectors` takes
        Edges, a mapping, …
    values : mapping
        Known values by node.
    name : str
        Name of the data set.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that are not in the graph.
    **options
        Further options of :func:`gradraker.adjacency_vectors`.

    Returns
    -------
    GraphDataset

    Examples
    --------
    >>> from gradraker.sweep.known_subgraph import build_known_subgraph
    >>> edges = [("a", "b"), ("b", "c"), ("c", "a")]
    >>> data = build_known_subgraph(edges, {"a": 1.0, "b": 2.0}, name="part")
    >>> data.adjacency.toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    if unknown_nodes == "isolated":
        nodes = list(values)
        known = np.array([float(values[node]) for node in nodes])
    else:
        all_nodes = adjacency_vectors(graph, **options).nodes
        known = known_values(values, all_nodes, unknown_nodes=unknown_nodes)
        nodes = all_nodes[~np.isnan(known)].tolist()
        known = known[~np.isnan(known)]
    if len(nodes) < 2:
        got = f"{len(nodes)} nodes have known values"
        raise TooFewValuesError(got, "and at least 2 are needed", "add values of more nodes")
    vectors = adjacency_vectors(graph, nodes=nodes, references=nodes, **options)
    return GraphDataset(vectors.rows, known, tuple(map(str, nodes)), name=name)
