"""Probabilities of classes from scores, with two numbers fitted on left-out scores.

Scores are ridge regressions of one-hot labels: they sum to 1, but may leave [0, 1] and are too
timid, since ridge shrinks. Probabilities are p ∝ max(score, floor)^power, where floor and power
maximise the likelihood of the known labels given scores that have not seen them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

_BINS = 10


class Calibration(NamedTuple):
    """How scores become probabilities."""

    floor: float = math.exp(-4.0)
    power: float = 1.0

    def compute_probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """max(score, floor)^power, scaled to sum 1 in each row.

        Examples
        --------
        >>> import numpy as np
        >>> from gradraker.models.walks.calibration import Calibration
        >>> calibration = Calibration(floor=0.1, power=2.0)
        >>> calibration.compute_probabilities(np.array([[0.5, 0.5], [0.3, -0.2]]))
        array([[0.5, 0.5],
               [0.9, 0.1]])
        """
        return np.exp(self.log_probabilities(scores))

    def log_probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithms of the probabilities."""
        logs = self.power * np.log(np.maximum(scores, self.floor))
        logs -= logs.max(axis=1, keepdims=True)
        return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def fit_calibration(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> Calibration:
    """The calibration under which labels ``codes`` are most likely, given scores (N, K)."""
    rows = np.arange(codes.size)
    first = Calibration()
    if scores.shape[1] < 2 or codes.size < 2:
        return first

    # Scores sum to 1, so the largest is 1/K at least: a lower floor keeps it the largest.
    highest = math.log(0.9 / scores.shape[1])

    def make_calibration(x: NDArray[np.float64]) -> Calibration:
        floor, power = np.clip(x[0], -9.2, highest), np.clip(x[1], -2.3, 2.3)
        return Calibration(math.exp(floor), math.exp(power))

    def compute_loss(x: NDArray[np.float64]) -> float:
        return -float(np.mean(make_calibration(x).log_probabilities(scores)[rows, codes]))

    start = np.array([math.log(first.floor), math.log(first.power)])
    found = minimize(
        compute_loss, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-9}
    )
    return make_calibration(found.x)


def calibration_error(p: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """Expected calibration error of the predicted class, over ten bins of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.calibration import calibration_error
    >>> p = np.array([[0.75, 0.25]] * 4)
    >>> calibration_error(p, np.array([0, 0, 0, 1])), calibration_error(p, np.array([0, 0, 0, 0]))
    (0.0, 0.25)
    """
    sure, right = p.max(axis=1), p.argmax(axis=1) == codes
    bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, weights=sure - right, minlength=_BINS)
    return float(np.abs(gaps).sum() / codes.size)
