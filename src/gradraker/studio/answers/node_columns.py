"""Numbers of nodes that a page colours by: values, predictions, errors, uncertainties."""

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
    """Return what is there without asking the model; classes are numbers, -1 for none."""
    n = len(table.names)
    nothing = np.full(n, np.nan)
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
    has = table.predictions is not None
    columns["prediction"] = np.asarray(table.predictions, dtype=np.float64) if has else nothing
    return columns


def pack_columns(columns: Columns, rows: NDArray[np.int64]) -> dict[str, str]:
    """Return columns of some nodes, as text."""
    return {name: pack(column[rows], "<f8") for name, column in columns.items()}


def average_columns(columns: Columns, members: NDArray[np.int64], n: int) -> Columns:
    """Return the mean of each column over communities; of classes, the most common one."""
    found: Columns = {}
    is_class = "probability" in columns
    for name, column in columns.items():
        has = np.isfinite(column)
        if is_class and name in ("value", "prediction", "left_out"):
            found[name] = _find_most_common(column, has & (column >= 0), members, n)
            continue
        counts = np.bincount(members[has], minlength=n)
        sums = np.bincount(members[has], weights=column[has], minlength=n)
        nothing = np.full(counts.size, np.nan)
        found[name] = np.divide(sums, counts, out=nothing, where=counts > 0)[:n]
    return found


def _find_most_common(
    column: Floats, has: NDArray[np.bool_], members: NDArray[np.int64], n: int
) -> Floats:
    codes = column[has].astype(np.int64)
    counts = np.zeros((int(members.max()) + 1, int(codes.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (members[has], codes), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1.0)[:n]
