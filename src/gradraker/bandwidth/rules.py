"""Rules that choose σ² from adjacency vectors without training anything."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array


def theory_sigma2(X: Any, *, n_frequencies: int) -> float:
    """Algorithm 1 of the paper: σ²_ed = d²max / ln(2D), for the Gaussian kernel."""
    A = csr_array(X, dtype=np.float64)
    norms = np.asarray(A.multiply(A).sum(axis=1)).ravel()
    largest = 0.0
    for start in range(0, A.shape[0], 256):
        block = A[start : start + 256]
        d2 = norms[start : start + 256, None] + norms[None, :] - 2.0 * (block @ A.T).toarray()
        largest = max(largest, float(d2.max()))
    if A.shape[0] < 2 or largest <= 0.0:
        raise ValueError(
            "sigma2='theory' needs at least two distinct rows of X, "
            f"got n_samples = {A.shape[0]}{' equal rows' if A.shape[0] > 1 else ''}; "
            "give sigma2 as a number"
        )
    return largest / float(np.log(2 * n_frequencies))
