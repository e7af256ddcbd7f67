"""What a model of rows has learned from, and the features that explain its predictions."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features import RowArrays


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """Known nodes, one a row, and the times at which they were used.

    Attributes
    ----------
    rows : RowArrays
        Adjacency vectors of the n known nodes; columns are rows of the frequency table.
    Y : array of shape (n, K)
        Values.
    order : int64 array of shape (T,)
        Known node of each training step.
    rates : array of shape (T,)
        Learning rate of each step.
    single : bool array of shape (n,)
        Whether the features of the node were float32.
    names : tuple of n names or None
        Names of the nodes, where the caller gave any.
    """

    rows: RowArrays
    Y: NDArray[np.float64]
    order: NDArray[np.int64]
    rates: NDArray[np.float64]
    single: NDArray[np.bool_]
    names: tuple[Hashable, ...] | None

    def __len__(self) -> int:
        return self.rows.indptr.size - 1


class Evidence(NamedTuple):
    """What an explanation is made of: known and explained nodes, and their features.

    Columns of ``tested`` and of ``learned.rows`` are the same referencing nodes, of which
    there are ``width``.
    """

    learned: LearnedRows
    Z: NDArray[np.float64]  # [n_known, 2D]
    tested: RowArrays
    stars: NDArray[np.float64]  # [n, 2D]
    width: int
