"""One target of a model: how it is solved, and what a solution says in the units of the user.

A target goes through two steps. Its column has the place and the unit that make several targets
comparable; its scale is the way back from where weights add up to the units of the user.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation, Units
from gradraker.graph.names import Names
from gradraker.metrics import measure_left_out_error
from gradraker.models.left_out import LeftOut
from gradraker.models.walks.intervals import ErrorSizes, compute_quantile, fit_error_sizes
from gradraker.models.walks.solution import LeftOutNodes, Solution

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Distance from normality, 1 − correlation, below which values stay as they are: a constant, and
# over the number of values, of which few are never quite normal.
_ROUGH, _ROUGH_OF_FEW = 0.04, 1.3
# Known values below which nothing but the values themselves is tried.
_FEWEST = 5
# Quantiles of left-out residuals that a mean is taken over, and predictions handled at a time.
_N_QUANTILES, _CHUNK = 64, 4096


class Transform(Protocol):
    """An increasing function of values and its inverse."""

    @property
    def name(self) -> str:
        """How parameters and reports call it."""

    @property
    def formula(self) -> str:
        """The function, written out."""

    def can_take(self, values: Matrix) -> bool:
        """Return whether all values are in the domain."""

    def apply(self, values: Matrix) -> Matrix:
        """Return values (n,) in the scale in which weights add up."""

    def undo(self, scaled: Matrix) -> Matrix:
        """Return values in the units of the user."""


@dataclass(frozen=True)
class NoTransform:
    """Values as they are."""

    name: ClassVar[str] = "none"
    formula: ClassVar[str] = "value"

    def can_take(self, values: Matrix) -> bool:
        """Return True."""
        return True

    def apply(self, values: Matrix) -> Matrix:
        """Return the values."""
        return values

    def undo(self, scaled: Matrix) -> Matrix:
        """Return the values."""
        return scaled


def measure_normality(values: Matrix) -> float:
    """Correlation of sorted values with normal quantiles, in [0, 1]; 1 is normal.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.targets.target_view import measure_normality
    >>> even = np.linspace(-2.0, 2.0, 50)
    >>> bool(measure_normality(even) > 0.95 > measure_normality(np.exp(2.0 * even)))
    True
    """
    from scipy.special import ndtri

    n = values.size
    spread = float(values.std())
    if n < 3 or not spread > 0.0 or not math.isfinite(spread):
        return 0.0
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    sorted_values = np.sort(values - values.mean()) / spread
    return float(np.mean(sorted_values * quantiles) / quantiles.std())


def is_rough(values: Matrix) -> bool:
    """Return whether values are so far from normal that squared errors may mislead."""
    n = values.size
    return n >= _FEWEST and measure_normality(values) < 1.0 - _ROUGH - _ROUGH_OF_FEW / n


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


# -- the way back to the units of the user ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scale:
    """A transform, the statistic that is predicted, and errors of left-out nodes."""

    transform: Transform  # from the units of the user to the scale in which weights add up
    statistic: str  # of the values that a node may have: "mean" or "median"
    residuals: Matrix  # [q]: quantiles of left-out errors, in the scale
    low: float  # ends of the known values in the scale
    high: float
    floor: float  # 0 if no known value is negative, else −∞: predictions are not below it
    constant: float | None = None  # the prediction for all nodes, where no kernel is better

    def to_units(self, scaled: Matrix) -> Matrix:
        """Return the mean or median value of nodes whose weights add up to ``scaled`` (n,)."""
        if self.constant is not None:
            return np.full(scaled.shape, self.constant)
        if self.statistic == "median":
            shift = float(np.median(self.residuals)) if self.residuals.size else 0.0
            found = self._undo(scaled + shift)
        elif isinstance(self.transform, NoTransform) or not self.residuals.size:
            found = self._undo(scaled)
        else:
            found = self._average(scaled)
        return np.maximum(found, self.floor)

    def _undo(self, scaled: Matrix) -> Matrix:
        if isinstance(self.transform, NoTransform):
            return scaled
        return self.transform.undo(np.clip(scaled, self.low, self.high))

    def _average(self, scaled: Matrix) -> Matrix:
        """Average over the errors that left-out nodes had (smearing)."""
        found = np.empty(scaled.shape)
        for start in range(0, scaled.size, _CHUNK):
            some = scaled[start : start + _CHUNK]
            spread = self._undo((some[:, np.newaxis] + self.residuals).ravel())
            found[start : start + _CHUNK] = spread.reshape(some.size, -1).mean(axis=1)
        return found

    def to_ends(self, lower: Matrix, upper: Matrix) -> Matrix:
        """Return intervals (n, 2) in the units of the user."""
        ends = np.column_stack([_undo_end(self.transform, end) for end in (lower, upper)])
        ends.sort(axis=1)  # a given function may fall
        return np.where(np.isinf(ends), ends, np.maximum(ends, self.floor))


def _undo_end(transform: Transform, ends: Matrix) -> Matrix:
    """Undo a transform of numbers that may be infinite or beyond its range."""
    if isinstance(transform, NoTransform):
        return ends
    found = np.array(ends)
    finite = np.isfinite(ends)
    with np.errstate(all="ignore"):
        found[finite] = transform.undo(ends[finite])
    return np.where(np.isnan(found), np.where(ends > 0.0, np.inf, -np.inf), found)


def make_scale(
    transform: Transform,
    statistic: str,
    values: Matrix,
    residuals: Matrix,
    *,
    is_constant: bool = False,
    trust: Matrix | None = None,
) -> Scale:
    """Make the scale of known values (N,), with errors of left-out nodes in the scale.

    ``trust`` are sample weights, by which a constant mean is taken.
    """
    scaled = transform.apply(values)
    constant = None
    if is_constant:
        mean = float(np.average(values, weights=trust))
        constant = mean if statistic == "mean" else float(np.median(values))
    found = residuals[np.isfinite(residuals)]
    if found.size > _N_QUANTILES:
        found = np.quantile(found, (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES)
    return Scale(
        transform,
        statistic,
        found,
        float(scaled.min()),
        float(scaled.max()),
        0.0 if bool((values >= 0.0).all()) else -np.inf,
        constant,
    )


def compute_constants(values: Matrix, statistic: str, trust: Matrix | None = None) -> Matrix:
    """Return the mean or median of all other values, for each value, (N,).

    Means are by the sample weights ``trust`` (N,), if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.targets.target_view import compute_constants
    >>> compute_constants(np.array([1.0, 2.0, 6.0]), "median")
    array([4. , 3.5, 1.5])
    """
    n = values.size
    if n < 2:
        return np.full(n, np.nan)
    if statistic == "mean":
        weights = np.ones(n) if trust is None else trust
        weighed = weights * values
        return np.asarray((weighed.sum() - weighed) / (weights.sum() - weights))
    rank = np.empty(n, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    rank[order] = np.arange(n)
    ordered = values[order]
    low, high = (n - 2) // 2, (n - 1) // 2  # of the others, in their own order
    return np.asarray(0.5 * (ordered[low + (rank <= low)] + ordered[high + (rank <= high)]))


# -- one target of a fitted model ---------------------------------------------------------------


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


def find_known_positions(known: Rows, rows: Rows, names: NDArray[Any]) -> Rows:
    """Return the positions of rows in the known nodes; ``names`` are those of all nodes."""
    positions = {row: i for i, row in enumerate(known.tolist())}
    for row in rows.tolist():
        if row not in positions:
            raise ValueError(
                f"nodes holds {names[row]!r}, whose value is unknown: only known nodes can be "
                "left out"
            )
    return np.array([positions[row] for row in rows.tolist()], dtype=np.int64)
