"""What the searches over pairs of sparse rows share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.kernels.distances.canonical_rows import Found, SparseRows

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

ROUNDING = float(np.finfo(np.float64).eps)


class Best(NamedTuple):
    """The best pair so far, as rows of X, and the pairs looked at."""

    distance: float
    i: int
    j: int
    n_checked: int

    def updated(self, rows: SparseRows, distance: float, i: int, j: int, n_checked: int) -> Best:
        """Add the outcome of a loop over ``rows``, which gives -1 where nothing was better."""
        total = self.n_checked + int(n_checked)
        if i < 0:
            return self._replace(n_checked=total)
        return Best(distance, int(rows.labels[i]), int(rows.labels[j]), total)

    def found(self, method: str) -> Found:
        """Name the pair, lower row first."""
        return Found(min(self.i, self.j), max(self.i, self.j), self.n_checked, method)


def first_pair(rows: SparseRows, keys: Float64, *, squared: bool) -> Best:
    """Start with the two rows of the smallest keys."""
    i = int(np.argmin(keys))
    others = keys.copy()
    others[i] = np.inf
    j = int(np.argmin(others))
    distance = loops.pair_distance(rows.arrays, i, j, squared, np.inf)
    return Best(distance, int(rows.labels[i]), int(rows.labels[j]), 1)


def tolerance_of(rows: SparseRows) -> float:
    """Relative rounding error of a sum over the entries of two rows; none for integers."""
    longest = int(np.diff(rows.indptr).max())
    return 0.0 if rows.facts.integral else 2.0 * ROUNDING * (longest + 8)


def columns_of(rows: SparseRows) -> tuple[Int64, Int32, Float64]:
    """The columns, each with its rows ascending."""
    csc = rows.csr.tocsc()
    return csc.indptr.astype(np.int64), csc.indices.astype(np.int32, copy=False), csc.data
