"""Series of values: arrays and tables with one row per time and one column per node."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._validation import to_numbers
from gradraker.exceptions import format_names
from gradraker.graph.adapters.tables import to_table
from gradraker.graph.names import Names, check_names, check_same_type, find_positions, to_plain_name


def get_series_names(series: Any) -> Names | None:
    """Return the nodes that name the columns of a table; None for an array."""
    table = to_table(series)
    return None if table is None else check_names(table.columns, argument="columns of series")


def align_series(
    series: Any, nodes: Names, *, argument: str, n_times: int | None = None
) -> NDArray[np.float64]:
    """Return values of shape (n_times, n), with one column for each node, in order.

    Columns of an array are in the order of the nodes already; those of a table are found by
    name. A value that is missing or infinite is refused, and its node and time are named.
    """
    names = get_series_names(series)
    values = _to_values(series, argument)
    if values.ndim != 2 or (names is None and values.shape[1] != len(nodes)):
        turned = values.ndim == 2 and values.shape[0] == len(nodes)
        raise ValueError(
            f"{argument} has shape {values.shape}, but must have one row per time and one column "
            f"for each of {len(nodes)} nodes" + (": pass its transpose" if turned else "")
        )
    if names is not None:
        at = find_positions(nodes, names)
        if (at < 0).any():
            check_same_type(nodes[at < 0], names, argument="graph")
            missing = format_names(nodes[at < 0].tolist())
            raise ValueError(f"{argument} has no column for nodes {missing}")
        values = values[:, at]
    if not len(values) or (n_times is not None and len(values) != n_times):
        needed = "at least 1" if n_times is None else f"{n_times} as the series"
        raise ValueError(f"{argument} has {len(values)} times, but must have {needed}")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        time, node = wrong[0]
        raise ValueError(
            f"{argument} is {values[time, node]} for node {to_plain_name(nodes[node])!r} at time "
            f"{time}, but every node needs a finite value at every time"
        )
    return values


def _to_values(series: Any, argument: str) -> NDArray[np.float64]:
    """Return the numbers of an array or a table as a new array."""
    if sp.issparse(series):
        raise TypeError(f"{argument} must be a dense array or a table, got a sparse matrix")
    table = to_table(series)
    if table is not None:
        listed = [
            to_numbers(column, name=f"column {column.name!r} of {argument}")
            for column in table.iter_columns()
        ]
        return np.column_stack(listed)
    array = np.asarray(series)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{argument} must hold real numbers, got dtype {array.dtype}")
    return array.astype(np.float64)
