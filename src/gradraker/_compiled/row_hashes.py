"""Loops that hash the rows of a matrix, so that equal rows are found without all pairs."""

import numpy as np
import numpy.typing as npt

from gradraker._compiled.jit import compile_loop

Float64 = npt.NDArray[np.float64]
UInt64 = npt.NDArray[np.uint64]


@compile_loop
def _mix(z: np.uint64) -> np.uint64:
    """Spread 64 bits over 64 bits: the mixing steps of splitmix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compile_loop
def _add_entry(total: np.uint64, column: int, bits: np.uint64) -> np.uint64:
    """Hash of the entries so far and one more; their order counts."""
    return _mix(total + bits + np.uint64(column + 1) * np.uint64(0x9E3779B97F4A7C15))


@compile_loop
def hash_sparse_rows(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], bits: UInt64, seed: int
) -> UInt64:
    """Hash of the (column, value) entries of each row of a CSR matrix, as they are stored."""
    hashes = np.full(indptr.size - 1, np.uint64(seed))
    for i in range(hashes.size):
        for t in range(indptr[i], indptr[i + 1]):
            hashes[i] = _add_entry(hashes[i], indices[t], bits[t])
    return hashes


@compile_loop
def hash_dense_rows(values: Float64, bits: UInt64, seed: int) -> UInt64:
    """Hash of the nonzero entries of each row, equal for equal rows; 0.0 and -0.0 are equal."""
    hashes = np.full(values.shape[0], np.uint64(seed))
    for i in range(values.shape[0]):
        for c in range(values.shape[1]):
            if values[i, c] != 0.0:
                hashes[i] = _add_entry(hashes[i], c, bits[i, c])
    return hashes
