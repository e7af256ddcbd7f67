"""Loops that describe the values of a matrix and find its equal rows."""

import numpy as np
import numpy.typing as npt

from gradraker._compiled.jit import compiled

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]


@compiled
def describe_values(values: Float64) -> tuple[float, float, float, int, bool]:
    """Lowest and highest value, smallest nonzero size, zeros, all integers; NaN makes NaN."""
    low, high, smallest = np.inf, -np.inf, np.inf
    n_zeros = 0
    integral = True
    for value in values:
        if value != value:
            return np.nan, np.nan, np.nan, 0, False
        low = min(low, value)
        high = max(high, value)
        size = abs(value)
        if size == 0.0:
            n_zeros += 1
        elif size < smallest:
            smallest = size
        if integral and np.floor(value) != value:
            integral = False
    return low, high, smallest, n_zeros, integral


@compiled
def is_canonical(indptr: Int64, indices: Int32) -> bool:
    """Whether the columns of each row ascend strictly."""
    for i in range(indptr.size - 1):
        for t in range(indptr[i] + 1, indptr[i + 1]):
            if indices[t] <= indices[t - 1]:
                return False
    return True


@compiled
def _mix(column: int, bits: np.uint64) -> np.uint64:
    """Spread one entry over 64 bits: the mixing steps of splitmix64."""
    h = bits + np.uint64(column + 1) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@compiled
def hash_rows(indptr: Int64, indices: Int32, bits: UInt64) -> UInt64:
    """Hash of each row's (column, value) entries, equal for equal rows."""
    n_rows = indptr.size - 1
    hashes = np.zeros(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        total = np.uint64(0)
        for t in range(indptr[i], indptr[i + 1]):
            total += _mix(indices[t], bits[t])
        hashes[i] = total
    return hashes


@compiled
def _rows_equal(indptr: Int64, indices: Int32, data: Float64, i: int, j: int) -> bool:
    n_entries = indptr[i + 1] - indptr[i]
    if indptr[j + 1] - indptr[j] != n_entries:
        return False
    for t in range(n_entries):
        a, b = indptr[i] + t, indptr[j] + t
        if indices[a] != indices[b] or data[a] != data[b]:
            return False
    return True


@compiled
def first_of_equal_rows(
    indptr: Int64, indices: Int32, data: Float64, hashes: UInt64, order: Int64
) -> Bool:
    """Mark the first of each set of equal rows; ``order`` sorts ``hashes`` stably."""
    first = np.ones(order.size, dtype=np.bool_)
    start = 0
    for a in range(1, order.size):
        if hashes[order[a]] != hashes[order[start]]:
            start = a
        # Rows of one hash are neighbours; rows that differ and only collide are all kept.
        for b in range(start, a):
            if first[order[b]] and _rows_equal(indptr, indices, data, order[b], order[a]):
                first[order[a]] = False
                break
    return first


@compiled
def hash_dense_rows(values: Float64, bits: UInt64) -> UInt64:
    """Hash of each row's nonzero entries, equal for equal rows; 0.0 and -0.0 are equal."""
    hashes = np.zeros(values.shape[0], dtype=np.uint64)
    for i in range(values.shape[0]):
        total = np.uint64(0)
        for c in range(values.shape[1]):
            if values[i, c] != 0.0:
                total += _mix(c, bits[i, c])
        hashes[i] = total
    return hashes


@compiled
def first_of_equal_dense_rows(values: Float64, hashes: UInt64, order: Int64) -> Bool:
    """Mark the first of each set of equal rows; ``order`` sorts ``hashes`` stably."""
    first = np.ones(order.size, dtype=np.bool_)
    start = 0
    for a in range(1, order.size):
        if hashes[order[a]] != hashes[order[start]]:
            start = a
        for b in range(start, a):
            if first[order[b]] and np.all(values[order[b]] == values[order[a]]):
                first[order[a]] = False
                break
    return first
