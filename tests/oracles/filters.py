"""Graph filters and their shifts by loops over nodes, times and taps."""

import numpy as np
from numpy.typing import NDArray


def shift_matrix(name: str, A: NDArray[np.float64]) -> NDArray[np.float64]:
    """S by its definition, entry by entry; A is dense."""
    n = len(A)
    degree = [sum(A[i, j] for j in range(n)) for i in range(n)]
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if name == "adjacency":
                S[i, j] = A[i, j]
                continue
            S[i, j] = (degree[i] if i == j else 0.0) - A[i, j]
            if name == "normalised":
                both = degree[i] * degree[j]
                S[i, j] = S[i, j] / np.sqrt(both) if both > 0 else 0.0
    return S


def shifted(S: NDArray[np.float64], x: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """Sˡ x at every node, one product after the other."""
    for _ in range(times):
        x = np.array([sum(S[i, j] * x[j] for j in range(len(x))) for i in range(len(x))])
    return x


def filtered_rows(
    S: NDArray[np.float64], series: NDArray[np.float64], taps: int, delay: int, padding: str
) -> NDArray[np.float64]:
    """[x(t)ₙ, (S x(t − delay))ₙ, …] for each time and node."""
    rows = []
    for t in range(len(series)):
        if padding == "drop" and t < (taps - 1) * delay:
            continue
        for node in range(series.shape[1]):
            row = []
            for tap in range(taps):
                then = t - tap * delay
                row.append(shifted(S, series[then], tap)[node] if then >= 0 else 0.0)
            rows.append(row)
    return np.array(rows)
