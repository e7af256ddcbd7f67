"""Ridge regression with an unpenalised intercept: closed forms over arrays.

Both forms minimise Σ (y_i − μ − θᵀz_i)² + α ‖θ‖², and both are linear in y: a prediction is
Σ w_i y_i with weights that sum to 1. The *dual* form works on the kernel matrix K = Z Zᵀ of N
nodes, the *primal* one on the matrix of F features. Either keeps an inverse that grows by blocks of
nodes, so recursive least squares gives the batch solution.

Dual: with H = K + αI, h = H⁻¹1 and c = 1ᵀh, let Q = H⁻¹ − hhᵀ/c and g = h/c. The prediction
at a node whose kernel values to the N nodes are k is kᵀQy + gᵀy, and the residual of
node i when it is left out is (Qy)_i / Q_ii.

Primal: with ž = [z, 1], M = Σ ž žᵀ + diag(α, …, α, 0), a prediction is žᵀM⁻¹Σ ž_i y_i, and the
residual of node i when it is left out is e_i / (1 − ž_iᵀM⁻¹ž_i).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from gradraker.features.blas import use_one_blas_thread

Matrix = NDArray[np.float64]


class Dual(NamedTuple):
    """The smoother of kernel ridge: predictions are k @ (Q @ y) + g @ y."""

    Q: Matrix  # [N, N]
    g: Matrix  # [N]

    def compute_left_out_residuals(self, Y: Matrix) -> Matrix:
        """Residual y_i − ŷ_{−i}(x_i) of each node when it is left out, (N, K); NaN for N = 1."""
        own = np.diag(self.Q)[:, np.newaxis]
        nan = np.full(Y.shape, np.nan)
        return np.asarray(np.divide(self.Q @ Y, own, out=nan, where=own > 0.0))


def invert_dual(K: Matrix, alpha: float | Matrix) -> Matrix:
    """(K + αI)⁻¹; with an α of its own for each node (N,), (K + diag α)⁻¹."""
    H = K.copy()
    H[np.diag_indices_from(H)] += alpha
    return _invert(H)


def _invert(H: Matrix) -> Matrix:
    """Invert a symmetric positive definite matrix by Cholesky, with half the work of others."""
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
    Of an inverse that is not exact, what is left of the new nodes is held at α or above, as it
    would be of the exact one, so that the result stays positive definite.
    """
    n, k = inverse.shape[0], own.shape[0]
    products = inverse @ cross.T  # [N, k]
    # An asymmetry by rounding would grow from block to block, without bound.
    left = own + alpha * np.eye(k) - cross @ products  # [k, k]
    if not is_exact:
        values, vectors = np.linalg.eigh(0.5 * (left + left.T))
        left = (vectors * np.maximum(values, alpha)) @ vectors.T
    rest = _invert(left)
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


def append_ones(Z: Matrix) -> Matrix:
    """Append a column of ones to features, (n, F + 1)."""
    return np.hstack([Z, np.ones((Z.shape[0], 1))])


def invert_primal(gram: Matrix, alpha: float) -> Matrix:
    """M⁻¹ from Σ ž žᵀ."""
    M = gram.copy()
    penalised = np.arange(M.shape[0] - 1)
    M[penalised, penalised] += alpha
    return _invert(M)


def grow_primal_inverse(inverse: Matrix, Z1: Matrix) -> Matrix:
    """M⁻¹ after k more nodes, in O(F²k) (Woodbury): recursive least squares by blocks."""
    products = inverse @ Z1.T  # [F + 1, k]
    small = np.eye(Z1.shape[0]) + Z1 @ products  # [k, k]
    with use_one_blas_thread(len(small)):
        solved = np.linalg.solve(small, products.T)  # [k, F + 1]
    grown = inverse - products @ solved
    return np.asarray(0.5 * (grown + grown.T))


def compute_primal_leverages(inverse: Matrix, Z1: Matrix) -> Matrix:
    """Leverage žᵀM⁻¹ž of each row, (n,): the weight of a node's own value in its prediction."""
    return np.asarray(np.einsum("ij,ij->i", Z1 @ inverse, Z1))
