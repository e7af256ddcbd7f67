"""Ridge regression with an unpenalised intercept: closed forms over arrays.

It minimises Σ (y_i − μ − θᵀz_i)² + α ‖θ‖² and is linear in y: a prediction is Σ w_i y_i with
weights that sum to 1. This is the *dual* form, on the kernel matrix K = Z Zᵀ of N nodes; its
inverse grows by blocks of nodes, so recursive least squares gives the batch solution.

With H = K + αI, h = H⁻¹1 and c = 1ᵀh, let Q = H⁻¹ − hhᵀ/c and g = h/c. The prediction
at a node whose kernel values to the N nodes are k is kᵀQy + gᵀy, and the residual of
node i when it is left out is (Qy)_i / Q_ii.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from gradraker.features.parallel import use_one_blas_thread

Matrix = NDArray[np.float64]


class Dual(NamedTuple):
    """The smoother of kernel ridge: predictions are k @ (Q @ y) + g @ y."""

    Q: Matrix  # [N, N]
    g: Matrix  # [N]


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
