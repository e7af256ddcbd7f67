"""Ridge regression with an unpenalised intercept: closed forms over arrays.

It minimises Σ (y_i − μ − θᵀz_i)² + α ‖θ‖² and is linear in y: a prediction is Σ w_i y_i with
weights that sum to 1. This is the *dual* form, on the kernel matrix K = Z Zᵀ of N nodes; its
inverse grows by blocks of nodes, so recursive least squares gives the batch solution.

With H = K + αI, h = H⁻¹1 and c = 1ᵀh, let Q = H⁻¹ − hhᵀ/c and g = h/c. The prediction
at a node whose kernel values to the N nodes are k is kᵀQy + gᵀy, and the residual of
node i when it is left out is (Qy)_i / Q_ii.

Kernels and penalties are compared by a criterion in nats, to be minimised: N/2 · log(mean squared
leave-one-out residual) plus min(1, 100/N) times the restricted negative log-likelihood (REML)

    (N − 1)/2 · log(yᵀQy / (N − 1)) + ½ log|K + αI| + ½ log 1ᵀ(K + αI)⁻¹1

(constants left out). Leave-one-out alone overfits when few nodes are known and many kernels are
tried; the likelihood alone trusts the kernel too much when many are known. One
eigendecomposition gives it for a path of penalties.

Shares s_j of kernels Σ_j s_j K_j + αI are found by gradient steps. The gradient has a closed form:
with q = QY, d the diagonal of Q and E = q/d (left-out residuals), the derivatives by the entries of
the matrix are

    [Q diag(Σ_k E_k q_k / d²) Q − q (Q(E/d))ᵀ] / (K · mean E²)     for N/2 · log mean E²,
    ½ Q − (N − 1) / (2 tr YᵀQY) · q qᵀ                              for the likelihood.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import minimize

from gradraker.features.engine import use_one_blas_thread

Matrix = NDArray[np.float64]
# Number of known nodes up to which the likelihood counts in full.
MOST_BY_LIKELIHOOD = 100.0
_TINY = 1e-300
_MAX_STEPS = 20
# Shares are rounded to hundredths, so that rounding errors of sums do not change them, and small
# ones are dropped.
_SMALLEST_SHARE = 0.02
_HUNDREDTHS = 100.0


class Dual(NamedTuple):
    """The smoother of kernel ridge: predictions are k @ (Q @ y) + g @ y."""

    Q: Matrix  # [N, N]
    g: Matrix  # [N]


def invert_dual(K: Matrix, alpha: float | Matrix) -> Matrix:
    """(K + αI)⁻¹; with one α per node (N,), (K + diag α)⁻¹."""
    H = K.copy()
    H[np.diag_indices_from(H)] += alpha
    return _invert(H)


def _invert(H: Matrix) -> Matrix:
    """Invert a symmetric positive definite matrix by Cholesky, half the work of other methods."""
    with use_one_blas_thread(len(H)):
        factor, failed = lapack.dpotrf(H, lower=1)
        if not failed:
            inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
        if failed:  # rounding made it indefinite: the penalty is tiny next to the kernel
            inverse = np.linalg.inv(H)
            return np.asarray(0.5 * (inverse + inverse.T))
    lower = np.tril(inverse, -1)
    return np.asarray(lower + lower.T + np.diag(np.diag(inverse)))


def grow_dual_inverse(
    inverse: Matrix, cross: Matrix, own: Matrix, alpha: float, *, is_exact: bool = True
) -> Matrix:
    """Inverse for N + k nodes from that for N, in O(N²k).

    ``cross`` (k, N) is the kernel between new and old nodes, ``own`` (k, k) that among new nodes.
    If the inverse is not exact, eigenvalues of the Schur complement of the new nodes are raised to
    α, their bound for the exact one, so that the result stays positive definite.
    """
    n, k = inverse.shape[0], own.shape[0]
    products = inverse @ cross.T  # [N, k]
    # Symmetrised below, because asymmetry by rounding would grow from block to block.
    complement = own + alpha * np.eye(k) - cross @ products  # [k, k]
    if not is_exact:
        values, vectors = np.linalg.eigh(0.5 * (complement + complement.T))
        complement = (vectors * np.maximum(values, alpha)) @ vectors.T
    rest = _invert(complement)
    grown = np.empty((n + k, n + k))
    corner = products @ rest
    more = corner @ products.T
    grown[:n, :n] = inverse + 0.5 * (more + more.T)
    grown[:n, n:] = -corner
    grown[n:, :n] = -corner.T
    grown[n:, n:] = rest
    return grown


def build_dual_smoother(inverse: Matrix) -> Dual:
    """Build the smoother of (K + αI)⁻¹."""
    h = inverse.sum(axis=0)
    g = h / h.sum()
    Q = inverse - np.outer(h, g)
    return Dual(0.5 * (Q + Q.T), g)


def build_mean_smoother(n: int, weights: Matrix | None = None) -> Dual:
    """Build the limit α → ∞ on n nodes, scaled by α: predictions are the mean of y.

    With sample weights (n,), the noise of a node is α over its weight.
    """
    if weights is None:
        return Dual(np.eye(n) - 1.0 / n, np.full(n, 1.0 / n))
    g = weights / weights.sum()
    return Dual(np.diag(weights) - np.outer(weights, g), g)


# -- the criterion ---------------------------------------------------------------------------------


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
    return Curve(_combine_criteria(n, loo, restricted), loo, alphas)


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
    return float(_combine_criteria(n, loo, restricted))


def _combine_criteria(n: int, loo: Matrix, restricted: Matrix) -> Matrix:
    likelihood = get_likelihood_part(n) * restricted
    return np.asarray(0.5 * n * np.log(np.maximum(loo, _TINY)) + likelihood)


def get_likelihood_part(n: int) -> float:
    """Weight of the likelihood in the criterion when n values are known."""
    return min(1.0, MOST_BY_LIKELIHOOD / n)


def compute_criterion_and_gradient(
    theta: Matrix, Ks: Matrix, Y: Matrix, likelihood: float, roots: Matrix | None = None
) -> tuple[float, Matrix]:
    """The criterion and its gradient in θ = (log shares, log α), for Ks (J, N, N) and Y (N, K).

    ``likelihood`` is the weight of the likelihood; ``roots`` are those of sample weights, as in
    :func:`compute_criterion_curve`. The common scale of shares and α is arbitrary; a small penalty
    on (log Σ s)² fixes it.
    """
    n, n_targets = Y.shape
    shares, alpha = np.exp(theta[:-1]), float(np.exp(theta[-1]))
    H = np.tensordot(shares, Ks, 1)  # [N, N]
    H[np.diag_indices(n)] += alpha
    factor, failed = lapack.dpotrf(H, lower=1)
    if failed:
        return 1e10, np.zeros_like(theta)  # the step was too large
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
    log_scale = float(np.log(shares.sum()))
    value = 0.5 * n * np.log(loo) + likelihood * restricted + 0.5 * log_scale**2
    G = ((Q * ((E * q).sum(axis=1) / d**2)) @ Q - q @ (Q @ (E / d[:, np.newaxis])).T) / (
        n_targets * loo
    )
    G += likelihood * (0.5 * Q - (n - 1) / (2.0 * fit) * (q @ q.T))
    by_share = shares * np.tensordot(Ks, G, ([1, 2], [0, 1])) + log_scale * shares / shares.sum()
    return float(value), np.append(by_share, alpha * np.trace(G))


def find_shares(Ks: Matrix, Y: Matrix, likelihood: float, roots: Matrix | None = None) -> Matrix:
    """Shares (J,) of kernel matrices (J, N, N), rounded to hundredths, then scaled to sum 1."""
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
        options={"maxiter": _MAX_STEPS},
    )
    shares = np.exp(found.x[:-1])
    shares /= shares.sum()
    shares = np.where(shares < _SMALLEST_SHARE, 0.0, np.round(_HUNDREDTHS * shares))
    return np.asarray(shares / shares.sum())
