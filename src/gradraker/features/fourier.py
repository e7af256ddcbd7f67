"""Random Fourier features of rows of adjacency vectors, equation (1), and their frequencies.

:class:`FrequencyTable` draws a row of unit frequencies for each referencing node when it is first
needed. ``units`` is that table (M, D), ``scale`` is 1/σ.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker._compiled.draws import draw_rows, mark_used
from gradraker._compiled.fourier_lms import compute_feature_rows, predict_rows, project_rows
from gradraker.features.engine import count_threads, parallel_for
from gradraker.features.prefetching import prefetch_map
from gradraker.graph.names import identify_references, to_plain_reference
from gradraker.kernels.shift_invariant import get_kernel

# The features of a chunk fit in a core's own cache; those of the whole graph are never held.
_CHUNK_BYTES = 1 << 20
_MULTIPLIES_PER_BLOCK = 100_000
# With fewer draws in a block, a second thread costs more than it saves.
_DRAWS_PER_BLOCK = 50_000
# A call that uses less than this part of a table, 1/32, does not scan all of it.
_SCAN_DIVISOR = 32


class FrequencyTable:
    """Unit frequencies Ξ (M × D) of a growing set of referencing nodes.

    Row m depends on the seed and on the name of node m only. The first nodes may be
    numbered (columns of an array without names); nodes with names follow. Memory is
    reserved for all rows, but only the rows that are used are written.

    Parameters
    ----------
    seed : int
        In [0, 2⁶⁴).
    n_frequencies : int
        D.
    kernel : str
        Name of the kernel.
    n_numbered : int, default=0
        Nodes named 0, 1, …, n_numbered − 1.
    named : sequence of names, default=()
        Nodes that follow them.
    """

    def __init__(
        self,
        seed: int,
        n_frequencies: int,
        kernel: str,
        *,
        n_numbered: int = 0,
        named: Sequence[Hashable] = (),
    ) -> None:
        self.seed = seed
        self.n_frequencies = int(n_frequencies)  # arithmetic with NumPy's small types overflows
        self.kernel = kernel
        self.n_numbered = n_numbered
        self.named: list[Hashable] = []
        self._rows_of_named: dict[Hashable, int] = {}
        # Rows that are drawn, by name: one-node calls look them up here.
        self.drawn_rows: dict[Hashable, int] = {}
        capacity = n_numbered + len(named)
        self.units = np.empty((capacity, n_frequencies), dtype=np.float32)  # [capacity, D]
        # [capacity]; those of numbered nodes are entered when they are drawn.
        self._identities = np.empty(capacity, dtype=np.uint64)
        self._is_drawn = np.zeros(capacity, dtype=np.bool_)  # [capacity]
        if len(named):
            self.add(named)

    def __len__(self) -> int:
        return self.n_numbered + len(self.named)

    def __getstate__(self) -> dict[str, object]:
        # Everything else follows from these.
        return {
            "seed": self.seed,
            "n_frequencies": self.n_frequencies,
            "kernel": self.kernel,
            "n_numbered": self.n_numbered,
            "named": self.named,
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the referencing nodes, in the order in which they were added."""
        numbered = range(self.n_numbered)
        return [*numbered, *self.named] if self.named else numbered

    def find(self, name: Hashable) -> int | None:
        """Return the row of a node, or None if the table does not have it."""
        row = self._rows_of_named.get(name)
        if row is not None or not isinstance(name, int | float | np.integer | np.floating):
            return row
        # Equal names are one node: 3, 3.0 and np.int32(3).
        return int(name) if 0 <= name < self.n_numbered and name == int(name) else None

    def add(self, names: Sequence[Hashable]) -> None:
        """Append nodes that are not yet in the table."""
        n_old, n_new = len(self), len(self) + len(names)
        plain = [to_plain_reference(name) for name in names]
        identities = identify_references(plain)
        if n_new > self.units.shape[0]:
            self._reserve(max(n_new, 2 * n_old))
        self._identities[n_old:n_new] = identities
        self.named.extend(plain)
        self._rows_of_named.update(zip(plain, range(n_old, n_new), strict=True))

    def drop_from(self, n: int) -> None:
        """Forget the named nodes after the first ``n`` nodes."""
        for name in self.named[n - self.n_numbered :]:
            del self._rows_of_named[name]
            self.drawn_rows.pop(name, None)
        del self.named[n - self.n_numbered :]
        self._is_drawn[n:] = False

    def _reserve(self, capacity: int) -> None:
        n = len(self)
        units = np.empty((capacity, self.n_frequencies), dtype=np.float32)
        identities = np.empty(capacity, dtype=np.uint64)
        is_drawn = np.zeros(capacity, dtype=np.bool_)
        units[:n], identities[:n] = self.units[:n], self._identities[:n]
        is_drawn[:n] = self._is_drawn[:n]
        self.units, self._identities, self._is_drawn = units, identities, is_drawn

    def has_all(self, names: Iterable[Hashable]) -> bool:
        """Whether every name is in the table."""
        return all(self.find(name) is not None for name in names)

    def find_rows(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row of each name; all must be in the table."""
        return np.array([self.find(name) for name in names], dtype=np.int32)

    def find_columns(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row of each name, and numbers beyond the table for unknown names."""
        rows = [self.find(name) for name in names]
        beyond = len(self)
        return np.array([beyond + i if r is None else r for i, r in enumerate(rows)], np.int32)

    def add_missing(self, names: Iterable[Hashable]) -> None:
        """Append those of ``names`` that are not in the table, once each."""
        self.add([name for name in dict.fromkeys(names) if self.find(name) is None])

    def prepare(self, columns: NDArray[np.int32]) -> NDArray[np.float32]:
        """Draw the rows in ``columns`` that were not drawn before; return the table."""
        used = np.zeros(len(self), dtype=np.bool_)
        if not mark_used(columns, used):
            raise IndexError(f"X has column numbers outside the {len(self)} referencing nodes")
        if columns.size < len(self) // _SCAN_DIVISOR:
            rows = np.unique(columns).astype(np.int64)
            self._draw(rows[~self._is_drawn[rows]])
        else:
            self._draw(np.flatnonzero(used & ~self._is_drawn[: len(self)]))
        return self.units

    def prepare_names(self, names: Sequence[Hashable]) -> None:
        """Draw the rows of nodes in the table and enter them in ``drawn_rows``."""
        rows = self.find_rows(names)
        self.prepare(rows)
        self.drawn_rows.update(zip(names, rows.tolist(), strict=True))

    def _draw(self, rows: NDArray[np.int64]) -> None:
        distribution = get_kernel(self.kernel).distribution
        seed = np.uint64(self.seed)
        numbered = rows[rows < self.n_numbered]
        self._identities[numbered] = numbered.view(np.uint64)  # a number is its own identity

        def draw(start: int, stop: int) -> None:
            draw_rows(seed, self._identities, rows[start:stop], distribution, self.units)

        parallel_for(draw, rows.size, _DRAWS_PER_BLOCK // self.n_frequencies)
        self._is_drawn[rows] = True

    def select_names(self, names: Sequence[Hashable]) -> "FrequencyTable":
        """Return a table of only ``names`` from the same seed; this one is not changed."""
        return FrequencyTable(self.seed, self.n_frequencies, self.kernel, named=names)

    def compute_frequencies(self, scale: float) -> NDArray[np.float64]:
        """Return the frequencies of all nodes at ``scale`` = 1/σ, shape (M, D)."""
        n = len(self)
        return self.prepare(np.arange(n, dtype=np.int32))[:n] * np.float64(scale)


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
