"""The shift-invariant kernels, each with its closed form and the draw that approximates it.

Every kernel is scaled by one number, ``sigma2``: with Δ = a − a′ and s = √sigma2,

========== ============================ ======================================
name       κ(a, a′)                     frequencies ξ (independent entries)
========== ============================ ======================================
gaussian   exp(−‖Δ‖² / 2 s²)            N(0, 1/s²)           (the paper, claim 1)
laplacian  exp(−‖Δ‖₁ / s)               Cauchy with scale 1/s; the paper's b is s
cauchy     ∏ 1 / (1 + Δ_m² / s²)        Laplace with scale 1/s
========== ============================ ======================================

so that frequencies at any ``sigma2`` are unit frequencies divided by s, and one
projection serves all variances.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from gradraker._compiled.draws import CAUCHY, LAPLACE, NORMAL
from gradraker._validation import check_choice


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name, closed form, and the code of its unit draw.

    ``similarity(difference, sigma2)`` takes differences of shape (..., M) and returns κ of
    shape (...). ``variance_at(difference, similarity)`` is its inverse: the ``sigma2`` at which
    one pair of rows with that difference has that similarity. ``metric`` is the distance that
    κ falls with, as :func:`gradraker.kernels.extreme_squared_distances` names it.

    Examples
    --------
    >>> from gradraker.kernels import get_kernel
    >>> get_kernel("gaussian").similarity([[3.0, 4.0]], 12.5).round(4)
    array([0.3679])
    """

    name: str
    distribution: int
    metric: str
    similarity: Callable[[ArrayLike, float], NDArray[np.float64]]
    variance_at: Callable[[NDArray[np.float64], float], float]


def _compute_gaussian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(delta**2, axis=-1) / (2.0 * sigma2)))


def _compute_laplacian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(np.abs(delta), axis=-1) / np.sqrt(sigma2)))


def _compute_cauchy(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    # A sum of logarithms, because a product of many factors would underflow unnoticed.
    return np.asarray(np.exp(-np.sum(np.log1p(delta**2 / sigma2), axis=-1)))


def _solve_gaussian_variance(difference: NDArray[np.float64], similarity: float) -> float:
    return float(np.sum(difference**2)) / (-2.0 * math.log(similarity))


def _solve_laplacian_variance(difference: NDArray[np.float64], similarity: float) -> float:
    return (float(np.sum(np.abs(difference))) / -math.log(similarity)) ** 2


def _solve_cauchy_variance(difference: NDArray[np.float64], similarity: float) -> float:
    """Solve Σ log(1 + Δ²/sigma2) = −log(similarity); the left side falls with sigma2."""
    squares = difference[difference != 0.0] ** 2
    target = -math.log(similarity)

    def compute_excess(log_sigma2: float) -> float:
        return float(np.sum(np.log1p(squares / math.exp(log_sigma2)))) - target

    # log(1 + x) <= x bounds the root from above, the largest entry alone from below.
    above = math.log(float(np.sum(squares)) / target)
    below = math.log(float(squares.max())) - target
    return math.exp(brentq(compute_excess, below - 1.0, above + 1.0, xtol=1e-13))


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("gaussian", NORMAL, "sqeuclidean", _compute_gaussian, _solve_gaussian_variance),
        Kernel("laplacian", CAUCHY, "l1", _compute_laplacian, _solve_laplacian_variance),
        # For 0/1 rows the Cauchy kernel falls with ‖d‖² as well; for others its boundaries are
        # those of the pairs that are extreme in ‖d‖².
        Kernel("cauchy", LAPLACE, "sqeuclidean", _compute_cauchy, _solve_cauchy_variance),
    )
}


def get_kernel(kernel: Any) -> Kernel:
    """Return the kernel of that name, or raise an error that lists the names.

    Examples
    --------
    >>> from gradraker.kernels.shift_invariant import get_kernel
    >>> float(get_kernel("gaussian").similarity([3.0, 4.0], 12.5))
    0.36787944117144233
    """
    return KERNELS[check_choice("kernel", kernel, KERNELS)]
