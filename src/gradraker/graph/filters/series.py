"""Series of values of all nodes: arrays and tables with one row a time and one column a node."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.graph.adapters.tables import column, column_names, is_table, numbers
from gradraker.graph.edges import plain
from gradraker.graph.names import Names, asked_names, check_same_type, positions, shown


def series_names(series: Any) -> Names | None:
    """Return the nodes that the columns of a table are named by; None for an array."""
    if not is_table(series):
        return None
    return asked_names(column_names(series), argument="columns of series")


def aligned_series(
    series: Any, nodes: Names, *, argument: str, n_times: int | None = None
) -> NDArray[np.float64]:
    """Return values of shape (n_times, n), with one column for each node, in order.

    Columns of an array are in the order of the nodes already; those of a table are found by
    name. A value that is missing or infinite is refused, and its node and time are named.
    """
    names = series_names(series)
    values = _numbers(series, argument) if names is None else _table_numbers(series, argument)
    if values.ndim != 2 or (names is None and values.shape[1] != len(nodes)):
        turned = values.ndim == 2 and values.shape[0] == len(nodes)
        raise ValueError(
            f"{argument} has shape {values.shape}, but must have one row a time and one column "
            f"for each of {len(nodes)} nodes" + (": pass its transpose" if turned else "")
        )
    if names is not None:
        at = positions(nodes, names)
        if (at < 0).any():
            check_same_type(nodes[at < 0], names, argument="graph")
            raise ValueError(f"{argument} has no column for nodes {shown(nodes[at < 0])}")
        values = values[:, at]
    if not len(values) or (n_times is not None and len(values) != n_times):
        needed = "at least 1" if n_times is None else f"{n_times} as the series"
        raise ValueError(f"{argument} has {len(values)} times, but must have {needed}")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        time, node = wrong[0]
        raise ValueError(
            f"{argument} is {values[time, node]} for node {plain(nodes[node])!r} at time {time}, "
            "but every node needs a finite value at every time"
        )
    return values


def _numbers(series: Any, argument: str) -> NDArray[np.float64]:
    if sp.issparse(series):
        raise TypeError(f"{argument} must be a dense array or a table, got a sparse matrix")
    array = np.asarray(series)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{argument} must hold real numbers, got dtype {array.dtype}")
    return array.astype(np.float64)  # a copy, so that nobody can change it later


def _table_numbers(table: Any, argument: str) -> NDArray[np.float64]:
    array = table.to_numpy() if hasattr(table, "to_numpy") else None
    if array is not None and array.dtype.kind in "iuf":
        return np.array(array, dtype=np.float64)
    # Columns of several types: one by one, so that the wrong one can be named.
    listed = [
        numbers(column(table, i), what=f"column {name!r} of {argument}")
        for i, name in enumerate(column_names(table))
    ]
    return np.column_stack(listed)
