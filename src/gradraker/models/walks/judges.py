"""How good predictions of left-out nodes are: the losses that choices compare."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
# A kernel replaces a simpler one if it is better by 1 + this / √nodes standard errors.
_NEEDED = 20.0
# Class offsets: 1 keeps scores as they are, 0 takes off all of a class's frequency.
OFFSETS = (0.0, 0.5, 1.0)
_SHARPNESS = np.logspace(0.0, 2.0, 13)
_SHARPER = 2.0  # than the likeliest probabilities, towards 0 and 1


Judge = Callable[[Matrix], tuple[Matrix, float]]


def judge_numbers(Y: Matrix, trust: Matrix | None = None) -> Judge:
    """Return predictions (m, K) → squared errors of each node, and 1.

    With sample weights (m,), errors count by them.
    """
    weights = np.ones(len(Y)) if trust is None else trust
    return lambda predictions: (np.asarray(weights * ((Y - predictions) ** 2).sum(axis=1)), 1.0)


def judge_classes(
    Y: Matrix, frequencies: Matrix, offsets: Sequence[float] = OFFSETS, trust: Matrix | None = None
) -> Judge:
    """Return scores (m, K) → losses of each node, and the best offset.

    A node's loss is 1 if another class has the highest score, plus 1 − the probability of its own
    class: the probability alone prefers kernels that are sure of easy nodes, the error alone is
    too coarse to compare kernels on few nodes. With sample weights (m,), losses count by them.
    """
    codes = Y.argmax(axis=1)
    rows = np.arange(codes.size)

    def judge(predictions: Matrix) -> tuple[Matrix, float]:
        by_offset = [judge_at(predictions - (1.0 - offset) * frequencies) for offset in offsets]
        best = min(by_offset, key=lambda losses: float(losses.mean()))
        # The first offset that is not clearly worse: few nodes cannot tell them apart.
        for offset, losses in zip(offsets, by_offset, strict=True):
            if not is_better(losses, best, errors=0.0):
                return losses, offset
        raise AssertionError("the best is not better than itself")

    def judge_at(scores: Matrix) -> Matrix:
        scores = scores - scores.max(axis=1, keepdims=True)
        _, sharpness = find_sharpness(scores, codes)
        sharp = np.exp(_SHARPER * sharpness * scores)
        own = sharp[rows, codes] / sharp.sum(axis=1)
        losses = 1.0 - own + (scores[rows, codes] < 0.0)
        return np.asarray(losses if trust is None else trust * losses)

    return judge


def find_sharpness(scores: Matrix, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the smallest log-loss of softmax(sharpness · scores), and that sharpness."""
    rows = np.arange(codes.size)
    tried = []
    for sharpness in _SHARPNESS:
        sharp = sharpness * scores
        sharp -= sharp.max(axis=1, keepdims=True)
        loss = np.log(np.exp(sharp).sum(axis=1)) - sharp[rows, codes]
        tried.append((float(loss.mean()), float(sharpness)))
    return min(tried)


def is_better(
    old: Matrix, new: Matrix, *, errors: float = 1.0, needed: float | None = None
) -> bool:
    """Whether the losses of nodes are clearly lower: the fewer nodes, the clearer they must be.

    With ``needed``, by so many standard errors of the difference, whatever the number of nodes.
    """
    gain = old - new
    if needed is None:
        needed = errors + _NEEDED / np.sqrt(gain.size)
    return bool(gain.mean() > needed * gain.std() / np.sqrt(gain.size))
