"""What the paper expects of B and F: the variance of B, and the mean sum of the weights."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._validation import check_count, check_learning_rate, check_positive
from gradraker.kernels.shift_invariant import get_kernel


def compute_similarity_variance(
    difference: ArrayLike,
    *,
    sigma2: float,
    n_frequencies: int,
    learning_rate: float,
    kernel: str = "gaussian",
) -> NDArray[np.float64]:
    """Variance of the similarity measure over the random frequencies, Var[B | d].

    B is 2η times the mean of D independent cos(ξᵀd), so that Var[B | d] =
    (2η)²/D · [(1 + κ(2d))/2 − κ(d)²]. For the Gaussian kernel that is the paper's
    (2η)²/(2D) · (1 − e^{−‖d‖²/σ²})² (section IV.B): 0 for equal rows, growing with ‖d‖², at most
    (2η)²/(2D).

    Parameters
    ----------
    difference : array-like of shape (..., M)
        Differences d = a_i − a_j of adjacency vectors.
    sigma2 : float
        Kernel variance.
    n_frequencies : int
        D.
    learning_rate : float
        η in (0, 1).
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> from gradraker.explain import compute_similarity_variance
    >>> d = [[0.0, 0.0], [1.0, 0.0], [30.0, 40.0]]
    >>> compute_similarity_variance(d, sigma2=2.0, n_frequencies=200, learning_rate=0.1)
    array([0.00000000e+00, 1.54818122e-05, 1.00000000e-04])
    """
    step = 2.0 * check_learning_rate(learning_rate)
    n = check_count("n_frequencies", n_frequencies)
    variance = check_positive("sigma2", sigma2)
    used = get_kernel(kernel)
    delta = np.asarray(difference, dtype=np.float64)
    if used.name == "gaussian":  # without the rounding errors of a difference near 0
        exponent = -np.sum(delta**2, axis=-1) / variance
        return np.asarray(step**2 / (2.0 * n) * np.expm1(exponent) ** 2)
    doubled, single = used.similarity(2.0 * delta, variance), used.similarity(delta, variance)
    spread = 0.5 * (1.0 + doubled) - single**2
    return np.asarray(step**2 / n * np.maximum(spread, 0.0))


def compute_expected_weight_sum(mean_similarity: ArrayLike, n_steps: int) -> NDArray[np.float64]:
    """Expected sum of the contribution weights after T steps, 1 − (1 − b)^T (claim 4).

    It holds where B and F are uncorrelated: in one epoch, with the exact kernel, for rows that
    all have equally similar others on average. Where nodes return, and with few random
    frequencies, the mean sum is smaller; see ``docs/theory/explaining.md``.

    Parameters
    ----------
    mean_similarity : array-like
        b = E[B], between 0 and 2: the mean of the similarity measure over pairs of nodes.
    n_steps : int
        T.

    Returns
    -------
    ndarray with the shape of ``mean_similarity``

    Examples
    --------
    >>> from gradraker.explain import compute_expected_weight_sum
    >>> compute_expected_weight_sum([0.0, 0.05, 0.2], n_steps=20).round(3)
    array([0.   , 0.642, 0.988])
    """
    mean = np.asarray(mean_similarity, dtype=np.float64)
    if not np.all((mean >= 0.0) & (mean < 2.0)):
        raise ValueError(
            "mean_similarity must be in [0, 2), as 2η times the mean of a kernel is, "
            f"got {mean_similarity!r}"
        )
    return np.asarray(1.0 - (1.0 - mean) ** check_count("n_steps", n_steps))
