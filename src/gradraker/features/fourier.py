"""Random Fourier features of rows of adjacency vectors, equation (1), in chunks.

``units`` is the table of unit frequencies (M, D), ``scale`` is 1/σ.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker._compiled.fourier_lms import compute_feature_rows, predict_rows, project_rows
from gradraker.features.parallel import count_threads, parallel_for, prefetch_map

# The features of a chunk fit in a core's own cache; those of the whole graph are never held.
_CHUNK_BYTES = 1 << 20
_MULTIPLIES_PER_BLOCK = 100_000


class RowArrays(NamedTuple):
    """The arrays of a CSR matrix in the types that the compiled loops take."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]

    def take_first(self, n: int, n_columns: int) -> csr_array:
        """Return the first n rows as a matrix."""
        end = self.indptr[n]
        parts = (self.data[:end], self.indices[:end], self.indptr[: n + 1])
        return csr_array(parts, shape=(n, n_columns))


def to_row_arrays(X: Any) -> RowArrays:
    """Return the arrays of a CSR matrix, or of the nonzero entries of a dense one."""
    matrix = X if issparse(X) else csr_array(X)
    return RowArrays(
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def count_chunk_rows(n_frequencies: int, dtype: Any) -> int:
    """Return how many rows of features fit in a chunk."""
    return max(1, _CHUNK_BYTES // (2 * n_frequencies * int(np.dtype(dtype).itemsize)))


def _count_block_rows(rows: RowArrays, n_frequencies: int) -> int:
    # Sines and cosines cost about as much as four neighbours.
    n = max(1, rows.indptr.size - 1)
    neighbours = 4 + (rows.indptr[-1] - rows.indptr[0]) / n
    return max(1, int(_MULTIPLIES_PER_BLOCK / (neighbours * n_frequencies)))


def compute_fourier_features(
    rows: RowArrays,
    units: NDArray[np.float32],
    scale: float,
    *,
    order: NDArray[np.int64] | None = None,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Features z of rows ``order`` (by default all rows), shape (len(order), 2D)."""
    order = np.arange(rows.indptr.size - 1) if order is None else order
    Z = np.empty((order.size, 2 * units.shape[1]), dtype=dtype)  # [n, 2D]

    def compute(start: int, stop: int) -> None:
        compute_feature_rows(*rows, order[start:stop], units, scale, Z[start:stop])

    parallel_for(compute, order.size, _count_block_rows(rows, units.shape[1]))
    return Z


def compute_projections(rows: RowArrays, units: NDArray[np.float32]) -> NDArray[np.float64]:
    """Projections X Ξ of all rows on unit frequencies, shape (n, D): one for all variances."""
    n = rows.indptr.size - 1
    P = np.empty((n, units.shape[1]))  # [n, D]

    def compute(start: int, stop: int) -> None:
        project_rows(*rows, start, stop, units, P)

    parallel_for(compute, n, _count_block_rows(rows, units.shape[1]))
    return P


def iterate_feature_chunks(
    rows: RowArrays,
    units: NDArray[np.float32],
    scale: float,
    *,
    order: NDArray[np.int64],
    dtype: Any = np.float64,
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Yield the rows of each chunk of ``order`` and their features, with few chunks in memory.

    The features of a chunk are valid until the next chunk is requested, which other threads
    compute meanwhile.
    """
    size = count_chunk_rows(units.shape[1], dtype)
    chunks = [order[start : start + size] for start in range(0, order.size, size)]
    if len(chunks) == 1:
        yield order, compute_fourier_features(rows, units, scale, order=order, dtype=dtype)
        return
    n_slots = min(count_threads() + 2, len(chunks))
    Z = np.empty((n_slots, size, 2 * units.shape[1]), dtype=dtype)  # [slot, chunk, 2D]

    def compute(number: int) -> None:
        chunk = chunks[number]
        compute_feature_rows(*rows, chunk, units, scale, Z[number % n_slots, : chunk.size])

    for number in prefetch_map(compute, len(chunks), n_slots):
        yield chunks[number], Z[number % n_slots, : chunks[number].size]


def predict_linear(
    rows: RowArrays,
    units: NDArray[np.float32],
    scale: float,
    *,
    theta: NDArray[np.float64],
    dtype: Any = np.float64,
) -> NDArray[np.float64]:
    """Predictions θᵀz of all rows, shape (n, K); features are computed and dropped row by row."""
    n = rows.indptr.size - 1
    predictions = np.empty((n, theta.shape[0]))  # [n, K]

    def compute(start: int, stop: int) -> None:
        features = np.empty(2 * units.shape[1], dtype=dtype)
        predict_rows(*rows, start, stop, units, scale, theta, features, predictions)

    parallel_for(compute, n, _count_block_rows(rows, units.shape[1]))
    return predictions
