"""What a model of rows has learned from: rows, values and order, and the features of them."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.features import RowArrays
from gradraker.linear.lms import (
    contribution_weights,
    iterate_weight_batches,
    sum_weights_by_node,
)

# Nodes learned one at a time that wait, as bytes and numbers in lists, until they are joined.
_MOST_ONES = 1000


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """Known nodes, one per row, and the times at which they were used."""

    rows: RowArrays  # [n] adjacency vectors; columns are rows of the frequency table
    Y: NDArray[np.float64]  # [n, K] values
    order: NDArray[np.int64]  # [T] known node of each training step
    rates: NDArray[np.float64]  # [T] learning rate of each step
    single: NDArray[np.bool_]  # [n] whether the features of the node were float32
    names: tuple[Hashable, ...] | None  # [n] where the caller gave any

    def __len__(self) -> int:
        return self.rows.indptr.size - 1


class Evidence(NamedTuple):
    """What an explanation is made of: known and explained nodes, and their features.

    It is a snapshot that further training does not change.
    Columns of ``tested`` and of ``learned.rows`` are the same referencing nodes, of which
    there are ``width``.
    """

    learned: LearnedRows
    Z: NDArray[np.float64]  # [n_known, 2D]
    tested: RowArrays
    stars: NDArray[np.float64]  # [n, 2D]
    width: int

    def compute_weights_by_time(self) -> NDArray[np.float64]:
        """F of all explained nodes, (n, T)."""
        weights = np.empty((self.stars.shape[0], self.learned.order.size))
        for batch, part in self.iterate_batches():
            weights[batch] = part
        return weights

    def compute_row_by_time(self, row: int) -> NDArray[np.float64]:
        """F of one explained node, (T,)."""
        return contribution_weights(self.Z, self.learned.order, self.stars[row], self.learned.rates)

    def sum_weights(self) -> NDArray[np.float64]:
        """F of all explained nodes, summed over the steps of each known node, (n, n_known)."""
        return sum_weights_by_node(self.Z, self.learned.order, self.stars, self.learned.rates)

    def measure_squared_distances(self) -> NDArray[np.float64]:
        """‖a − b‖² between explained rows a and learned rows b, (n, n_known)."""
        A, B = (
            csr_array((rows.data, rows.indices, rows.indptr), (rows.indptr.size - 1, self.width))
            for rows in (self.tested, self.learned.rows)
        )
        norms_a = np.asarray(A.multiply(A).sum(axis=1)).reshape(-1, 1)
        norms_b = np.asarray(B.multiply(B).sum(axis=1)).reshape(1, -1)
        distances = norms_a + norms_b - 2.0 * (A @ B.T).toarray()
        # The difference of nearly equal numbers may end just below 0.
        return np.asarray(np.maximum(distances, 0.0))

    def iterate_batches(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield explained nodes and their weights by time, some nodes at a time."""
        learned = self.learned
        return iterate_weight_batches(self.Z, learned.order, self.stars, learned.rates)


class Record:
    """A growing record of the rows that were learned.

    It costs 12 bytes an edge, 16 a training step, and 9 a node and 8 for each of its values.
    """

    def __init__(self, parts: Sequence[LearnedRows] = ()) -> None:
        self._parts = list(parts)
        self._clear_ones()

    def _clear_ones(self) -> None:
        # Nodes that were learned one at a time. Bytes are appended in 0.1 µs; arrays that are
        # kept would cost learn_one a fifth of its time.
        self._indices, self._weights = bytearray(), bytearray()
        self._sizes: list[int] = []
        self._values: list[float | NDArray[np.float64]] = []
        self._rates: list[float] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": [self.to_learned_rows()]} if self._parts or self._sizes else {"parts": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def add(
        self,
        rows: RowArrays,
        Y: NDArray[np.float64],
        order: NDArray[np.int64],
        learning_rate: float,
        dtype: Any,
        names: Sequence[Hashable] | None,
    ) -> None:
        """Append nodes that were trained in the given order; arrays are copied."""
        self._flush()
        n = rows.indptr.size - 1
        self._parts.append(
            LearnedRows(
                RowArrays(rows.indptr.copy(), rows.indices.copy(), rows.data.copy()),
                Y.copy(),
                order.copy(),
                np.full(order.size, learning_rate),
                np.full(n, np.dtype(dtype) == np.float32),
                None if names is None else tuple(names),
            )
        )

    def add_one(
        self,
        indices: NDArray[np.int32],
        weights: NDArray[np.float64],
        values: float | NDArray[np.float64],
        learning_rate: float,
    ) -> None:
        """Append a node that was learned by itself."""
        self._indices.extend(indices)
        self._weights.extend(weights)
        self._sizes.append(indices.size)
        self._values.append(values)
        self._rates.append(learning_rate)
        if len(self._sizes) == _MOST_ONES:
            self._flush()

    def _flush(self) -> None:
        if self._sizes:
            n = len(self._sizes)
            indices = np.frombuffer(self._indices, dtype=np.int32)
            weights = np.frombuffer(self._weights, dtype=np.float64)
            self._parts.append(
                LearnedRows(
                    RowArrays(np.cumsum([0, *self._sizes], dtype=np.int64), indices, weights),
                    np.array(self._values).reshape(n, -1),
                    np.arange(n),
                    np.array(self._rates),
                    np.zeros(n, dtype=np.bool_),
                    None,
                )
            )
            self._clear_ones()

    def to_learned_rows(self) -> LearnedRows:
        """All learned rows together."""
        self._flush()
        if len(self._parts) != 1:
            self._parts = [_join_parts(self._parts)]
        return self._parts[0]


def _join_parts(parts: list[LearnedRows]) -> LearnedRows:
    firsts = np.cumsum([0, *map(len, parts)])
    edges = np.cumsum([0, *(part.rows.indices.size for part in parts)])
    indptr = [np.zeros(1, dtype=np.int64)]
    indptr += [p.rows.indptr[1:] + edge for p, edge in zip(parts, edges, strict=False)]
    names: list[Hashable] | None = None
    if any(part.names is not None for part in parts):
        # Nodes without a name are called by their number among the known nodes.
        names = []
        for part, first in zip(parts, firsts, strict=False):
            names += range(first, first + len(part)) if part.names is None else part.names
    return LearnedRows(
        RowArrays(
            np.concatenate(indptr),
            np.concatenate([part.rows.indices for part in parts]),
            np.concatenate([part.rows.data for part in parts]),
        ),
        np.concatenate([part.Y for part in parts]),
        np.concatenate([p.order + first for p, first in zip(parts, firsts, strict=False)]),
        np.concatenate([part.rates for part in parts]),
        np.concatenate([part.single for part in parts]),
        None if names is None else tuple(names),
    )
