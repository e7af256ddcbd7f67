"""Pairs of rows: all or some of them, and their distances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

# Pairs of rows that are held in memory at once.
_CHUNK = 1 << 14


def compute_pair_distances(
    X: Any, first: NDArray[np.int64], second: NDArray[np.int64], *, metric: str
) -> NDArray[np.float64]:
    """Distance ‖d‖² ("sqeuclidean") or ‖d‖₁ ("l1") of rows ``first[p]`` and ``second[p]``."""
    distances = np.empty(first.size)
    for start in range(0, first.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        difference = _take_rows(X, first[part]) - _take_rows(X, second[part])
        entries = abs(difference) if metric == "l1" else difference.multiply(difference)
        distances[part] = np.asarray(entries.sum(axis=1)).ravel()
    return distances


def sample_pairs(
    n: int, n_pairs: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs i < j of n rows, or ``n_pairs`` at random if there are more.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.kernels.pairs import sample_pairs
    >>> sample_pairs(3, 10, np.random.default_rng(0))
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    if n * (n - 1) // 2 <= n_pairs:
        first, second = np.triu_indices(n, 1)
        return first.astype(np.int64), second.astype(np.int64)
    first = rng.integers(0, n, n_pairs)
    second = rng.integers(0, n - 1, n_pairs)
    return first, second + (second >= first)


def _take_rows(X: Any, rows: Any) -> Any:
    return csr_array(X[rows] if issparse(X) else np.asarray(X)[rows], dtype=np.float64)
