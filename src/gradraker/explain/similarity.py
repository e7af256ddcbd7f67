"""The similarity measure B, its expectations, and the paper's quantities derived from B and F."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from gradraker._compiled.adjoint import run_kernel_adjoint_pass
from gradraker._validation import check_choice, check_count, check_learning_rate, check_positive
from gradraker.kernels.shift_invariant import get_kernel
from gradraker.linear.lms import check_order


def similarity_measure(Z_i: ArrayLike, Z_j: ArrayLike, learning_rate: float) -> NDArray[np.float64]:
    """Similarity measure B_{i,j} = 2η z(a_i)ᵀz(a_j), equation (bijdef).

    Parameters
    ----------
    Z_i : array-like of shape (2D,) or (n, 2D)
        Features of one node or of n.
    Z_j : array-like of shape (2D,) or (m, 2D)
        Features of one node or of m.
    learning_rate : float
        η in (0, 1).

    Returns
    -------
    ndarray of shape (n, m), without the axes of single nodes

    Examples
    --------
    >>> from gradraker.explain import similarity_measure
    >>> similarity_measure([[1.0, 0.0], [0.6, 0.8]], [0.0, 1.0], learning_rate=0.25)
    array([0. , 0.4])
    """
    step = 2.0 * check_learning_rate(learning_rate)
    first, second = _check_features("Z_i", Z_i), _check_features("Z_j", Z_j)
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"Z_j has {second.shape[-1]} features, but Z_i has {first.shape[-1]}")
    return np.asarray(step * (first @ second.T))


def kernel_similarity_measure(
    difference: ArrayLike, *, sigma2: float, learning_rate: float, kernel: str = "gaussian"
) -> NDArray[np.float64]:
    """Exact-kernel similarity measure, equation (eb): 2η exp(−‖d‖²/2σ²) for the Gaussian.

    The mean of B over the random frequencies, and its limit for many of them.

    Parameters
    ----------
    difference : array-like of shape (..., M)
        Differences d = a_i − a_j of adjacency vectors.
    sigma2 : float
        Kernel variance.
    learning_rate : float
        η in (0, 1).
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.

    Returns
    -------
    ndarray of shape (...)

    Examples
    --------
    >>> from gradraker.explain import kernel_similarity_measure
    >>> d = [[0.0, 0.0], [3.0, 4.0]]
    >>> kernel_similarity_measure(d, sigma2=12.5, learning_rate=0.1).round(4)
    array([0.2   , 0.0736])
    """
    step = 2.0 * check_learning_rate(learning_rate)
    return np.asarray(
        step * get_kernel(kernel).similarity(difference, check_positive("sigma2", sigma2))
    )


def kernel_contribution_weights(
    X: ArrayLike,
    order: ArrayLike,
    x_star: ArrayLike,
    *,
    sigma2: float,
    learning_rate: float,
    kernel: str = "gaussian",
) -> NDArray[np.float64]:
    """Contribution weights F_{i,T+1} with the exact kernel in place of random features.

    The recursion (fijdef) on 2η κ(a_i, a_j): the limit of the weights as D grows. It needs
    the n × n matrix of the kernel, so it is for graphs of some thousand nodes.

    Parameters
    ----------
    X : array-like of shape (n, M)
        Adjacency vectors of the known nodes, dense.
    order : array-like of T ints
        Rows of X in the order of training, all epochs.
    x_star : array-like of shape (M,) or (m, M)
        Adjacency vectors of one unknown node or of m.
    sigma2, learning_rate, kernel
        As in :func:`kernel_similarity_measure`.

    Returns
    -------
    ndarray of shape (T,) or (m, T)

    Examples
    --------
    >>> from gradraker.explain import kernel_contribution_weights
    >>> X = [[0.0, 1.0], [100.0, 0.0]]
    >>> weights = kernel_contribution_weights(
    ...     X, [0, 1, 0], [0.0, 1.0], sigma2=1.0, learning_rate=0.25
    ... )
    >>> weights
    array([0.25, 0.  , 0.5 ])
    """
    step = 2.0 * check_learning_rate(learning_rate)
    used, variance = get_kernel(kernel), check_positive("sigma2", sigma2)
    rows = check_array(X, dtype=np.float64, input_name="X")
    stars = check_array(np.atleast_2d(x_star), dtype=np.float64, input_name="x_star")
    if rows.shape[1] != stars.shape[1]:
        raise ValueError(f"x_star has {stars.shape[1]} columns, but X has {rows.shape[1]}")
    times = check_order(order, rows.shape[0])
    K = np.array([used.similarity(rows - row, variance) for row in rows])  # [n, n]
    weights = np.empty((stars.shape[0], times.size))  # [m, T]
    for star, out in zip(stars, weights, strict=True):
        run_kernel_adjoint_pass(K, times, step, used.similarity(rows - star, variance), out)
    return weights[0] if np.ndim(x_star) == 1 else weights


def conformity_factor(B: ArrayLike, F: ArrayLike) -> NDArray[np.float64]:
    """Conformity factors α of equation (sp): F_{i,T+1} = B_{i,T+1} (1 − α)^{T−i}.

    Parameters
    ----------
    B, F : array-like of shape (..., T)
        Similarity measures and contribution weights of the nodes learned at times 1, …, T,
        for the node at time T + 1.

    Returns
    -------
    ndarray of shape (..., T)
        α_{T+1−i} for i = 1, …, T. NaN at i = T, where F = B whatever α is, and where
        F/B ≤ 0 or B = 0, where no real α below 1 exists: the weight has turned into noise.

    Examples
    --------
    >>> from gradraker.explain import conformity_factor
    >>> conformity_factor([0.2, 0.2, 0.1, 0.2], [0.1024, -0.1, 0.08, 0.2]).round(3)
    array([0.2, nan, 0.2, nan])
    """
    similarities, weights = np.asarray(B, dtype=np.float64), np.asarray(F, dtype=np.float64)
    if similarities.shape != weights.shape or similarities.ndim == 0:
        raise ValueError(f"F has shape {weights.shape}, but B has shape {similarities.shape}")
    n_times = similarities.shape[-1]
    exponent = np.broadcast_to(np.arange(n_times - 1, -1, -1.0), similarities.shape)  # T − i
    alpha = np.full(similarities.shape, np.nan)
    # Same sign and both nonzero: the product test would underflow.
    is_defined = (np.sign(similarities) * np.sign(weights) > 0) & (exponent > 0)
    # Logarithms of both: their ratio would overflow.
    ratio = np.log(np.abs(weights[is_defined])) - np.log(np.abs(similarities[is_defined]))
    alpha[is_defined] = -np.expm1(ratio / exponent[is_defined])
    return alpha


def noise_range(F: ArrayLike) -> tuple[float, float]:
    """Noise range of contribution weights: symmetric, just wide enough for the negative ones.

    Weights inside it do not count (section IV.A.1); without negative weights it is (0, 0).

    Examples
    --------
    >>> from gradraker.explain import noise_range
    >>> noise_range([0.2, -0.03, 0.01])
    (-0.03, 0.03)
    """
    weights = check_array(F, ensure_2d=False, dtype=np.float64, input_name="F")
    upper = max(0.0, -float(weights.min()))
    return (0.0 - upper, upper)  # not -0.0


def efficient_distance(
    B: ArrayLike, F: ArrayLike, *, sigma2: float, learning_rate: float, kernel: str = "gaussian"
) -> float:
    """Efficient distance: the largest distance of a node whose weight is not noise.

    Distances are read off B by the exponential approximation (eb), as the paper does (section
    IV.A.2): ‖d‖² = −2σ² ln(B/2η) for the Gaussian kernel, and ‖d‖₁ = −√σ² ln(B/2η) for the
    Laplacian one (section VI.D).

    Parameters
    ----------
    B, F : array-like of shape (T,)
        Similarity measures and contribution weights for one unknown node.
    sigma2 : float
        Kernel variance.
    learning_rate : float
        η in (0, 1).
    kernel : {"gaussian", "laplacian"}, default="gaussian"
        Kernel; the Cauchy kernel is not a function of one distance, so it has none.

    Returns
    -------
    float
        A squared distance, or an l1 distance for the Laplacian kernel; NaN if no weight is
        significant.

    Examples
    --------
    >>> from gradraker.explain import efficient_distance
    >>> efficient_distance(
    ...     [0.2, 0.0736, 0.001], [0.1, 0.05, -0.01], sigma2=12.5, learning_rate=0.1
    ... )  # doctest: +ELLIPSIS
    24.9...
    """
    step = 2.0 * check_learning_rate(learning_rate)
    variance = check_positive("sigma2", sigma2)
    check_choice("kernel", kernel, ("gaussian", "laplacian"))
    scale = 2.0 * variance if kernel == "gaussian" else math.sqrt(variance)
    similarities, weights = np.asarray(B, dtype=np.float64), np.asarray(F, dtype=np.float64)
    if similarities.shape != weights.shape:
        raise ValueError(f"F has shape {weights.shape}, but B has shape {similarities.shape}")
    # A significant weight whose B is noise (<= 0) has no distance by the approximation.
    chosen = similarities[(weights > noise_range(weights)[1]) & (similarities > 0.0)]
    if chosen.size == 0:
        return float("nan")
    return max(0.0, -scale * float(np.log(chosen.min() / step)))


def _check_features(name: str, Z: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(Z, dtype=np.float64)
    if array.ndim not in (1, 2) or not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite features of one node (2D,) or several (n, 2D), "
            f"got an array of shape {array.shape}"
        )
    return array


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
    difference, sigma2, learning_rate, kernel
        As in :func:`kernel_similarity_measure`.
    n_frequencies : int
        D.

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
