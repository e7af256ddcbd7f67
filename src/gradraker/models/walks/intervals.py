"""Prediction intervals from leave-one-out residuals: jackknife+."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_coverage(coverage: Any) -> float:
    """Return a number in (0, 1).

    Examples
    --------
    >>> from gradraker.models.walks.intervals import check_coverage
    >>> check_coverage(90)
    Traceback (most recent call last):
    ValueError: coverage must be a number in (0, 1), got 90
    """
    number = isinstance(coverage, float | int | np.integer | np.floating)
    if number and not isinstance(coverage, bool) and 0.0 < coverage < 1.0:
        return float(coverage)
    raise ValueError(f"coverage must be a number in (0, 1), got {coverage!r}")


def jackknife_plus(
    left_out: NDArray[np.float64], residuals: NDArray[np.float64], coverage: float
) -> NDArray[np.float64]:
    """Interval of each prediction, (n, 2).

    Of the N numbers ŷ_{−i}(x) − R_i the lower end is the ⌊(1 − coverage)(N + 1)⌋-th smallest, of
    ŷ_{−i}(x) + R_i the upper one is the ⌈coverage (N + 1)⌉-th smallest, or infinite where N is too
    small for it (Barber, Candès, Ramdas and Tibshirani, 2021). Nodes that are drawn like the
    known ones are covered with probability 2·coverage − 1 at least, and in practice near coverage.

    Parameters
    ----------
    left_out : array of shape (n, N)
        ŷ_{−i}(x): predictions by the model without known node i.
    residuals : array of shape (N,)
        R_i = |y_i − ŷ_{−i}(x_i)|.
    coverage : float
        In (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.intervals import jackknife_plus
    >>> jackknife_plus(np.zeros((1, 4)), np.array([1.0, 2.0, 3.0, 4.0]), 0.6)
    array([[-3.,  3.]])
    """
    n = residuals.size
    # 1e-9: (1 − 0.9)·10 is 0.9999… in floating point.
    below = math.floor((1.0 - coverage) * (n + 1) + 1e-9)
    above = math.ceil(coverage * (n + 1) - 1e-9)
    interval = np.empty((left_out.shape[0], 2))
    if below < 1 or above > n:
        interval[:] = -np.inf, np.inf
        return interval
    interval[:, 0] = np.partition(left_out - residuals, below - 1, axis=1)[:, below - 1]
    interval[:, 1] = np.partition(left_out + residuals, above - 1, axis=1)[:, above - 1]
    return interval
