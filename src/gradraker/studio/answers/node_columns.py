"""Numbers of nodes that a page colours by: values, predictions, errors, uncertainties."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.values import NUMBERS
from gradraker.models.left_out import LeftOut
from gradraker.report.explorer import pack

if TYPE_CHECKING:
    from gradraker.live.learning.states import StateTable
    from gradraker.models import NodeModel

Floats = NDArray[np.float64]
Columns = dict[str, Floats]
COVERAGE = 0.9
# Fewer known nodes say nothing about errors.
_ENOUGH = 3


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


def compute_uncertainty(model: "NodeModel") -> Columns:
    """Return intervals and their widths, or how improbable the predicted class is to be right."""
    if model.value_kind is not NUMBERS:
        return {"uncertainty": 1.0 - model.predict_proba(model.nodes_).max(axis=1)}
    _, ends = model.predict(model.nodes_, return_interval=True, coverage=COVERAGE)
    lower, upper = np.asarray(ends, dtype=np.float64).T
    return {"lower": lower, "upper": upper, "uncertainty": upper - lower}


def compute_left_out(model: "NodeModel") -> Columns:
    """Return predictions of known nodes without their own value, and their errors."""
    n = len(model.nodes_)
    left_out, errors = np.full(n, np.nan), np.full(n, np.nan)
    if len(model.known_nodes_) < _ENOUGH:
        raise ValueError(f"errors left-out need at least {_ENOUGH} known values")
    found = model.predict_left_out()
    if isinstance(found, LeftOut):
        left_out[found.rows] = found.predictions
        errors[found.rows] = found.predictions - found.values
    else:
        left_out[found.rows] = found.predicted
        own = found.probabilities[np.arange(found.codes.size), found.codes]
        errors[found.rows] = 1.0 - own
    return {"left_out": left_out, "error": errors}


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
