"""What the searches over pairs of sparse rows share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.bandwidth._rows import Found, SparseRows

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

ROUNDING = float(np.finfo(np.float64).eps)


class Best(NamedTuple):
    """The best pair so far, as positions in some rows."""

    distance: float
    i: int
    j: int
    n_checked: int

    def updated(self, distance: float, i: int, j: int, n_checked: int) -> Best:
        """Add the outcome of a loop, which gives -1 where nothing was better."""
        total = self.n_checked + n_checked
        return self._replace(n_checked=total) if i < 0 else Best(distance, i, j, total)

    def found(self, rows: SparseRows, method: str) -> Found:
        """Name the pair by the rows of X."""
        i, j = sorted((int(rows.labels[self.i]), int(rows.labels[self.j])))
        return Found(i, j, int(self.n_checked), method)


def first_pair(rows: SparseRows, keys: Float64, *, squared: bool) -> Best:
    """Start with the two rows of the smallest keys."""
    i = int(np.argmin(keys))
    others = keys.copy()
    others[i] = np.inf
    j = int(np.argmin(others))
    return Best(loops.pair_distance(rows.arrays, i, j, squared, np.inf), i, j, 1)


def tolerance_of(rows: SparseRows) -> float:
    """Relative rounding error of a sum over the entries of two rows; none for integers."""
    longest = int(np.diff(rows.indptr).max())
    return 0.0 if rows.facts.integral else 2.0 * ROUNDING * (longest + 8)


def columns_of(rows: SparseRows) -> tuple[Int64, Int32, Float64]:
    """The columns, each with its rows ascending."""
    csc = rows.csr.tocsc()
    return csc.indptr.astype(np.int64), csc.indices.astype(np.int32, copy=False), csc.data
