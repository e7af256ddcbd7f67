"""Random Fourier features of rows of adjacency vectors, equation (1), in chunks.

``units`` is the table of unit frequencies (M, D), ``scale`` is 1/σ.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker._compiled.skg import feature_rows, predict_rows, project_rows
from gradraker.features.parallel import computed_ahead, n_threads, over_rows

# Features of a chunk stay in a core's own cache; the whole graph's are never made.
_CHUNK_BYTES = 1 << 20
_MULTIPLIES_A_BLOCK = 100_000


class Rows(NamedTuple):
    """Rows of a CSR matrix as the compiled loops take them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]

    def first(self, n: int, n_columns: int) -> csr_array:
        """The first n rows as a matrix."""
        end = self.indptr[n]
        parts = (self.data[:end], self.indices[:end], self.indptr[: n + 1])
        return csr_array(parts, shape=(n, n_columns))


def as_rows(X: Any) -> Rows:
    """Return the arrays of a CSR matrix, or of the nonzero entries of a dense one."""
    matrix = X if issparse(X) else csr_array(X)
    return Rows(
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def rows_a_chunk(n_frequencies: int, dtype: Any) -> int:
    """Return how many rows of features fit in one chunk."""
    return max(1, _CHUNK_BYTES // (2 * n_frequencies * int(np.dtype(dtype).itemsize)))


def _rows_a_block(rows: Rows, n_frequencies: int) -> int:
    # Sines and cosines cost about as much as four neighbours.
    n = max(1, rows.indptr.size - 1)
    neighbours = 4 + (rows.indptr[-1] - rows.indptr[0]) / n
    return max(1, int(_MULTIPLIES_A_BLOCK / (neighbours * n_frequencies)))


def fourier_features(
    rows: Rows,
    units: NDArray[np.float32],
    scale: float,
    *,
    order: NDArray[np.int64] | None = None,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Features z of rows ``order`` (all of them by default), shape (len(order), 2D)."""
    order = np.arange(rows.indptr.size - 1) if order is None else order
    Z = np.empty((order.size, 2 * units.shape[1]), dtype=dtype)  # [n, 2D]

    def compute(start: int, stop: int) -> None:
        feature_rows(*rows, order[start:stop], units, scale, Z[start:stop])

    over_rows(compute, order.size, _rows_a_block(rows, units.shape[1]))
    return Z


def projections(rows: Rows, units: NDArray[np.float32]) -> NDArray[np.float64]:
    """Projections X Ξ of all rows on unit frequencies, shape (n, D): one for all variances."""
    n = rows.indptr.size - 1
    P = np.empty((n, units.shape[1]))  # [n, D]

    def compute(start: int, stop: int) -> None:
        project_rows(*rows, start, stop, units, P)

    over_rows(compute, n, _rows_a_block(rows, units.shape[1]))
    return P


def feature_chunks(
    rows: Rows,
    units: NDArray[np.float32],
    scale: float,
    *,
    order: NDArray[np.int64],
    dtype: Any = np.float64,
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Yield (rows of a chunk, their features) over ``order``, a few chunks in memory at a time.

    The features of a chunk are valid until the next is asked for. They are computed ahead, by
    other threads, while the caller is busy with those that it has.
    """
    size = rows_a_chunk(units.shape[1], dtype)
    chunks = [order[start : start + size] for start in range(0, order.size, size)]
    if len(chunks) == 1:
        yield order, fourier_features(rows, units, scale, order=order, dtype=dtype)
        return
    n_slots = min(n_threads() + 2, len(chunks))
    Z = np.empty((n_slots, size, 2 * units.shape[1]), dtype=dtype)  # [slot, chunk, 2D]

    def compute(number: int) -> None:
        chunk = chunks[number]
        feature_rows(*rows, chunk, units, scale, Z[number % n_slots, : chunk.size])

    for number in computed_ahead(compute, len(chunks), n_slots):
        yield chunks[number], Z[number % n_slots, : chunks[number].size]


def linear_predictions(
    rows: Rows,
    units: NDArray[np.float32],
    scale: float,
    *,
    theta: NDArray[np.float64],
    dtype: Any = np.float64,
) -> NDArray[np.float64]:
    """Predictions θᵀz of all rows, shape (n, K); features are made and dropped row by row."""
    n = rows.indptr.size - 1
    predictions = np.empty((n, theta.shape[0]))  # [n, K]

    def compute(start: int, stop: int) -> None:
        features = np.empty(2 * units.shape[1], dtype=dtype)
        predict_rows(*rows, start, stop, units, scale, theta, features, predictions)

    over_rows(compute, n, _rows_a_block(rows, units.shape[1]))
    return predictions
