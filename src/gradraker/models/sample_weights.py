"""Sample weights, the trust in known values, aligned with the nodes of a graph."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.adapters.tables import is_table
from gradraker.graph.node_graph import NodeGraph
from gradraker.graph.values import NUMBERS, align_values, select_columns

Vector = NDArray[np.float64]
# Smallest and largest weight: beyond them, rounding errors would dominate.
SMALLEST, LARGEST = 1e-9, 1e9


def align_sample_weight(
    given: Any, graph: NodeGraph, added: NodeGraph, values: Any, node: Hashable
) -> Vector:
    """Return the weight of each node, NaN where none is given.

    Parameters
    ----------
    given : mapping, Series, array, or name of a column
        Weights in a form that values may have; a name is a column of the table ``values``.
    graph, added : NodeGraph
        The graph, and the part of it that gives the order of weights without names.
    values, node
        Values as a user gave them, and the column of their nodes.
    """
    if isinstance(given, str | int) and not isinstance(given, bool):
        if not is_table(values):
            raise ValueError(
                f"sample_weight is {given!r}, which names a column of a table, but values is a "
                f"{type(values).__name__}"
            )
        given = select_columns(values, node=node, value=given, task="values")
    try:
        _, weights = align_values(NUMBERS, graph, added, given, "error")
    except ValueError as error:
        raise ValueError(f"sample_weight: {error}") from error
    return check_sample_weight(weights, graph)


def check_sample_weight(weights: Vector, graph: NodeGraph) -> Vector:
    """Refuse weights that are not positive, or too small or large."""
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero((weights < SMALLEST) | (weights > LARGEST))
    if wrong.size:
        raise ValueError(
            f"sample_weight holds {weights[wrong[0]]:g} for node {graph.nodes[wrong[0]]!r}, but "
            f"weights must be from {SMALLEST:g} to {LARGEST:g}: leave out values that do not count"
        )
    return weights
