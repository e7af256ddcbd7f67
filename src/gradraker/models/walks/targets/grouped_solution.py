"""Targets that are known at different nodes, solved together where their known nodes agree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.attributes.coefficients import AttributeCoefficients
from gradraker.models.walks.intervals import ErrorSizes
from gradraker.models.walks.solution import Solution

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


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
