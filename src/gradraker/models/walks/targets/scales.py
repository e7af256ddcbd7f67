"""The way back from the scale in which weights add up to the units of the user."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.targets.transforms import NoTransform, Transform

Vector = NDArray[np.float64]
# Quantiles of left-out residuals that a mean is taken over, and predictions handled at a time.
_N_QUANTILES, _CHUNK = 64, 4096


@dataclass(frozen=True, eq=False)
class Scale:
    """A transform, the statistic that is predicted, and errors of left-out nodes."""

    transform: Transform  # from the units of the user to the scale in which weights add up
    statistic: str  # of the values that a node may have: "mean" or "median"
    residuals: Vector  # [q]: quantiles of left-out errors, in the scale
    low: float  # ends of the known values in the scale
    high: float
    floor: float  # 0 if no known value is negative, else −∞: predictions are not below it
    constant: float | None = None  # the prediction for all nodes, where no kernel is better

    def to_units(self, scaled: Vector) -> Vector:
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

    def _undo(self, scaled: Vector) -> Vector:
        if isinstance(self.transform, NoTransform):
            return scaled
        return self.transform.undo(np.clip(scaled, self.low, self.high))

    def _average(self, scaled: Vector) -> Vector:
        """Average over the errors that left-out nodes had (smearing)."""
        found = np.empty(scaled.shape)
        for start in range(0, scaled.size, _CHUNK):
            some = scaled[start : start + _CHUNK]
            spread = self._undo((some[:, np.newaxis] + self.residuals).ravel())
            found[start : start + _CHUNK] = spread.reshape(some.size, -1).mean(axis=1)
        return found

    def to_ends(self, lower: Vector, upper: Vector) -> Vector:
        """Return intervals (n, 2) in the units of the user."""
        ends = np.column_stack([_undo_end(self.transform, end) for end in (lower, upper)])
        ends.sort(axis=1)  # a given function may fall
        return np.where(np.isinf(ends), ends, np.maximum(ends, self.floor))


def _undo_end(transform: Transform, ends: Vector) -> Vector:
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
    values: Vector,
    residuals: Vector,
    *,
    is_constant: bool = False,
    trust: Vector | None = None,
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


def compute_constants(values: Vector, statistic: str, trust: Vector | None = None) -> Vector:
    """Return the mean or median of all other values, for each value, (N,).

    Means are by the sample weights ``trust`` (N,), if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.targets.scales import compute_constants
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
