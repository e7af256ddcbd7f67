"""Shares of many kernels in one, by gradient steps on the criterion.

The kernel is Σ_j s_j K_j + αI. With M its inverse and Q = M − M11ᵀM / 1ᵀM1, the criterion of
:mod:`gradraker.models.walks.exact.criteria` has a gradient in closed form: with q = QY, d the
diagonal of Q and E = q/d (left-out residuals), the derivatives by the entries of the matrix are

    [Q diag(Σ_k E_k q_k / d²) Q − q (Q(E/d))ᵀ] / (K · mean E²)     for N/2 · log mean E²,
    ½ Q − (N − 1) / (2 tr YᵀQY) · q qᵀ                              for the likelihood.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize

Matrix = NDArray[np.float64]
_MOST_STEPS = 20
# Shares are kept in hundredths, so that rounding errors of a sum do not move them, and small
# ones are dropped.
_SMALLEST_SHARE = 0.02
_HUNDREDTHS = 100.0


def compute_criterion_and_gradient(
    theta: Matrix, Ks: Matrix, Y: Matrix, likelihood: float, roots: Matrix | None = None
) -> tuple[float, Matrix]:
    """The criterion and its gradient in θ = (log shares, log α), for Ks (J, N, N) and Y (N, K).

    ``likelihood`` is the part of the likelihood that counts; ``roots`` are those of sample weights,
    as in :func:`gradraker.models.walks.exact.criteria.compute_criterion_curve`. The scale of shares
    and α together is free; a small penalty on (log Σ s)² holds it.
    """
    n, n_targets = Y.shape
    shares, alpha = np.exp(theta[:-1]), float(np.exp(theta[-1]))
    H = np.tensordot(shares, Ks, 1)  # [N, N]
    H[np.diag_indices(n)] += alpha
    factor, failed = lapack.dpotrf(H, lower=1)
    if failed:
        return 1e10, np.zeros_like(theta)  # a step too far
    logdet = 2.0 * float(np.log(np.diag(factor)).sum())
    lower = lapack.dpotri(factor, lower=1)[0]
    M = np.tril(lower) + np.tril(lower, -1).T
    h = M.sum(axis=1) if roots is None else M @ roots
    c = float(h.sum() if roots is None else roots @ h)
    Q = M - np.outer(h, h / c)
    q, d = Q @ Y, np.diag(Q).copy()
    E = q / d[:, np.newaxis]
    loo, fit = float(np.mean(E**2)), float(np.sum(Y * q))
    if loo <= 0.0 or fit <= 0.0:
        return 1e10, np.zeros_like(theta)
    restricted = 0.5 * ((n - 1) * np.log(fit / (n_targets * (n - 1))) + logdet + np.log(c))
    held = float(np.log(shares.sum()))
    value = 0.5 * n * np.log(loo) + likelihood * restricted + 0.5 * held**2
    G = ((Q * ((E * q).sum(axis=1) / d**2)) @ Q - q @ (Q @ (E / d[:, np.newaxis])).T) / (
        n_targets * loo
    )
    G += likelihood * (0.5 * Q - (n - 1) / (2.0 * fit) * (q @ q.T))
    by_share = shares * np.tensordot(Ks, G, ([1, 2], [0, 1])) + held * shares / shares.sum()
    return float(value), np.append(by_share, alpha * np.trace(G))


def find_shares(Ks: Matrix, Y: Matrix, likelihood: float, roots: Matrix | None = None) -> Matrix:
    """Shares (J,) of kernel matrices (J, N, N), in hundredths before they are made to sum to 1."""
    n_kernels = len(Ks)
    spread = max(1.0 - float(Ks.mean()), 1e-12)
    start = np.append(np.full(n_kernels, -np.log(n_kernels)), np.log(0.1 * spread))
    found = minimize(
        compute_criterion_and_gradient,
        start,
        args=(Ks, Y, likelihood, roots),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-9.0, 3.0)] * n_kernels + [(min(-14.0, start[-1]), max(6.0, start[-1]))],
        options={"maxiter": _MOST_STEPS},
    )
    shares = np.exp(found.x[:-1])
    shares /= shares.sum()
    shares = np.where(shares < _SMALLEST_SHARE, 0.0, np.round(_HUNDREDTHS * shares))
    return np.asarray(shares / shares.sum())
