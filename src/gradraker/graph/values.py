"""Known values of nodes, lined up with the nodes of a graph."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import UnknownNodesError
from gradraker.graph.adapters.tables import is_table, numbers, table_values
from gradraker.graph.edges import plain
from gradraker.graph.names import (
    Names,
    asked_names,
    check_same_type,
    distinct,
    name_array,
    positions,
)


def known_values(
    values: Any, nodes: Iterable[Any], *, unknown_nodes: Literal["error", "ignore"] = "error"
) -> NDArray[np.float64]:
    """Return the value of each node, NaN where it is not known.

    Parameters
    ----------
    values : mapping, Series, table or array
        One of: a mapping from nodes to values; a pandas Series, whose index names the nodes; a
        table of pandas, polars or Arrow with columns node and value, or else its first two; an
        array, list or polars Series of n values in the order of ``nodes``. NaN and None mean
        unknown.
    nodes : sequence of n names
        The nodes of the result, such as ``adjacency_vectors(...).nodes``.
    unknown_nodes : {"error", "ignore"}
        What to do with values of nodes that are not among ``nodes``.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> from gradraker.graph import known_values
    >>> known_values({"b": 3.0, "a": 1.0}, ["a", "b", "c"])
    array([ 1.,  3., nan])
    >>> known_values({"d": 3.0}, ["a", "b", "c"])
    Traceback (most recent call last):
    gradraker.exceptions.UnknownNodesError: values holds nodes that are not in the graph: 'd'; ...
    """
    if unknown_nodes not in ("error", "ignore"):
        raise ValueError(f"unknown_nodes must be 'error' or 'ignore', got {unknown_nodes!r}")
    names = asked_names(nodes, argument="nodes")
    given = _named(values)
    if given is None:
        aligned = numbers(values, what="values")
        if aligned.shape != names.shape:
            raise ValueError(
                f"values has shape {aligned.shape}, but there are {len(names)} nodes: give one "
                "value per node, NaN where it is unknown, or a mapping from nodes to values"
            )
        _check_finite(names, aligned)
        return aligned
    listed, numbers_given = given
    _check_finite(listed, numbers_given)
    listed, numbers_given = _once(listed, numbers_given)
    at = positions(listed, names)
    unknown = listed[at < 0]
    if len(unknown):
        check_same_type(unknown, names, argument="values")
        if unknown_nodes == "error":
            raise UnknownNodesError(
                "values", unknown.tolist(), "pass unknown_nodes='ignore' to leave them out"
            )
    aligned = np.full(len(names), np.nan)
    aligned[at[at >= 0]] = numbers_given[at >= 0]
    return aligned


def _named(values: Any) -> tuple[Names, NDArray[np.float64]] | None:
    """Return nodes and their values, or None if the values come without nodes."""
    if isinstance(values, Mapping):
        nodes = name_array(list(values), argument="values")
        return nodes, numbers(list(values.values()), what="values")
    if is_table(values):
        return table_values(values)
    if hasattr(values, "index") and hasattr(values, "to_frame") and hasattr(values, "iloc"):
        return name_array(values.index.tolist(), argument="values"), numbers(values, what="values")
    return None


def _check_finite(nodes: Names, values: NDArray[np.float64]) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        i = infinite[0]
        raise ValueError(
            f"the value of node {plain(nodes[i])!r} is {values[i]}, but must be finite, or NaN if "
            "it is unknown"
        )


def _once(nodes: Names, values: NDArray[np.float64]) -> tuple[Names, NDArray[np.float64]]:
    """Return each node once; the same value twice is no contradiction, two values are."""
    found, (codes,) = distinct([nodes])
    if len(found) == len(nodes):
        return nodes, values
    kept = np.empty(len(found))
    kept[codes] = values
    differs = np.flatnonzero(
        ~((kept[codes] == values) | (np.isnan(kept[codes]) & np.isnan(values)))
    )
    if len(differs):
        i = differs[0]
        raise ValueError(
            f"node {plain(nodes[i])!r} has two values, {values[i]} and {kept[codes[i]]}: give one"
        )
    return found, kept
