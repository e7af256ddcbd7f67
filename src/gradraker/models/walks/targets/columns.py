"""One target of a model: its scale, and its place among the columns that are solved together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.attributes.coefficients import AttributeCoefficients
from gradraker.models.walks.intervals import ErrorSizes
from gradraker.models.walks.solution import Solution
from gradraker.models.walks.targets.transforms import Transform, dump_transform, restore_transform

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
_LARGEST = 1e150


@dataclass(frozen=True)
class Column:
    """A target as it is solved: (transform(value) − centre) / unit.

    A single target has centre 0 and unit 1; several are made comparable by theirs. ``is_constant``
    where the graph tells nothing about this one of several targets.
    """

    transform: Transform
    centre: float = 0.0
    unit: float = 1.0
    is_constant: bool = False

    def encode(self, values: Matrix) -> Matrix:
        """Return known values (N,) as they are solved; NaN stays."""
        found = np.array(values, dtype=np.float64)
        known = ~np.isnan(found)
        found[known] = (self.transform.apply(found[known]) - self.centre) / self.unit
        return found

    def to_scale(self, solved: Matrix) -> Matrix:
        """Return what was solved in the scale of the transform."""
        return np.asarray(self.centre + self.unit * solved)


def fit_column(transform: Transform, values: Matrix) -> Column:
    """Make one of several targets comparable with the others."""
    scaled = transform.apply(values[~np.isnan(values)])
    return Column(transform, float(scaled.mean()), float(scaled.std()) or 1.0)


def dump_columns(columns: Sequence[Column] | None) -> Any:
    """Return columns as JSON can hold them."""
    if columns is None:
        return None
    return [vars(one) | {"transform": dump_transform(one.transform)} for one in columns]


def restore_columns(items: Any, n_targets: int) -> tuple[Column, ...] | None:
    """Make the columns that a file describes, with every number checked."""
    if items is None:
        return None
    if len(items) != n_targets:
        raise ValueError(f"the file describes {len(items)} targets, but holds {n_targets}")
    columns = []
    for item in items:
        transform = restore_transform(item["transform"])
        centre, unit = float(item["centre"]), float(item["unit"])
        if transform is None or not abs(centre) < _LARGEST or not 0.0 < unit < _LARGEST:
            raise ValueError("the scale of a target is not consistent")
        columns.append(Column(transform, centre, unit, bool(item["is_constant"])))
    return tuple(columns)


class GroupedSolution:
    """Targets that are known at different nodes; those with the same known nodes go together.

    ``Y`` (N, K) is NaN where a target of a known node is unknown.
    """

    def __init__(self, solve: Callable[[Rows, Matrix], Solution], known: Rows, Y: Matrix) -> None:
        self.known, self.Y = known, Y
        self.error_sizes: dict[int, tuple[ErrorSizes, Matrix]] = {}  # each group has its own
        masks: dict[bytes, list[int]] = {}
        for j, column in enumerate((~np.isnan(Y)).T):
            masks.setdefault(column.tobytes(), []).append(j)
        self._groups = []
        for columns in masks.values():
            positions = np.flatnonzero(~np.isnan(Y[:, columns[0]]))
            solution = solve(known[positions], Y[positions][:, columns])
            self._groups.append((columns, positions, solution))

    def select(self, column: int) -> tuple[Solution, int, Rows]:
        """Return the solution of a target, its column there, and positions of its known nodes."""
        for columns, positions, solution in self._groups:
            if column in columns:
                return solution, columns.index(column), positions
        raise IndexError(column)

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        """Not for all targets together, or for other values: :meth:`select` one, or solve anew."""
        raise NotImplementedError

    set_values = grow = estimate_spreads = predict_parts = predict_left_out = _refuse
    compute_weights = compute_left_out_weights = _refuse

    def predict(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        found = np.empty((rows.size, self.Y.shape[1]))
        for columns, _, solution in self._groups:
            found[:, columns] = solution.predict(rows, at)
        return found

    def compute_coefficients(self) -> AttributeCoefficients:
        """Coefficients of all targets, each by its own known nodes."""
        parts = [(columns, one.compute_coefficients()) for columns, _, one in self._groups]
        first = parts[0][1]
        values = np.empty((*first.values.shape[:2], self.Y.shape[1]))
        for columns, found in parts:
            values[:, :, columns] = found.values
        return AttributeCoefficients(first.names, first.blocks, values)
