"""Powers of a walk by fewer steps: truncated Chebyshev series.

λᵐ = Σ_j c_j T_j(λ), where T_j is the Chebyshev polynomial and c_j the probability that m steps of
±1 end at ±j. Those beyond j = 2.3 √m sum to 2 %, so 19 steps stand for 64. A kernel is the square
of the truncated series, which is positive definite whatever was cut off.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Coefficients = NDArray[np.float64]
_WIDTH = 2.3  # standard deviations of the number of steps
_SHORT = 8  # steps up to which nothing is cut off


class Power(NamedTuple):
    """A power λᵐ, cut off, as coefficients of Chebyshev polynomials.

    ``kernel`` is the square of ``row``. The others are (row − row(0)) / λ and
    (kernel − kernel(0)) / λ, for nodes that walks start from and never come back to.
    """

    row: Coefficients
    kernel: Coefficients
    row_after_step: Coefficients
    kernel_after_step: Coefficients


@lru_cache(maxsize=128)
def expand_power(m: int) -> Power:
    """Return the series of λᵐ.

    Examples
    --------
    >>> from numpy.polynomial.chebyshev import chebval
    >>> from gradraker.models.walks.operators.polynomials import expand_power
    >>> power = expand_power(64)
    >>> len(power.row) - 1, [round(float(chebval(x, power.row)), 2) for x in (1.0, 0.99, 0.9, 0.5)]
    (18, [0.98, 0.54, 0.01, 0.01])
    """
    row = np.zeros(m + 1)
    for j in range(m % 2, m + 1, 2):
        row[j] = (1 if j == 0 else 2) * math.comb(m, (m - j) // 2) / 2**m
    if m > _SHORT:
        row = row[: math.floor(_WIDTH * math.sqrt(m)) + 1]
    kernel = np.asarray(chebyshev.chebmul(row, row), dtype=np.float64)
    return Power(row, kernel, _divide_by_variable(row), _divide_by_variable(kernel))


def _divide_by_variable(series: Coefficients) -> Coefficients:
    """(p − p(0)) / λ, by interpolation at an even number of nodes, of which none is 0."""
    degree = max(1, len(series) - 2)
    n_nodes = 2 * (degree + 1)
    nodes = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
    values = (chebyshev.chebval(nodes, series) - chebyshev.chebval(0.0, series)) / nodes
    angles = np.outer(np.arange(degree + 1), np.arccos(nodes))  # [degree + 1, nodes]
    found = 2.0 / n_nodes * np.cos(angles) @ values
    found[0] /= 2.0
    return np.asarray(found)
