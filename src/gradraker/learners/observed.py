"""What a model has seen: rows, values and the order of training, for explanations."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features import Rows

# Nodes learned one at a time are small arrays of several hundred bytes until they are joined.
_MOST_ONES = 1000


@dataclass(frozen=True, eq=False)
class Observed:
    """Observed nodes, one a row, and the times at which they were used.

    Attributes
    ----------
    rows : Rows
        Adjacency vectors of the n observed nodes; columns are rows of the frequency table.
    Y : array of shape (n, K)
        Values.
    order : int64 array of shape (T,)
        Observed node of each training step.
    rates : array of shape (T,)
        Learning rate of each step.
    single : bool array of shape (n,)
        Whether the features of the node were float32.
    names : tuple of n names or None
        Names of the nodes, where the caller gave any.
    """

    rows: Rows
    Y: NDArray[np.float64]
    order: NDArray[np.int64]
    rates: NDArray[np.float64]
    single: NDArray[np.bool_]
    names: tuple[Hashable, ...] | None

    def __len__(self) -> int:
        return self.rows.indptr.size - 1


class Evidence(NamedTuple):
    """What an explanation is made of: observed and tested nodes, and their features.

    Columns of ``tested`` and of ``observed.rows`` are the same referencing nodes, of which
    there are ``width``.
    """

    observed: Observed
    Z: NDArray[np.float64]  # [n_observed, 2D]
    tested: Rows
    stars: NDArray[np.float64]  # [n, 2D]
    width: int


def row_names(X: Any) -> list[Hashable] | None:
    """Names of the rows of a pandas data frame that are more than 0, …, n − 1, else None."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "columns"):
        return None
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return list(index)


class Record:
    """A growing record of what was observed.

    It costs 12 bytes an edge, 16 a training step, and 9 a node and 8 for each of its values.
    """

    def __init__(self, parts: Sequence[Observed] = ()) -> None:
        self._parts = list(parts)
        # Nodes that were learned one at a time: neighbours, weights, values, learning rate.
        self._ones: list[tuple[NDArray[np.int32], NDArray[np.float64], Any, float]] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": [self.observed()]} if self._parts or self._ones else {"parts": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def add(
        self,
        rows: Rows,
        Y: NDArray[np.float64],
        order: NDArray[np.int64],
        *,
        learning_rate: float,
        dtype: Any,
        names: Sequence[Hashable] | None,
    ) -> None:
        """Append nodes that were trained in the given order; arrays are copied."""
        self._flush()
        n = rows.indptr.size - 1
        self._parts.append(
            Observed(
                Rows(rows.indptr.copy(), rows.indices.copy(), rows.data.copy()),
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
        values: NDArray[np.float64],
        learning_rate: float,
    ) -> None:
        """Append a node that was learned by itself."""
        self._ones.append((indices, weights, values, learning_rate))
        if len(self._ones) == _MOST_ONES:
            self._flush()

    def _flush(self) -> None:
        if self._ones:
            indices, weights, values, rates = zip(*self._ones, strict=True)
            ends = np.cumsum([0, *(part.size for part in indices)], dtype=np.int64)
            n = len(self._ones)
            self._parts.append(
                Observed(
                    Rows(ends, np.concatenate(indices), np.concatenate(weights)),
                    np.array(values).reshape(n, -1),
                    np.arange(n),
                    np.array(rates),
                    np.zeros(n, dtype=np.bool_),
                    None,
                )
            )
            self._ones = []

    def observed(self) -> Observed:
        """All that was observed, joined."""
        self._flush()
        if len(self._parts) != 1:
            self._parts = [_joined(self._parts)]
        return self._parts[0]


def _joined(parts: list[Observed]) -> Observed:
    firsts = np.cumsum([0, *map(len, parts)])
    edges = np.cumsum([0, *(part.rows.indices.size for part in parts)])
    indptr = [np.zeros(1, dtype=np.int64)]
    indptr += [p.rows.indptr[1:] + edge for p, edge in zip(parts, edges, strict=False)]
    names: list[Hashable] | None = None
    if any(part.names is not None for part in parts):
        # Nodes without a name are called by their number among the observed nodes.
        names = []
        for part, first in zip(parts, firsts, strict=False):
            names += range(first, first + len(part)) if part.names is None else part.names
    return Observed(
        Rows(
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
