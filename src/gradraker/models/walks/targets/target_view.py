"""One target of a fitted model: predictions, intervals and errors in the units of the user."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation, Units
from gradraker.graph.names import Names
from gradraker.models.left_out import LeftOut, measure_left_out_error
from gradraker.models.walks.intervals import ErrorSizes, compute_quantile, fit_error_sizes
from gradraker.models.walks.solution import LeftOutNodes, Solution, find_known_positions
from gradraker.models.walks.targets.columns import Column
from gradraker.models.walks.targets.scales import Scale, compute_constants, make_scale
from gradraker.models.walks.targets.transforms import NoTransform

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TargetView:
    """A target, the solution that predicts it, and its column there."""

    column: Column
    solution: Solution
    index: int
    values: Matrix  # [N]: known values, as they were given
    statistic: str
    is_constant: bool
    trust: Matrix | None = None  # [N]: sample weights

    # -- predictions -----------------------------------------------------------

    def to_units(self, solved: Matrix) -> Matrix:
        """Return one column of predictions (n,) in the units of the user."""
        return self.scale.to_units(self.column.to_scale(solved))

    @cached_property
    def scaled_values(self) -> Matrix:
        """Known values in the scale."""
        return self.column.transform.apply(self.values)

    @cached_property
    def left_out(self) -> LeftOutNodes:
        """Left-out nodes in the scale, (m, 1); of a constant, the constant of the others."""
        found = self.solution.predict_left_out()
        predictions = self.column.to_scale(found.predictions[:, self.index])
        if self.is_constant:
            constants = compute_constants(self.values, self.statistic, self.trust)
            predictions = constants[found.positions]
        spreads = self.column.unit * found.spreads
        return LeftOutNodes(
            found.positions, predictions[:, np.newaxis], spreads, found.one_at_a_time
        )

    @cached_property
    def errors(self) -> Matrix:
        """Errors of left-out nodes in the scale, (m,)."""
        return self.scaled_values[self.left_out.positions] - self.left_out.predictions[:, 0]

    @cached_property
    def scale(self) -> Scale:
        """The way back to the units of the user."""
        transform = self.column.transform
        needs_errors = self.statistic == "median" or not isinstance(transform, NoTransform)
        return make_scale(
            transform,
            self.statistic,
            self.values,
            self.errors if needs_errors and not self.is_constant else np.empty(0),
            is_constant=self.is_constant,
            trust=self.trust,
        )

    @cached_property
    def _error_sizes(self) -> tuple[ErrorSizes | None, Matrix]:
        """How large errors are expected to be, and those of left-out nodes in such sizes.

        None for a constant: the constant of the others tells how far off a left-out value is.
        """
        fits = self.solution.error_sizes
        if not self.is_constant and self.index in fits:
            return fits[self.index]
        errors, spreads = np.abs(self.errors), self.left_out.spreads
        if self.is_constant or not np.isfinite(errors).all():
            return None, errors / spreads
        fits[self.index] = fit_error_sizes(errors, spreads, self.left_out.predictions[:, 0])
        return fits[self.index]

    def make_intervals(self, solved: Matrix, rows: Rows, at: Any, coverage: float) -> Matrix:
        """Return lower and upper ends (n, 2) in the units of the user."""
        predictions = self.to_units(solved)
        scaled = predictions if self.is_constant else self.column.to_scale(solved)
        sizes, ratios = self._error_sizes
        spreads = self.column.unit * self.solution.estimate_spreads(rows, at)
        half = compute_quantile(ratios, coverage) * (
            spreads if sizes is None else sizes.compute(spreads, scaled)
        )
        ends = self.scale.to_ends(scaled - half, scaled + half)
        # A mean may be beyond most of the values that it is the mean of.
        ends[:, 0] = np.minimum(ends[:, 0], predictions)
        ends[:, 1] = np.maximum(ends[:, 1], predictions)
        return ends

    def leave_out(self) -> LeftOut:
        """Return known nodes predicted without their own values, in the units of the user."""
        positions = self.left_out.positions
        predictions = self.left_out.predictions[:, 0]
        if not self.is_constant:
            predictions = self.scale.to_units(predictions)
        means = compute_constants(self.values, "mean", self.trust)[positions]
        values = self.values[positions]
        return LeftOut(
            rows=self.solution.known[positions],
            values=values,
            predictions=predictions,
            mean=float(self.values.mean()),
            error=measure_left_out_error(self.values, values, predictions, means),
            one_at_a_time=self.left_out.one_at_a_time,
        )

    # -- explanations ----------------------------------------------------------

    def explain(self, rows: Rows, names: Names) -> LinearExplanation:
        """Explain predictions of some nodes; ``names`` are those of all nodes."""
        weights = self.solution.compute_weights(rows)
        solved = self.solution.predict(rows)[:, self.index]
        parts = self.solution.predict_parts(rows)
        found = self._make_explanation(rows, names, weights, self.column.to_scale(solved))
        adds = self.column.unit * parts.values[:, :, self.index]
        return replace(found, part_names=parts.names, parts=adds)

    def explain_left_out(self, rows: Rows, names: Names) -> LinearExplanation:
        """Explain what is predicted for known nodes without their own values."""
        own = find_known_positions(self.solution.known, rows, names)
        weights = self.solution.compute_left_out_weights(own)
        return self._make_explanation(rows, names, weights, weights @ self.scaled_values)

    def _make_explanation(
        self, rows: Rows, names: Names, weights: Matrix, scaled: Matrix
    ) -> LinearExplanation:
        predictions, units = self.scale.to_units(scaled), None
        is_plain = isinstance(self.column.transform, NoTransform)
        if not is_plain or not np.array_equal(predictions, scaled):
            units = Units(self.column.transform.formula, self.values, predictions)
        return LinearExplanation(
            weights=weights,
            values=self.scaled_values,
            prediction=scaled,
            node_names=names[rows].tolist(),
            known_names=names[self.solution.known].tolist(),
            units=units,
        )
