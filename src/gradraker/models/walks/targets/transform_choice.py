"""Which transform of the values, by errors of left-out nodes in the units of the user.

Values that are nearly normal stay as they are, at no cost. Others have the kernel chosen in the
scale that makes them most normal; the other scales are then compared at that kernel, which takes
one more solve for all of them, and a scale that is clearly better has its own kernel chosen.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.choice import TriedTransform
from gradraker.models.walks.targets.target_view import (
    NoTransform,
    Transform,
    compute_constants,
    make_scale,
)

Vector = NDArray[np.float64]
# A scale replaces another if it is better by so many standard errors of the difference.
_ERRORS = 1.0
# Rank correlation of left-out predictions with values, times √(N − 1), that a kernel must show from
# so many known values on; of fewer, less is asked in proportion.
_CORRELATION, _ENOUGH = 2.5, 30


class LeftOutScaled(NamedTuple):
    """Known nodes predicted without their own values in several scales."""

    positions: NDArray[np.int64]  # [m], in the known nodes
    predictions: Vector  # [m, scales]


class _Judged(NamedTuple):
    """Losses of left-out nodes in each scale, that of the constant, and whether ranks agree."""

    losses: list[Vector]
    of_constant: Vector
    are_told: list[bool]


class Chosen(NamedTuple):
    """A transform, whether a constant is better than any kernel, and how the others fared."""

    transform: Transform
    is_constant: bool
    tried: tuple[TriedTransform, ...]


def choose_transform(
    candidates: Sequence[Transform],
    values: Vector,
    statistic: str,
    choose_kernel: Callable[[Transform], bool],
    leave_out: Callable[[Vector], LeftOutScaled],
    trust: Vector | None = None,
) -> Chosen:
    """Choose one of the candidates for known values (N,).

    Parameters
    ----------
    candidates : sequence of Transform
        The one to start from first.
    values : array of shape (N,)
        Known values.
    statistic : {"mean", "median"}
        What is predicted: squared or absolute errors are compared.
    choose_kernel : callable
        Chooses the kernel for values in a scale; returns whether there is one.
    leave_out : callable
        Predicts known nodes without their own values (N, scales), with that kernel.
    trust : array of shape (N,), optional
        Sample weights, by which errors count.
    """
    weights = np.ones(values.size) if trust is None else trust / trust.mean()

    def judge(transforms: Sequence[Transform]) -> _Judged:
        Y = np.column_stack([transform.apply(values) for transform in transforms])
        positions, predictions = leave_out(Y)
        losses, are_told = [], []
        for transform, scaled in zip(transforms, predictions.T, strict=True):
            residuals = transform.apply(values)[positions] - scaled
            scale = make_scale(transform, statistic, values, residuals)
            errors = _compute_losses(values[positions], scale.to_units(scaled), statistic)
            losses.append(weights[positions] * errors)
            are_told.append(_has_rank_correlation(values[positions], scaled))
        constants = compute_constants(values, statistic, trust)[positions]
        errors = _compute_losses(values[positions], constants, statistic)
        of_constant = weights[positions] * errors
        return _Judged(losses, of_constant, are_told)

    best = candidates[0]
    if not choose_kernel(best):
        best = candidates[-1]
        if len(candidates) == 1 or not choose_kernel(best):
            return Chosen(NoTransform(), True, ())
    judged = judge(candidates)
    tried = _list_tried(candidates, judged.losses, judged.of_constant, statistic)
    start = at = list(candidates).index(best)
    for i, losses in enumerate(judged.losses):
        if _is_clearly_better(judged.losses[at], losses):
            at = i
    winner = candidates[at]
    if at != start:
        if not choose_kernel(winner):
            return Chosen(NoTransform(), True, tried)
        judged, at = judge([winner]), 0
    is_worse = bool(judged.losses[at].mean() >= judged.of_constant.mean())
    return Chosen(winner, is_worse or not judged.are_told[at], tried)


def _has_rank_correlation(values: Vector, predictions: Vector) -> bool:
    """Return whether left-out predictions tell large values from small ones, beyond chance.

    Ranks do not care for outliers, by which squared errors of a few nodes would decide.
    """
    from scipy.stats import rankdata

    first, second = (rankdata(column) for column in (values, predictions))
    if first.std() == 0.0 or second.std() == 0.0:
        return False
    n = values.size
    shown = float(np.corrcoef(first, second)[0, 1]) * float(np.sqrt(n - 1))
    return shown > _CORRELATION * min(1.0, n / _ENOUGH)


def _compute_losses(values: Vector, predictions: Vector, statistic: str) -> Vector:
    errors = np.abs(values - predictions)
    return errors**2 if statistic == "mean" else errors


def _is_clearly_better(old: Vector, new: Vector) -> bool:
    gain = old - new
    return bool(gain.mean() > _ERRORS * gain.std() / np.sqrt(gain.size))


def _list_tried(
    candidates: Sequence[Transform], losses: Sequence[Vector], of_constant: Vector, statistic: str
) -> tuple[TriedTransform, ...]:
    unit = float(of_constant.mean()) or 1.0
    ratios = [float(loss.mean()) / unit for loss in losses]
    if statistic == "mean":
        ratios = [ratio**0.5 for ratio in ratios]
    listed = [TriedTransform(t.name, r) for t, r in zip(candidates, ratios, strict=True)]
    return tuple(sorted(listed, key=lambda one: one.error))
