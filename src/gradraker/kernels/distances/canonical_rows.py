"""Checked rows for the searches: sparse or dense, in a unit that cannot overflow; equal rows."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gradraker._compiled.row_hashes import hash_dense_rows, hash_sparse_rows

Float64 = npt.NDArray[np.float64]

# Above this share of nonzeros matrix products beat a search through the columns, and a dense
# copy takes at most five times the memory of the sparse one.
DENSE_ABOVE = 0.15
# With so few columns dense rows are short, and a k-d tree finds near rows.
DENSE_UP_TO_COLUMNS = 10
# Sums of integer terms up to this size stay exact, square roots included.
EXACT_BELOW = 2.0**48
# Squares of values within 2**±SAFE_EXPONENT neither overflow nor vanish.
SAFE_EXPONENT = 300


class CanonicalRows(NamedTuple):
    """The rows of X up to a common factor, and facts that hold for all values."""

    values: Any  # [n, M], float64: an array, or CSR with ascending columns and no stored zeros
    squared: bool  # distances are Σ(x−y)², else Σ|x−y|
    integral: bool  # values are integers, and sums of their powers are exact
    signed: bool  # some values are negative


class Found(NamedTuple):
    """Two rows of X, the pairs that were compared, and how they were found."""

    i: int
    j: int
    n_checked: int
    method: str


def prepare_rows(X: Any, *, squared: bool) -> CanonicalRows:
    """Check ``X``, a CSR matrix or an array; make it sparse or dense by what it holds."""
    _check_form(X.shape, X.dtype)
    if sp.issparse(X):
        X = _to_canonical_csr(X)
        X = X.toarray() if _is_dense(X.nnz, X.shape) else X
    elif not _is_dense(int(np.count_nonzero(X)), X.shape):
        X = sp.csr_array(X)
    sparse = sp.issparse(X)
    values = _to_float64(X.data if sparse else X)
    values, integral, signed, ones = _normalise(values, X.shape[1], squared=squared)
    if sparse:
        values = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
    # |x−y| = (x−y)² for 0 and 1
    return CanonicalRows(values, squared or ones, integral, signed)


def _check_form(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2:
        raise ValueError(f"X has {len(shape)} dimension(s); a matrix with 2 is needed")
    if shape[0] < 2:
        rows = "1 row" if shape[0] == 1 else "no rows"
        raise ValueError(f"X has {rows}; at least 2 are needed to have a pair")
    if dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {dtype}; real numbers (bool, int or float) are needed")


def _is_dense(n_nonzero: int, shape: tuple[int, int]) -> bool:
    n_rows, n_columns = shape
    return n_columns <= DENSE_UP_TO_COLUMNS or n_nonzero > DENSE_ABOVE * n_rows * n_columns


def _to_canonical_csr(csr: Any) -> Any:
    """Columns ascending, each once, no stored zeros; the arrays of ``csr`` stay as they are."""
    indices, n_columns = csr.indices, int(csr.shape[1])
    if n_columns > max(10 * indices.size, 1_000_000) or n_columns > np.iinfo(np.int32).max:
        # Distances do not depend on how columns are numbered; loops need memory per column.
        used, indices = np.unique(indices, return_inverse=True)
        n_columns = max(used.size, 1)
    # A new matrix, because SciPy may have cached flags that no longer hold. Entries sum in the
    # dtype of X, so rows are those of X.toarray().
    fresh = sp.csr_array((csr.data, indices, csr.indptr), shape=(csr.shape[0], n_columns))
    if not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    if np.count_nonzero(fresh.data) < fresh.nnz:
        fresh = fresh.copy()
        fresh.eliminate_zeros()
    return fresh


def _to_float64(values: npt.NDArray[Any]) -> Float64:
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        low, high = int(values.min()), int(values.max())
        if max(-low, high) > 2**53:
            raise ValueError(
                f"X holds integers between {low} and {high}; float64 is exact only up to "
                "2**53, so scale X or pass floats"
            )
    with np.errstate(over="ignore"):  # a long double that does not fit is reported as inf
        return np.ascontiguousarray(values, dtype=np.float64)


def _normalise(
    values: Float64, n_columns: int, *, squared: bool
) -> tuple[Float64, bool, bool, bool]:
    """Scale values so that no square overflows; say if they are integers, signed, 0 and 1."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    largest = max(-low, high)
    if not np.isfinite(largest):
        raise ValueError("X contains NaN or infinity; finite values are needed")
    sizes = np.abs(values)
    smallest = float(sizes.min(initial=largest)) or float(sizes[sizes > 0.0].min(initial=largest))
    if smallest == largest:
        # One size of weight: the rows are 0 and ±1 in that unit, and sums of them are exact.
        return np.sign(values), True, low < 0.0, low == 0.0
    exponent = int(np.frexp(largest)[1]) - 1
    if abs(exponent) > (SAFE_EXPONENT if squared else 3 * SAFE_EXPONENT):
        if np.frexp(smallest)[1] - exponent < -1000:
            raise ValueError(
                f"X mixes values of size {smallest:.3g} and {largest:.3g}; float64 cannot hold "
                "both after scaling, so drop or clip the smallest"
            )
        return np.ldexp(values, -exponent), False, low < 0.0, False
    most = 4.0 * n_columns * (largest * largest if squared else largest)
    integral = most <= EXACT_BELOW and bool((np.rint(values) == values).all())
    return values, integral, low < 0.0, False


def group_equal_rows(values: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of each group of equal rows, and the group of each row.

    ``values`` is a C-ordered float64 array or a CSR matrix. Rows of a CSR matrix count as equal
    only if they store the same entries in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.kernels.distances.canonical_rows import group_equal_rows
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


def _hash_rows(values: Any, seed: int) -> npt.NDArray[np.uint64]:
    if not sp.issparse(values):
        return hash_dense_rows(values, values.view(np.uint64), seed)
    indptr, indices = values.indptr.astype(np.int64), values.indices.astype(np.int32, copy=False)
    return hash_sparse_rows(indptr, indices, _to_bits(values), seed)


def _is_equal(a: Any, b: Any) -> bool:
    if not sp.issparse(a):
        return np.array_equal(a, b, equal_nan=True)
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(_to_bits(a), _to_bits(b))
    )


def _to_bits(csr: Any) -> npt.NDArray[np.uint64]:
    return np.asarray(csr.data, dtype=np.float64).view(np.uint64)
