"""Similarity measure and contribution weights, written straight from the equations."""

import numpy as np
from numpy.typing import NDArray


def similarity_matrix(Z: NDArray[np.float64], learning_rate: float) -> NDArray[np.float64]:
    """B_{i,j} = 2η z_iᵀ z_j, equation (bijdef)."""
    n = len(Z)
    B = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            B[i, j] = 2 * learning_rate * np.dot(Z[i], Z[j])
    return B


def contribution_weights(
    Z: NDArray[np.float64],
    order: NDArray[np.int64],
    z_star: NDArray[np.float64],
    learning_rate: float,
) -> NDArray[np.float64]:
    """F_{i,T+1} by the literal recursion (fijdef): times 1..T are order, time T+1 is z_star."""
    seen = np.vstack([np.asarray(Z)[np.asarray(order, dtype=int)], z_star])
    B = similarity_matrix(seen, learning_rate)
    last = len(seen) - 1
    F = np.zeros(last)
    for i in range(last - 1, -1, -1):
        F[i] = B[i, last]
        for k in range(i + 1, last):
            F[i] -= B[i, k] * F[k]
    return F
