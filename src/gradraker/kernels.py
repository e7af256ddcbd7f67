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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._compiled.draws import CAUCHY, LAPLACE, NORMAL


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name, closed form, and the code of its unit draw.

    ``similarity(difference, sigma2)`` takes differences of shape (..., M) and
    returns κ of shape (...).
    """

    name: str
    distribution: int
    similarity: Callable[[ArrayLike, float], NDArray[np.float64]]


def _gaussian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(delta**2, axis=-1) / (2.0 * sigma2)))


def _laplacian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(np.abs(delta), axis=-1) / np.sqrt(sigma2)))


def _cauchy(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    # A sum of logarithms: a product of many factors would underflow unnoticed.
    return np.asarray(np.exp(-np.sum(np.log1p(delta**2 / sigma2), axis=-1)))


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("gaussian", NORMAL, _gaussian),
        Kernel("laplacian", CAUCHY, _laplacian),
        Kernel("cauchy", LAPLACE, _cauchy),
    )
}


def get_kernel(kernel: Any) -> Kernel:
    """Return the kernel of that name, or raise an error that lists the names.

    Examples
    --------
    >>> from gradraker.kernels import get_kernel
    >>> float(get_kernel("gaussian").similarity([3.0, 4.0], 12.5))
    0.36787944117144233
    """
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}, got {kernel!r}")
