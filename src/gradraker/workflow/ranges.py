"""Find the four ranges of the kernel variance for a graph in any form."""

from typing import Any

import numpy as np

from gradraker.graph import adjacency_vectors, known_values
from gradraker.kernels import Sigma2Ranges
from gradraker.models.sigma2 import STATISTICS, sigma2_ranges


def find_ranges(
    graph: Any,
    values: Any = None,
    *,
    unknown_nodes: Any = "error",
    vector_options: dict[str, Any] | None = None,
    **learner: Any,
) -> tuple[Sigma2Ranges, int]:
    """Find the ranges of σ² for the known nodes of a graph, or for all of its nodes.

    Parameters
    ----------
    graph, values
        As in :func:`gradraker.predict_nodes`; without values all nodes are used. With values,
        ``noise="refined"`` takes the unknown nodes as the tested nodes of algorithm 2.
    unknown_nodes : {"error", "ignore"}
        What to do with values of nodes that are not in the graph.
    vector_options : dict, optional
        Options of :func:`gradraker.adjacency_vectors`.
    **learner
        Options of :func:`gradraker.sigma2_ranges`.

    Returns
    -------
    ranges : Sigma2Ranges
    n_nodes : int
        Number of nodes that they were measured on.

    Examples
    --------
    >>> from gradraker.workflow import find_ranges
    >>> ranges, n_nodes = find_ranges([("a", "x"), ("b", "x"), ("b", "y")], {"a": 1.0, "b": 2.0})
    >>> n_nodes, ranges.largest_distance
    (2, 1.0)
    """
    vectors = adjacency_vectors(graph, **(vector_options or {}))
    rows = vectors.rows
    if values is not None:
        is_known = ~np.isnan(known_values(values, vectors.nodes, unknown_nodes=unknown_nodes))
        if learner.get("noise") in STATISTICS and not is_known.all():
            learner = {**learner, "tested": rows[~is_known]}
        rows = rows[is_known]
    n_nodes = int(rows.shape[0])
    if n_nodes < 2:
        raise ValueError(
            f"{n_nodes} nodes have known values, but at least two are needed to measure a distance"
        )
    return sigma2_ranges(rows, **learner), n_nodes
