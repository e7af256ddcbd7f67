"""Extreme distances between sparse rows: bounds from row norms, and shared columns."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gradraker._compiled import pair_search as loops
from gradraker.kernels.distances.canonical_rows import (
    CanonicalRows,
    Found,
    group_equal_rows,
    search_dense,
)

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

ROUNDING = float(np.finfo(np.float64).eps)
PRODUCTS = 1 << 23  # products of two entries that are held in memory at once
DENSE_ENTRIES = 1 << 27  # a dense copy of the rows takes at most 1 GB


@dataclass
class _BestPair:
    """The best pair of rows so far, and the pairs that were compared."""

    i: int
    j: int
    distance: float
    n_checked: int = 1

    @classmethod
    def from_smallest(cls, csr: Any, keys: Float64, *, squared: bool) -> _BestPair:
        """Start with the two rows that have the smallest keys."""
        i, j = np.argpartition(keys, 1)[:2].tolist()
        return cls(i, j, loops.measure_pair(_to_arrays(csr), i, j, squared, np.inf))

    def update(self, outcome: loops.Pair, labels: Int64) -> None:
        """Take over the outcome of a loop whose row k is row ``labels[k]`` here."""
        distance, i, j, n_checked = outcome
        self.n_checked += int(n_checked)
        if i >= 0:
            self.distance, self.i, self.j = float(distance), int(labels[i]), int(labels[j])

    def to_found(self, method: str) -> Found:
        """Return the pair with the method that found it."""
        return Found(self.i, self.j, self.n_checked, method)


def find_farthest_sparse(rows: CanonicalRows) -> Found | None:
    """Find the farthest two rows, or None if all are equal.

    Rows are compared by descending norm until no two norms add up to more than the best:
    ‖a−b‖² ≤ ‖a‖² + ‖b‖² where a·b ≥ 0, and ‖a−b‖₁ ≤ ‖a‖₁ + ‖b‖₁ always.
    """
    csr = _shift_common_columns(rows.values, squared=rows.squared)
    powers = _compute_row_powers(csr, squared=rows.squared)
    tolerance = _bound_rounding(csr, rows.integral)
    best = _BestPair.from_smallest(csr, -powers, squared=rows.squared)
    reach = best.distance * (1.0 + tolerance)
    used = np.flatnonzero((powers + powers.max() > reach) | (reach == 0.0))
    used = used[group_equal_rows(csr[used])[0]]
    if best.distance == 0.0 and used.size == 1:
        return None
    used = used[np.argsort(-powers[used], kind="stable")]
    outcome = loops.search_farthest(
        _to_arrays(csr[used]), powers[used], rows.squared, csr.shape[1], tolerance, best.distance
    )
    best.update(outcome, used)
    if rows.signed and rows.squared:
        _search_opposed_rows(csr, powers, best)
    return best.to_found("norms")


def _search_opposed_rows(csr: Any, powers: Float64, best: _BestPair) -> None:
    """Search the products of rows, which are sparse, for pairs with a·b < 0.

    Only rows that are long enough take part: ‖a−b‖ ≤ ‖a‖ + ‖b‖.
    """
    roots = np.sqrt(powers)
    used = np.flatnonzero((roots + roots.max()) ** 2 * (1.0 + 8.0 * ROUNDING) > best.distance)
    csr, powers = csr[used], powers[used]
    work = np.cumsum(abs(csr.sign()) @ np.bincount(csr.indices, minlength=csr.shape[1]))  # [n]
    cuts = np.flatnonzero(np.diff(work // PRODUCTS, prepend=-1.0))
    for start, stop in itertools.pairwise([*cuts, used.size]):
        products = (csr[start:stop] @ csr.T).tocoo()
        first, second = products.row + start, products.col
        distances = powers[first] + powers[second] - 2.0 * products.data
        at = int(np.argmax(distances)) if distances.size else -1
        if at >= 0 and distances[at] > best.distance:
            best.update((distances[at], first[at], second[at], 0), used)
        best.n_checked += products.nnz // 2


def find_nearest_sparse(rows: CanonicalRows) -> Found | None:
    """Find the nearest two rows that differ, or None if all are equal.

    The distance of rows that share no column is the sum of their powers, so only the shortest of
    those are compared.
    """
    squared = rows.squared
    # Only integers keep their distances to the last bit.
    csr = _shift_common_columns(rows.values, squared=squared) if rows.integral else rows.values
    distinct, _ = group_equal_rows(csr)
    if distinct.size == 1:
        return None
    powers = np.full(csr.shape[0], np.inf)  # repeated rows count as infinitely long
    powers[distinct] = _compute_row_powers(csr, squared=squared)[distinct]
    best = _BestPair.from_smallest(csr, powers, squared=squared)
    small = np.flatnonzero(powers + powers.min() < best.distance)
    small = small[np.argsort(powers[small], kind="stable")]
    outcome = loops.search_small_rows(_to_arrays(csr), powers, small, squared, best.distance)
    best.update(outcome, np.arange(powers.size))
    if rows.integral and best.distance <= 1.0:
        return best.to_found("small rows")
    if _search_shared_columns(csr, distinct, powers, best, rows):
        return best.to_found("shared columns")
    return search_dense(rows._replace(values=rows.values.toarray()), near=True, far=False)[0]


def _search_shared_columns(
    csr: Any, distinct: Int64, powers: Float64, best: _BestPair, rows: CanonicalRows
) -> bool:
    """Compare rows that share a column; False if blocks of all pairs are faster.

    Two rows nearer than t share a column among the rarest ones that bring each to a power of t.
    """
    squared, integral, tolerance = rows.squared, rows.integral, _bound_rounding(csr, rows.integral)
    # |Σa − Σb| bounds the l1 distance, and for integers the squared one: x² ≥ |x|.
    root = squared and not integral
    positions = np.sqrt(powers) if root else csr.sum(axis=1)  # [n]
    order = distinct[np.argsort(positions[distinct], kind="stable")]
    positions = positions[order]
    slack = tolerance * float(np.sqrt(powers[order].max()) if root else powers[order].max())
    arrays, n_columns = _to_arrays(_put_rare_columns_first(csr[order])), csr.shape[1]
    # First the neighbours among rows that lead with the same column: a good start.
    for threshold, max_steps in ((np.nextafter(0.0, 1.0), 2), (None, order.size)):
        until = threshold or best.distance * (1.0 + tolerance)
        lists = loops.list_leading_entries(arrays, squared, until, n_columns)
        if threshold is None and _is_faster_by_blocks(lists[0], order.size, n_columns):
            return False
        outcome = loops.search_nearest(
            arrays, lists, positions, root, squared, integral, slack, tolerance, max_steps,
            best.distance,
        )  # fmt: skip
        best.update(outcome, order)
    return True


def _is_faster_by_blocks(starts: Int64, n_rows: int, n_columns: int) -> bool:
    """Whether blocks of all pairs take fewer nanoseconds, as measured once, than listed pairs."""
    n_listed = float((np.diff(starts).astype(np.float64) ** 2).sum()) / 2.0
    blocks = n_rows**2 / 2.0 * (2.0 + 0.02 * n_columns)
    return 10.0 * n_listed > blocks and n_rows * n_columns <= DENSE_ENTRIES


def _to_arrays(csr: Any) -> loops.Csr:
    indptr, indices = csr.indptr.astype(np.int64), csr.indices.astype(np.int32, copy=False)
    return indptr, indices, csr.data


def _compute_row_powers(csr: Any, *, squared: bool) -> Float64:
    sizes = csr.data * csr.data if squared else np.abs(csr.data)
    return np.asarray(sp.csr_array((sizes, csr.indices, csr.indptr), csr.shape).sum(axis=1))


def _bound_rounding(csr: Any, integral: bool) -> float:
    """Relative rounding error of a sum over the entries of two rows; none for integers."""
    return 0.0 if integral else 4.0 * ROUNDING * (int(np.diff(csr.indptr).max()) + 8)


def _shift_common_columns(csr: Any, *, squared: bool) -> Any:
    """Shift columns in which most rows have an entry by their lowest or highest value.

    Distances do not change, norms become small, and the values of a column have one sign.
    """
    counts = np.bincount(csr.indices, minlength=csr.shape[1])
    common = 2 * counts > csr.shape[0]
    if not common.any():
        return csr
    values = csr[:, common].toarray()  # [n, k], no more than twice as many numbers as csr holds
    low, high = values.min(axis=0), values.max(axis=0)
    size = np.square if squared else np.abs
    is_high = size(values - high).sum(axis=0) < size(values - low).sum(axis=0)
    shifted = sp.csr_array(values - np.where(is_high, high, low))
    return sp.csr_array(sp.hstack((csr[:, ~common], shifted), format="csr"))


def _put_rare_columns_first(csr: Any) -> Any:
    """Renumber columns by their number of entries, so that rows begin with the rarest columns."""
    counts = np.bincount(csr.indices, minlength=csr.shape[1])
    rank = np.empty(csr.shape[1], dtype=np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(csr.shape[1], dtype=np.int32)
    csr = sp.csr_array((csr.data, rank[csr.indices], csr.indptr), shape=csr.shape)
    return csr.tocsc().tocsr()  # sorts in linear time
