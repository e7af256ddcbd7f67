"""A sparse matrix processed some rows at a time, so that little memory is used beyond it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# Entries that are held in memory at once, in double precision: 32 MB.
_ENTRIES_AT_ONCE = 1 << 22


class RowBlocks:
    """Sums and products of a CSR matrix whose arrays may be mapped from files.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.row_blocks import RowBlocks
    >>> blocks = RowBlocks(csr_array([[0.0, 2.0], [1.0, 3.0]]))
    >>> blocks.sum(axis=1), blocks.sum_squares(), blocks @ np.array([1.0, 10.0])
    (array([2., 4.]), array([ 4., 10.]), array([20., 31.]))
    """

    def __init__(self, A: csr_array) -> None:
        self._A = A

    def sum(self, axis: int) -> NDArray[np.float64]:
        """Sums of rows (axis 1) or columns (axis 0)."""
        if axis == 1:
            return self._map_blocks(lambda block: block.sum(axis=1))
        total = np.zeros(self._A.shape[1])
        for _, block in self.iterate():
            total += block.sum(axis=0)
        return total

    def sum_squares(self) -> NDArray[np.float64]:
        """Sums of the squares of each row's entries."""
        return self._map_blocks(lambda block: block.power(2).sum(axis=1))

    def __matmul__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._map_blocks(lambda block: block @ x)

    def _map_blocks(self, compute: Any) -> NDArray[np.float64]:
        found = np.empty(self._A.shape[0])
        for rows, block in self.iterate():
            found[rows] = compute(block)
        return found

    def iterate(self) -> Iterator[tuple[slice, csr_array]]:
        """Yield rows and their entries, in double precision."""
        indptr, n = self._A.indptr, self._A.shape[0]
        marks = np.arange(_ENTRIES_AT_ONCE, int(indptr[-1]), _ENTRIES_AT_ONCE)
        cuts = np.unique([0, *np.searchsorted(indptr, marks), n])
        for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            own = slice(int(indptr[start]), int(indptr[stop]))
            data = self._A.data[own].astype(np.float64)
            ends = indptr[start : stop + 1] - indptr[start]
            shape = (stop - start, self._A.shape[1])
            yield slice(start, stop), csr_array((data, self._A.indices[own], ends), shape=shape)
