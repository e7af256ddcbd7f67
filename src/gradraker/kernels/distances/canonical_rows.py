"""Checked, canonical rows for the distance searches: sparse or dense, each row once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gradraker._compiled.equal_rows import (
    describe_values,
    first_of_equal_dense_rows,
    first_of_equal_rows,
    hash_dense_rows,
    hash_rows,
    is_canonical,
)

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

# Above this share of nonzeros a blocked matrix product beats a join through the columns, and
# a dense copy takes at most five times the memory of the sparse one.
DENSE_ABOVE = 0.15
# With so few columns dense rows are short, and a k-d tree finds near rows.
DENSE_UP_TO_COLUMNS = 10
# Sums of integer terms up to this size stay exact, square roots included.
EXACT_BELOW = 2.0**48
# Squares of values within 2**±SAFE_EXPONENT neither overflow nor vanish.
SAFE_EXPONENT = 300


class Found(NamedTuple):
    """The rows of X that were found, and what finding them took."""

    i: int
    j: int
    n_checked: int
    method: str


class Facts(NamedTuple):
    """What holds for all values: X = ``unit`` times the stored rows."""

    unit: float
    integral: bool  # stored values are integers, and sums of their powers are exact
    signed: bool
    binary: bool  # stored values are 0 and 1, so Σ|x−y| = Σ(x−y)²


@dataclass(frozen=True, eq=False)
class SparseRows:
    """CSR rows with ascending columns and no stored zeros; ``labels`` are the rows of X."""

    indptr: Int64
    indices: Int32
    data: Float64
    n_columns: int
    labels: Int64
    facts: Facts

    @property
    def arrays(self) -> tuple[Int64, Int32, Float64]:
        """The rows as the compiled loops take them."""
        return self.indptr, self.indices, self.data

    @property
    def csr(self) -> Any:
        """The same arrays as a SciPy array."""
        shape = (self.labels.size, self.n_columns)
        return sp.csr_array((self.data, self.indices, self.indptr), shape=shape)

    def difference(self, i: int, j: int) -> Float64:
        """Row ``i`` less row ``j`` in the columns that either holds."""
        parts = [slice(self.indptr[row], self.indptr[row + 1]) for row in (i, j)]
        columns = np.concatenate([self.indices[part] for part in parts])
        entries = np.concatenate((self.data[parts[0]], -self.data[parts[1]]))
        used, column = np.unique(columns, return_inverse=True)
        difference = np.zeros(used.size)
        np.add.at(difference, column, entries)
        return difference

    def take(self, order: Int64) -> SparseRows:
        """Rows in the given order."""
        csr = self.csr[order]
        return replace(
            self,
            indptr=csr.indptr.astype(np.int64, copy=False),
            indices=csr.indices.astype(np.int32, copy=False),
            data=csr.data,
            labels=self.labels[order],
        )


@dataclass(frozen=True, eq=False)
class DenseRows:
    """C-ordered float64 rows; ``labels`` are the rows of X."""

    values: Float64  # [n, M]
    labels: Int64
    facts: Facts

    def difference(self, i: int, j: int) -> Float64:
        """Row ``i`` less row ``j``."""
        return np.asarray(self.values[i] - self.values[j])


def prepare_rows(X: Any, *, squared: bool) -> SparseRows | DenseRows:
    """Check ``X`` and bring it to canonical rows, sparse or dense by what it holds."""
    if sp.issparse(X):
        _check_form(X.shape, X.dtype)
        csr = _canonical(X.tocsr())
        dense = csr.toarray() if _is_dense(csr.data.size, csr.shape) else None
    else:
        X = np.asarray(X)
        _check_form(X.shape, X.dtype)
        dense = X if _is_dense(int(np.count_nonzero(X)), X.shape) else None
        csr = sp.csr_array(X) if dense is None else None
    return _sparse(csr, squared=squared) if dense is None else _dense(dense, squared=squared)


@overload
def distinct_rows(rows: SparseRows) -> SparseRows: ...
@overload
def distinct_rows(rows: DenseRows) -> DenseRows: ...
def distinct_rows(rows: SparseRows | DenseRows) -> SparseRows | DenseRows:
    """The first of each set of equal rows, in the order of X."""
    first = first_of_equal(rows)
    if first.all():
        return rows
    if isinstance(rows, SparseRows):
        return rows.take(np.flatnonzero(first))
    return replace(rows, values=rows.values[first], labels=rows.labels[first])


def first_of_equal(rows: SparseRows | DenseRows) -> npt.NDArray[np.bool_]:
    """Mark the first of each set of equal rows."""
    if isinstance(rows, SparseRows):
        hashes = hash_rows(rows.indptr, rows.indices, rows.data.view(np.uint64))
        order = np.argsort(hashes, kind="stable")
        return first_of_equal_rows(rows.indptr, rows.indices, rows.data, hashes, order)
    hashes = hash_dense_rows(rows.values, rows.values.view(np.uint64))
    order = np.argsort(hashes, kind="stable")
    return first_of_equal_dense_rows(rows.values, hashes, order)


def _check_form(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2:
        raise ValueError(f"X has {len(shape)} dimension(s); a matrix with 2 is needed")
    if shape[0] < 2:
        rows = "1 row" if shape[0] == 1 else "no rows"
        raise ValueError(f"X has {rows}; at least 2 are needed to have a pair")
    if dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {dtype}; real numbers (bool, int or float) are needed")


def _as_float64(values: npt.NDArray[Any]) -> Float64:
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        low, high = int(values.min()), int(values.max())
        if max(-low, high) > 2**53:
            raise ValueError(
                f"X holds integers between {low} and {high}; float64 is exact only up to "
                "2**53, so scale X or pass floats"
            )
    with np.errstate(over="ignore"):  # a long double that does not fit is reported as inf
        return np.ascontiguousarray(values, dtype=np.float64)


def _is_dense(n_nonzero: int, shape: tuple[int, int]) -> bool:
    n_rows, n_columns = shape
    return n_columns <= DENSE_UP_TO_COLUMNS or n_nonzero > DENSE_ABOVE * n_rows * n_columns


def _canonical(csr: Any) -> Any:
    """Columns ascending, each once, no stored zeros; the arrays of ``csr`` stay as they are."""
    if not is_canonical(csr.indptr.astype(np.int64, copy=False), _narrow(csr)[0]):
        # A fresh array, because SciPy may have cached flags that no longer hold. Entries sum
        # in the dtype of X, so rows are those of X.toarray().
        csr = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape, copy=True)
        csr.sum_duplicates()
    if np.count_nonzero(csr.data) < csr.data.size:
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


def _sparse(csr: Any, *, squared: bool) -> SparseRows:
    indices, n_columns = _narrow(csr)
    data, facts = _describe(_as_float64(csr.data), n_columns, squared=squared)
    indptr = csr.indptr.astype(np.int64, copy=False)
    return SparseRows(indptr, indices, data, n_columns, np.arange(csr.shape[0]), facts)


def _dense(values: npt.NDArray[Any], *, squared: bool) -> DenseRows:
    stored, facts = _describe(_as_float64(values).ravel(), values.shape[1], squared=squared)
    return DenseRows(stored.reshape(values.shape), np.arange(values.shape[0]), facts)


def _narrow(csr: Any) -> tuple[Int32, int]:
    """32-bit column numbers; columns without entries are dropped where they are many."""
    indices, n_columns = csr.indices, int(csr.shape[1])
    if n_columns > max(10 * indices.size, 1_000_000) or n_columns > np.iinfo(np.int32).max:
        # Distances do not depend on how columns are numbered; loops need memory per column.
        used, indices = np.unique(indices, return_inverse=True)
        n_columns = max(used.size, 1)
    return indices.astype(np.int32, copy=False), n_columns


def _describe(data: Float64, n_columns: int, *, squared: bool) -> tuple[Float64, Facts]:
    """Bring values to a unit in which no square overflows, and state what holds for them."""
    low, high, smallest, _, integral = describe_values(data)
    if data.size == 0 or low == high == 0.0:
        return data, Facts(unit=1.0, integral=True, signed=False, binary=True)
    largest = max(-low, high)
    if not np.isfinite(largest):
        raise ValueError("X contains NaN or infinity; finite values are needed")
    unit = 1.0
    if smallest == largest:
        # One size of weight: the rows are 0 and ±1 in that unit, and sums of them are exact.
        unit, integral, data = largest, True, np.sign(data)
    else:
        data, unit = _rescale(data, smallest, largest, squared=squared)
        integral = integral and unit == 1.0
    scaled = largest / unit
    power = scaled * scaled if squared else scaled
    exact = integral and 4.0 * n_columns * power <= EXACT_BELOW
    signed = low < 0.0
    return data, Facts(unit, exact, signed, binary=exact and not signed and scaled == 1.0)


def _rescale(
    data: Float64, smallest: float, largest: float, *, squared: bool
) -> tuple[Float64, float]:
    exponent = int(np.frexp(largest)[1]) - 1
    if abs(exponent) <= (SAFE_EXPONENT if squared else 3 * SAFE_EXPONENT):
        return data, 1.0
    if np.frexp(smallest)[1] - exponent < -1000:
        raise ValueError(
            f"X mixes values of size {smallest:.3g} and {largest:.3g}; float64 cannot hold "
            "both after scaling, so drop or clip the smallest"
        )
    return np.ldexp(data, -exponent), float(np.ldexp(1.0, exponent))
