"""Prediction intervals from errors of left-out nodes, scaled by how large each was expected.

A solution says how little it knows about a node, its spread s. Errors also depend on the level of
the prediction: counts are further off where they are large. With z the standardised prediction,

    size ∝ s^a · exp(b z + c (z² − 1)),

and (a, b, c) minimise N log mean(|error| / size) over left-out nodes, the likelihood of errors with
Laplace's distribution, plus a penalty that keeps them near (1, 0, 0).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
# Parameters that the penalty pulls to, and how much it weighs.
_START = np.array([1.0, 0.0, 0.0])
_PENALTY = 20.0
# Predictions further from their mean count as if they were here, in standard deviations.
_FARTHEST = 2.5
# The least standard deviation of predictions, in root mean square errors: a left-out mean tells by
# itself whether a value is far from the mean.
_LEAST = 0.25
_FOLDS = 5
# Errors that three parameters are fitted to, at most: a service asks for intervals all the time.
_MOST_FITTED = 1000
_SMALLEST = 1e-100
_MOST_STEPS = 20


def compute_quantile(scores: NDArray[np.float64], coverage: float) -> float:
    """The ⌈coverage (N + 1)⌉-th smallest of N scores, infinite where N is too small for it.

    Scores are absolute errors of left-out nodes, each over the size that was expected of it. A node
    that is drawn like the known ones has a smaller score with probability ``coverage``, if leaving
    one out changes the scores of others little.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.intervals import compute_quantile
    >>> scores = np.array([1.0, 2.0, 3.0, 4.0])
    >>> compute_quantile(scores, 0.6), compute_quantile(scores, 0.9)
    (3.0, inf)
    """
    n = scores.size
    rank = math.ceil(coverage * (n + 1) - 1e-9)  # (1 − 0.9)·10 is 0.9999… in floating point
    if rank > n or not np.isfinite(scores).all():
        return math.inf
    return float(np.partition(scores, rank - 1)[rank - 1])


class ErrorSizes(NamedTuple):
    """Sizes of errors as a function of spreads and predictions."""

    parameters: Vector  # [3]: a, b, c
    log_spread: float  # mean of log s
    centre: float  # of predictions
    unit: float

    def describe(self, spreads: Vector, predictions: Vector) -> Matrix:
        """Return (log s − mean, z, z² − 1), (n, 3)."""
        z = np.clip((predictions - self.centre) / self.unit, -_FARTHEST, _FARTHEST)
        logs = np.log(np.maximum(spreads, np.finfo(np.float64).tiny))
        return np.column_stack([logs - self.log_spread, z, z * z - 1.0])

    def compute(self, spreads: Vector, predictions: Vector) -> Vector:
        """Return sizes (n,), up to a common factor."""
        return np.asarray(np.exp(self.describe(spreads, predictions) @ self.parameters))


def fit_error_sizes(
    errors: Vector, spreads: Vector, predictions: Vector
) -> tuple[ErrorSizes, Vector]:
    """Fit sizes to absolute errors of left-out nodes; return them, and errors over sizes.

    Each fifth of the errors is divided by sizes that were fitted to the others, so the ratios are
    those of new nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.intervals import fit_error_sizes
    >>> predictions = np.linspace(0.0, 10.0, 400)
    >>> errors = np.random.default_rng(0).exponential(2.0 + predictions)
    >>> sizes, ratios = fit_error_sizes(errors, np.ones(400), predictions)
    >>> small, large = sizes.compute(np.ones(2), np.array([1.0, 7.0]))
    >>> round(float(large / small), 2)  # 3 in truth
    2.73
    """
    unit = max(float(predictions.std()), _LEAST * float(np.sqrt(np.mean(errors**2))))
    plain = ErrorSizes(
        _START, float(np.log(spreads).mean()), float(predictions.mean()), unit or 1.0
    )
    if not errors.any():
        return plain, errors
    F, relative = plain.describe(spreads, predictions), errors / errors.max()
    # By rank, so that the folds do not depend on the order in which values came.
    ranks = np.empty(errors.size, dtype=np.int64)
    ranks[np.argsort(predictions, kind="stable")] = np.arange(errors.size)
    folds, fitted = ranks % _FOLDS, _choose_fitted(ranks)
    parameters = _fit_parameters(F[fitted], relative[fitted], _START)
    sizes = np.empty_like(errors)
    for fold in range(min(_FOLDS, errors.size)):
        own, others = folds == fold, fitted & (folds != fold)
        found = _fit_parameters(F[others], relative[others], parameters)
        level = _measure_level(F[others], relative[others], found)
        sizes[own] = level * np.exp(F[own] @ found)
    ratios = errors * (_measure_level(F[fitted], relative[fitted], parameters) / sizes)
    return plain._replace(parameters=parameters), ratios


def _choose_fitted(ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Choose the errors that parameters are fitted to: some of all ranks, equally many per fold."""
    if ranks.size <= _MOST_FITTED:
        return np.ones(ranks.size, dtype=bool)
    last = (ranks.size - 1) // _FOLDS
    return np.isin(ranks // _FOLDS, np.linspace(0, last, _MOST_FITTED // _FOLDS).astype(np.int64))


def _measure_level(F: Matrix, errors: Vector, parameters: Vector) -> float:
    return max(float(np.mean(errors * np.exp(-F @ parameters))), _SMALLEST)


def _measure_loss(F: Matrix, errors: Vector, parameters: Vector) -> float:
    gap = parameters - _START
    penalty = _PENALTY * float(gap @ gap)
    return errors.size * math.log(_measure_level(F, errors, parameters)) + penalty


def _fit_parameters(F: Matrix, errors: Vector, start: Vector) -> Vector:
    """Newton's method: the loss is convex, and the penalty makes it strictly so."""
    F = F - F.mean(axis=0)  # sizes are known up to a factor
    parameters, n = start, errors.size
    loss = _measure_loss(F, errors, parameters)
    for _ in range(_MOST_STEPS):
        weights = errors * np.exp(-F @ parameters)
        weights /= max(float(weights.sum()), _SMALLEST)
        mean = weights @ F
        slope = -n * mean + 2.0 * _PENALTY * (parameters - _START)
        bend = n * ((F.T * weights) @ F - np.outer(mean, mean)) + 2.0 * _PENALTY * np.eye(3)
        step = np.linalg.solve(bend, -slope)
        while (better := _measure_loss(F, errors, parameters + step)) > loss and step.any():
            step = np.where(np.abs(step) > 1e-12, 0.5 * step, 0.0)
        parameters, gain, loss = parameters + step, loss - better, better
        if gain <= 1e-10 * n:
            break
    return parameters
