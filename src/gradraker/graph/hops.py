"""Rows of powers of an adjacency matrix, with their size known before they are computed."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# Entries of 12 bytes: 2.4 GB. A user with more memory can go one hop at a time.
MAX_ENTRIES = 200_000_000


def walks(
    full: sp.csr_array,
    rows: NDArray[np.int64] | None,
    columns: NDArray[np.int64] | None,
    hops: int,
) -> sp.csr_array:
    """Return the chosen rows and columns of the hops-th power of a matrix, in canonical form."""
    result = full if rows is None else full[rows]
    for hop in range(2, hops + 1):
        step = full[:, columns] if hop == hops and columns is not None else full
        _check_size(result, step, hop)
        result = result @ step
    if columns is not None and hops == 1:
        result = result[:, columns]
    result.sum_duplicates()
    result.eliminate_zeros()
    if not np.isfinite(result.data).all():
        raise ValueError(f"weights overflow after hops={hops}: scale the weights down")
    return result


def largest_size(left: sp.csr_array, right: sp.csr_array) -> int:
    """Upper bound of the number of entries of ``left @ right``.

    Row i of the product has at most as many entries as the rows of ``right`` that row i of
    ``left`` picks, and at most one for each column.
    """
    lengths = np.diff(right.indptr).astype(np.float64)
    picks: Any = sp.csr_array((np.ones(left.nnz), left.indices, left.indptr), shape=left.shape)
    return int(np.minimum(picks @ lengths, right.shape[1]).sum())


def _check_size(left: sp.csr_array, right: sp.csr_array, hop: int) -> None:
    size = largest_size(left, right)
    if size > MAX_ENTRIES:
        raise ValueError(
            f"hops: {hop} hops give up to {size:.2g} entries ({12e-9 * size:.3g} GB), more than "
            f"{MAX_ENTRIES:.2g}: ask for fewer hops, nodes or references"
        )
