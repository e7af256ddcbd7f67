"""Rows compared: differences and distances of given pairs, groups of equal rows."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker._compiled.row_hashes import hash_dense_rows, hash_sparse_rows

# Pairs of rows that are held at once.
_CHUNK = 1 << 14


def subtract_pair(X: Any, pair: tuple[int, int]) -> NDArray[np.float64]:
    """Return the nonzero entries of the difference of two rows of X."""
    if not issparse(X):
        i, j = np.asarray(np.asarray(X)[list(pair)], dtype=np.float64)
        return np.asarray((i - j)[i != j])
    difference = _take_rows(X, [pair[0]]) - _take_rows(X, [pair[1]])
    difference.eliminate_zeros()
    return np.asarray(difference.data)


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
    """Return all pairs i < j of n rows, or ``n_pairs`` drawn at random if they are more.

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


def group_equal_rows(values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each group of equal rows, and the group of each row.

    ``values`` is a C-ordered float64 array or a CSR matrix. Rows of a CSR matrix count as equal
    only if they store the same entries in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.kernels.pairs import group_equal_rows
    >>> group_equal_rows(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    every = np.arange(values.shape[0])
    for seed in itertools.count():
        hashes = _hash_rows(values, seed)
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        if first.size == every.size:
            return every, every
        others = np.flatnonzero(first[group] != every)
        if _is_equal(values[others], values[first[group[others]]]):
            break
        # Rows that differ had one hash: try another.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)  # groups in the order of their first rows
    return first[order], rank[group]


def _hash_rows(values: Any, seed: int) -> NDArray[np.uint64]:
    if not issparse(values):
        return hash_dense_rows(values, values.view(np.uint64), seed)
    indptr, indices = values.indptr.astype(np.int64), values.indices.astype(np.int32, copy=False)
    return hash_sparse_rows(indptr, indices, _to_bits(values), seed)


def _is_equal(a: Any, b: Any) -> bool:
    if not issparse(a):
        return np.array_equal(a, b, equal_nan=True)
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(_to_bits(a), _to_bits(b))
    )


def _to_bits(csr: Any) -> NDArray[np.uint64]:
    return np.asarray(csr.data, dtype=np.float64).view(np.uint64)
