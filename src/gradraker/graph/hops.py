"""Rows of powers of an adjacency matrix, with their size known before they are computed."""

from collections.abc import Collection
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.exceptions import NegativeWeightError

# Entries of 12 bytes each: 2.4 GB. A user with more memory can take one hop at a time.
MAX_ENTRIES = 200_000_000

# How walks are counted; docs/theory/many-hops.md has the equations.
HOP_WEIGHTS = ("count", "binary", "random_walk")


def count_walks(
    full: sp.csr_array,
    rows: NDArray[np.int64] | None,
    columns: NDArray[np.int64] | None,
    lengths: Collection[int],
    hop_weights: str = "count",
) -> list[sp.csr_array]:
    """Return the chosen rows and columns of powers of a matrix, in canonical form.

    Parameters
    ----------
    full : csr_array of shape (n, m)
        A, with row n the edges of node n; square if a length is above 1.
    rows, columns : int arrays, optional
        Which rows and columns to return; default all.
    lengths : increasing integers of at least 1
        Lengths of walks: one result for each.
    hop_weights : {"count", "binary", "random_walk"}
        Rows of Aᵏ; 1 where a walk exists; rows of Pᵏ, where P is A with rows of sum 1.
    """
    if hop_weights == "random_walk":
        full = normalise_rows(full)
    elif hop_weights == "binary":
        full = _to_ones(full)
    last = max(lengths)
    found = []
    reached = full if rows is None else full[rows]
    for length in range(1, last + 1):
        narrowed = columns is None
        if length > 1:
            # The longest walks need only end in the chosen columns.
            narrowed = narrowed or length == last
            step = full[:, columns] if length == last and columns is not None else full
            size = bound_product_size(reached, step)
            if size > MAX_ENTRIES:
                raise ValueError(
                    f"hops: {length} hops give up to {size:.2g} entries ({12e-9 * size:.3g} GB), "
                    f"more than {MAX_ENTRIES:.2g}: ask for fewer hops, nodes or references"
                )
            reached = reached @ step
            if hop_weights == "binary":
                reached = _to_ones(reached)
        if length in lengths:
            chosen = reached if narrowed else reached[:, columns]
            chosen.sum_duplicates()
            chosen.eliminate_zeros()
            if not np.isfinite(chosen.data).all():
                raise ValueError(f"weights overflow after hops={length}: scale the weights down")
            found.append(chosen)
    return found


def normalise_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix of nonnegative entries with each row divided by its sum.

    Rows without entries stay 0: a random walk that gets there ends.
    """
    if len(matrix.data) and matrix.data.min() < 0.0:
        raise NegativeWeightError(
            float(matrix.data.min()),
            "pass weight=False to ignore weights, or count walks in another way",
        )
    with np.errstate(over="ignore"):  # checked below
        sums = np.asarray(matrix.sum(axis=1)).ravel()
    degrees = np.repeat(sums, np.diff(matrix.indptr))  # of the row of each entry
    if not np.isfinite(degrees).all():
        raise ValueError("the weights of a node overflow when added: scale the weights down")
    shares = np.divide(matrix.data, degrees, out=np.zeros(len(degrees)), where=degrees > 0.0)
    return sp.csr_array((shares, matrix.indices, matrix.indptr), shape=matrix.shape)


def _to_ones(matrix: sp.csr_array) -> sp.csr_array:
    """Return the same entries, each 1, without stored entries of 0."""
    kept = matrix.copy()
    kept.sum_duplicates()
    kept.eliminate_zeros()
    kept.data[:] = 1.0
    return kept


def bound_product_size(left: sp.csr_array, right: sp.csr_array) -> int:
    """Return an upper bound of the number of entries of ``left @ right``.

    Row i of the product has at most as many entries as the rows of ``right`` that row i of
    ``left`` picks, and at most one for each column.
    """
    lengths = np.diff(right.indptr).astype(np.float64)
    picks: Any = sp.csr_array((np.ones(left.nnz), left.indices, left.indptr), shape=left.shape)
    return int(np.minimum(picks @ lengths, right.shape[1]).sum())
