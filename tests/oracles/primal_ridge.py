"""Ridge regression on features instead of kernels: the primal form, to compare the dual one with.

With ž = [z, 1], M = Σ ž žᵀ + diag(α, …, α, 0), a prediction is žᵀM⁻¹Σ ž_i y_i, and the
residual of node i when it is left out is e_i / (1 − ž_iᵀM⁻¹ž_i).
"""

from typing import Any

import numpy as np

from gradraker.linear.ridge import invert_dual


def append_ones(Z: Any) -> Any:
    """Append a column of ones to features, (n, F + 1)."""
    return np.hstack([Z, np.ones((Z.shape[0], 1))])


def invert_primal(gram: Any, alpha: float) -> Any:
    """M⁻¹ from Σ ž žᵀ."""
    return invert_dual(gram, np.append(np.full(len(gram) - 1, alpha), 0.0))


def grow_primal_inverse(inverse: Any, Z1: Any) -> Any:
    """M⁻¹ after k more nodes (Woodbury): recursive least squares by blocks."""
    products = inverse @ Z1.T  # [F + 1, k]
    small = np.eye(Z1.shape[0]) + Z1 @ products  # [k, k]
    return inverse - products @ np.linalg.solve(small, products.T)


def compute_primal_leverages(inverse: Any, Z1: Any) -> Any:
    """Leverage žᵀM⁻¹ž of each row, (n,): the weight of a node's own value in its prediction."""
    return np.einsum("ij,ij->i", Z1 @ inverse, Z1)
