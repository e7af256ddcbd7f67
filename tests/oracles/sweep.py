"""A sweep over σ² from the paper's equations: a loop per variance, per repeat and per step.

Frequencies are unit draws divided by σ. They, the split and the orders come from
the documented seeds; everything else is plain NumPy.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features import FrequencyTable


def draw(n: int, fraction: float, random_state: int, repeat: int) -> tuple[Any, ...]:
    """Known nodes, unknown nodes and the seed of a repeat."""
    rng = np.random.default_rng([random_state, repeat])
    shuffled = rng.permutation(n)
    n_known = round(fraction * n)
    return shuffled[:n_known], shuffled[n_known:], int(rng.integers(2**32))


def one_gnmse(
    A: NDArray[np.float64],
    y: NDArray[np.float64],
    known: NDArray[np.int64],
    unknown: NDArray[np.int64],
    seed: int,
    sigma2: Any,
    *,
    D: int,
    eta: float,
    E: int,
    kernel: Any = "gaussian",
) -> Any:
    """Train SKG step by step at one variance, equations (1) to (4), and compute its error."""
    A = np.asarray(A, dtype=np.float64)
    xi = FrequencyTable(seed, D, kernel, n_numbered=len(known)).compute_frequencies(
        1 / math.sqrt(sigma2)
    )
    orders = np.random.default_rng([seed, 1])
    theta = np.zeros(2 * D)
    for _ in range(E):
        for i in orders.permutation(len(known)):
            z = features(A[known[i]][known], xi)
            f = theta @ z
            theta = theta + 2 * eta * (y[known[i]] - f) * z
    predictions = np.array([theta @ features(A[j][known], xi) for j in unknown])
    return np.sum((y[unknown] - predictions) ** 2) / np.sum(y[unknown] ** 2)


def features(a: NDArray[np.float64], xi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation (1)."""
    angles = a @ xi
    return np.concatenate([np.sin(angles), np.cos(angles)]) / math.sqrt(xi.shape[1])


def gnmse(
    A: NDArray[np.float64],
    y: NDArray[np.float64],
    sigma2: NDArray[np.float64],
    *,
    n_repeats: int,
    fraction: float,
    random_state: int,
    **settings: Any,
) -> NDArray[np.float64]:
    """GNMSE of every repeat and variance, (R, S); y in [0, 1]."""
    found = np.empty((n_repeats, len(sigma2)))
    for repeat in range(n_repeats):
        known, unknown, seed = draw(len(y), fraction, random_state, repeat)
        for s, variance in enumerate(sigma2):
            found[repeat, s] = one_gnmse(A, y, known, unknown, seed, variance, **settings)
    return found
