"""Prediction intervals from errors of left-out nodes, scaled by how large each was expected."""

import math

import numpy as np
from numpy.typing import NDArray


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
