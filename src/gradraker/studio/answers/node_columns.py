"""Columns by which a page colours nodes: values, predictions, errors, uncertainties."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.report.explorer import pack

if TYPE_CHECKING:
    from gradraker.live.learning.states import StateTable

Floats = NDArray[np.float64]
Columns = dict[str, Floats]
COVERAGE = 0.9


def list_columns(table: "StateTable") -> Columns:
    """Return the columns that need no model; classes are codes, -1 for none."""
    n = len(table.names)
    columns = {"known": table.is_known.astype(np.float64)}
    if table.classes is not None:
        position = {label: float(i) for i, label in enumerate(table.classes)}
        columns["value"] = np.array([position.get(value, -1.0) for value in table.values])
        if table.predictions is not None and table.probabilities is not None:
            columns["prediction"] = np.array([position[p] for p in table.predictions.tolist()])
            columns["probability"] = table.probabilities.max(axis=1)
        return columns
    values = [np.nan if value is None else value for value in table.values]
    columns["value"] = np.array(values, dtype=np.float64)
    predictions = np.full(n, np.nan) if table.predictions is None else table.predictions
    columns["prediction"] = np.asarray(predictions, dtype=np.float64)
    return columns


def pack_columns(columns: Columns, rows: NDArray[np.int64]) -> dict[str, str]:
    """Return columns of some nodes, packed as base64."""
    return {name: pack(column[rows], "<f8") for name, column in columns.items()}


def average_columns(columns: Columns, members: NDArray[np.int64], n: int) -> Columns:
    """Return the mean of each column over communities; for classes, the most common one."""
    found: Columns = {}
    is_class = "probability" in columns
    for name, column in columns.items():
        is_given = np.isfinite(column)
        if is_class and name in ("value", "prediction", "left_out"):
            found[name] = _find_most_common(column, is_given & (column >= 0), members, n)
            continue
        counts = np.bincount(members[is_given], minlength=n)
        sums = np.bincount(members[is_given], weights=column[is_given], minlength=n)
        empty = np.full(counts.size, np.nan)
        found[name] = np.divide(sums, counts, out=empty, where=counts > 0)[:n]
    return found


def _find_most_common(
    column: Floats, is_given: NDArray[np.bool_], members: NDArray[np.int64], n: int
) -> Floats:
    codes = column[is_given].astype(np.int64)
    counts = np.zeros((int(members.max()) + 1, int(codes.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (members[is_given], codes), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1.0)[:n]
