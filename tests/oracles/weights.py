"""Similarity measure and contribution weights, written straight from the equations."""

import numpy as np
from numpy.typing import NDArray


def similarity_matrix(Z: NDArray[np.float64], learning_rate: float) -> NDArray[np.float64]:
    """B_{i,j} = 2η z_iᵀ z_j, equation (bijdef)."""
    B: NDArray[np.float64] = 2 * learning_rate * Z @ Z.T
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
        F[i] = B[i, last] - np.dot(B[i, i + 1 : last], F[i + 1 :])
    return F
