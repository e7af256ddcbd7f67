"""Groups of equal rows, found by hashing."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gradraker._compiled.row_hashes import hash_dense_rows, hash_sparse_rows


def group_equal_rows(values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each group of equal rows, and the group of each row.

    ``values`` is a C-ordered float64 array or a CSR matrix. Rows of a CSR matrix count as equal
    only if they store the same entries in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.kernels.equal_rows import group_equal_rows
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
