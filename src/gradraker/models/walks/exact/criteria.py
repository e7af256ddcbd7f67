"""How good a kernel and a penalty are, in nats, from one eigendecomposition.

The criterion, to be minimised, is N/2 · log(mean squared leave-one-out residual) plus a part
min(1, 100/N) of the restricted negative log-likelihood (REML)

    (N − 1)/2 · log(yᵀQy / (N − 1)) + ½ log|K + αI| + ½ log 1ᵀ(K + αI)⁻¹1

(constants left out). Leave-one-out alone overfits when few nodes are known and many kernels are
tried; the likelihood alone trusts the kernel too much when many are known.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
# Known nodes up to which the likelihood counts in full.
MOST_BY_LIKELIHOOD = 100.0
_TINY = 1e-300


class Curve(NamedTuple):
    """Criterion, mean squared leave-one-out residual and penalty of candidates."""

    criterion: Matrix
    loo: Matrix
    alphas: Matrix


def compute_criterion_curve(
    K: Matrix, Y: Matrix, alphas: Matrix, roots: Matrix | None = None
) -> Curve:
    """The criterion of a kernel matrix (N, N) on values (N, K), for each penalty.

    With sample weights w, ``roots`` are √w (N,), and K and Y come as √w K √wᵀ and √w Y: residuals
    are then weighed by w.
    """
    (n, n_targets), n_alphas = Y.shape, alphas.size
    values, U = np.linalg.eigh(K)
    values = np.maximum(values, 0.0)
    ones, UY = U.sum(axis=0) if roots is None else roots @ U, U.T @ Y  # [N], [N, K]
    G = 1.0 / (values[:, np.newaxis] + alphas)  # [N, alphas]
    c = (ones**2) @ G  # 1ᵀH⁻¹1
    h = U @ (G * ones[:, np.newaxis])  # H⁻¹1
    own = (U**2) @ G - h**2 / c  # Q_ii
    loo, restricted = np.empty(n_alphas), np.empty(n_alphas)
    for j in range(n_alphas):
        centre = (G[:, j] * ones) @ UY / c[j]  # [K]
        QY = U @ (G[:, j, np.newaxis] * (UY - np.outer(ones, centre)))  # [N, K]
        loo[j] = np.mean((QY / own[:, j, np.newaxis]) ** 2)
        fit = max(float(np.sum(Y * QY)), _TINY) / (n_targets * (n - 1))
        determinant = 0.5 * np.log(values + alphas[j]).sum()
        restricted[j] = 0.5 * (n - 1) * np.log(fit) + determinant + 0.5 * np.log(c[j])
    return Curve(_join_criteria(n, loo, restricted), loo, alphas)


def compute_criterion_of_mean(Y: Matrix, roots: Matrix | None = None) -> float:
    """The criterion of predicting the mean: the limit α → ∞; ``roots`` as in the curve."""
    n, n_targets = Y.shape
    if roots is None:
        roots = np.ones(n)
    weights = roots**2
    total = float(weights.sum())
    residuals = Y - np.outer(roots, roots @ Y / total)
    squares = max(float(np.sum(residuals**2)) / n_targets, _TINY)
    left_out = residuals / (1.0 - weights / total)[:, np.newaxis]
    loo = np.asarray(np.mean(left_out**2))
    restricted = np.asarray(0.5 * (n - 1) * np.log(squares / (n - 1)) + 0.5 * np.log(total))
    return float(_join_criteria(n, loo, restricted))


def _join_criteria(n: int, loo: Matrix, restricted: Matrix) -> Matrix:
    likelihood = get_likelihood_part(n) * restricted
    return np.asarray(0.5 * n * np.log(np.maximum(loo, _TINY)) + likelihood)


def get_likelihood_part(n: int) -> float:
    """How much the likelihood counts when n values are known."""
    return min(1.0, MOST_BY_LIKELIHOOD / n)
