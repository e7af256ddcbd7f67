"""Powers of a walk by fewer steps: Chebyshev polynomials.

A walk of many steps keeps what varies slowly over the graph (eigenvalues λ near ±1) and forgets the
rest, as λᵐ does. T_p(λ/c) / T_p(1/c), a Chebyshev polynomial, does so by p = 2.7 √m steps: it falls
like λᵐ near 1 and stays below 1/2000 within ±c. A kernel is the square of such a polynomial, which
is positive definite; what the square leaves within ±c must be small next to its diagonal, or the
kernel would be the identity for nodes of low degree.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from gradraker.features.walks import CHEBYSHEV_RATIO

Coefficients = NDArray[np.float64]
_STEPS = 2.7  # in √m
_RIPPLE = 1.0 / CHEBYSHEV_RATIO  # within ±c
_SHORT = 8  # steps up to which powers are taken as they are


class Power(NamedTuple):
    """A power λᵐ, or what stands for it, as coefficients of Chebyshev polynomials.

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
    >>> len(power.row) - 1
    22
    >>> [round(float(chebval(x, power.row)), 4) for x in (1.0, 0.99, 0.95, 0.9, 0.5)]
    [1.0, 0.5292, 0.0167, 0.0005, -0.0005]
    """
    row = np.zeros(m + 1)
    if m <= _SHORT:
        for j in range(m % 2, m + 1, 2):
            row[j] = (1 if j == 0 else 2) * math.comb(m, (m - j) // 2) / 2**m
    else:
        row = _make_low_pass(math.ceil(_STEPS * math.sqrt(m)))
    kernel = np.asarray(chebyshev.chebmul(row, row), dtype=np.float64)
    return Power(row, kernel, _divide_by_variable(row), _divide_by_variable(kernel))


def _make_low_pass(degree: int) -> Coefficients:
    """T_p(λ/c) / T_p(1/c), with c such that it stays below the ripple within ±c."""
    c = 1.0 / math.cosh(math.acosh(CHEBYSHEV_RATIO) / degree)
    one = np.zeros(degree + 1)
    one[degree] = 1.0
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    values = np.asarray(_RIPPLE * chebyshev.chebval(nodes / c, one), dtype=np.float64)
    found = _interpolate(nodes, values, degree)
    found[(degree + 1) % 2 :: 2] = 0.0  # it is even or odd; the others are rounding errors
    return found


def _divide_by_variable(series: Coefficients) -> Coefficients:
    """(p − p(0)) / λ, by interpolation at an even number of nodes, of which none is 0."""
    degree = max(1, len(series) - 2)
    n_nodes = 2 * (degree + 1)
    nodes = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
    values = (chebyshev.chebval(nodes, series) - chebyshev.chebval(0.0, series)) / nodes
    return _interpolate(nodes, values, degree)


def _interpolate(nodes: Coefficients, values: Coefficients, degree: int) -> Coefficients:
    """The series of this degree through values at Chebyshev nodes."""
    angles = np.outer(np.arange(degree + 1), np.arccos(nodes))  # [degree + 1, nodes]
    found = 2.0 / nodes.size * np.cos(angles) @ values
    found[0] /= 2.0
    return np.asarray(found)
