"""Probabilities of classes from scores, with one number fitted on left-out scores.

Scores are ridge regressions of one-hot labels: they sum to 1, but may leave [0, 1] and are too
timid, since ridge shrinks. Probabilities are softmax(β · scores), where the sharpness β maximises
the likelihood of the known labels given scores that have not seen them.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

# Sharper than this, probabilities are 0 and 1 for scores that differ by 0.04.
_SHARPEST = 1000.0
_BINS = 10


def probabilities(scores: NDArray[np.float64], sharpness: float) -> NDArray[np.float64]:
    """softmax(β · scores) by rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.learners.nodes.calibration import probabilities
    >>> probabilities(np.array([[0.5, 0.5], [1.0, 0.0]]), np.log(3.0))
    array([[0.5 , 0.5 ],
           [0.75, 0.25]])
    """
    powers = sharpness * (scores - scores.max(axis=1, keepdims=True))
    np.exp(powers, out=powers)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fitted_sharpness(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """The β in [0.1, 1000] under which the labels ``codes`` are most likely."""
    excess = scores - scores[np.arange(codes.size), codes][:, np.newaxis]  # [N, K]
    top = excess.max(axis=1, keepdims=True)

    def loss(log_sharpness: float) -> float:
        sharpness = math.exp(log_sharpness)
        sums = np.exp(sharpness * (excess - top)).sum(axis=1)
        return float(np.mean(np.log(sums) + sharpness * top[:, 0]))

    # The loss is convex in β, so it has one minimum in log β as well.
    bounds = (math.log(0.1), math.log(_SHARPEST))
    return math.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x)


def calibration_error(p: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """Expected calibration error of the predicted class, over ten bins of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.learners.nodes.calibration import calibration_error
    >>> p = np.array([[0.75, 0.25]] * 4)
    >>> calibration_error(p, np.array([0, 0, 0, 1])), calibration_error(p, np.array([0, 0, 0, 0]))
    (0.0, 0.25)
    """
    sure, right = p.max(axis=1), p.argmax(axis=1) == codes
    bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, weights=sure - right, minlength=_BINS)
    return float(np.abs(gaps).sum() / codes.size)
