"""Largest distance between sparse rows: bounds from row norms, a join through columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.kernels.distances.canonical_rows import Found, SparseRows, distinct_rows
from gradraker.kernels.distances.sparse_pairs import (
    ROUNDING,
    Best,
    columns_of,
    first_pair,
    tolerance_of,
)

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

# Entries read before the search is planned anew: a fraction of a second.
FIRST_LOOK = 2e7


class _Bound(NamedTuple):
    """keys[i] + keys[j] bounds the distance of i and j, or (``root``) its square root."""

    keys: Float64
    root: bool


def largest_sparse(
    rows: SparseRows, *, squared: bool, plan: str | None = None, first_look: float = FIRST_LOOK
) -> Found | None:
    """Find the pair of rows at the largest distance, or None if all are equal.

    ``plan`` forces what is otherwise chosen by the least work: "norms", "anchors", "join".
    """
    powers, *_ = loops.row_sizes(rows.indptr, rows.data, squared)
    best = first_pair(rows, -powers, squared=squared)
    if plan is None:
        bound = _norm_bound(rows, powers, squared=squared)
        best, ended = _sweep(rows, powers, bound, best, squared=squared, max_work=first_look)
        if ended and best.distance > 0.0:
            return best.found("norms")
    rows = distinct_rows(rows)
    if rows.labels.size == 1:
        return None
    powers, *_ = loops.row_sizes(rows.indptr, rows.data, squared)
    best = _climb(rows, powers, best, squared=squared)
    norms = _norm_bound(rows, powers, squared=squared)
    anchors = _anchor_bound(rows, squared=squared)
    work = {
        "norms": _sweep_work(rows, norms, best.distance),
        "anchors": _sweep_work(rows, anchors, best.distance),
        "join": _join_work(rows, norms, best.distance),
    }
    chosen = plan or min(work, key=lambda name: work[name])
    if chosen == "join":
        best = _join(rows, powers, norms, best, squared=squared)
    else:
        bound = norms if chosen == "norms" else anchors
        best, _ = _sweep(rows, powers, bound, best, squared=squared, max_work=np.inf)
    return best.found(chosen)


def _norm_bound(rows: SparseRows, powers: Float64, *, squared: bool) -> _Bound:
    """‖a−b‖² ≤ ‖a‖² + ‖b‖² where a·b ≥ 0, else ‖a−b‖ ≤ ‖a‖ + ‖b‖; l1 adds always."""
    root = squared and rows.facts.signed
    return _Bound(np.sqrt(powers) if root else powers, root)


def _anchor_bound(rows: SparseRows, *, squared: bool) -> _Bound:
    """Measure each column from its lowest or its highest value, as suits most rows.

    From there all values of a column lie on one side, so ‖a−b‖² ≤ ‖a−t‖² + ‖b−t‖² again, now
    small where most rows share a column.
    """
    n_rows = rows.labels.size
    csc = rows.csr.tocsc()
    filled = np.flatnonzero(np.diff(csc.indptr))
    starts = csc.indptr[filled]
    low, high, totals = np.zeros((3, rows.n_columns))
    low[filled] = np.minimum.reduceat(csc.data, starts)
    high[filled] = np.maximum.reduceat(csc.data, starts)
    totals[filled] = np.add.reduceat(csc.data, starts)
    partial = np.diff(csc.indptr) < n_rows  # these columns hold zeros as well
    low[partial] = np.minimum(low[partial], 0.0)
    high[partial] = np.maximum(high[partial], 0.0)
    if squared:  # Σ(x−t)² less Σx², which is the same for both ends
        from_low = n_rows * low**2 - 2.0 * low * totals
        from_high = n_rows * high**2 - 2.0 * high * totals
    else:
        from_low, from_high = totals - n_rows * low, n_rows * high - totals
    ends = np.where(from_high < from_low, high, low)  # [M]

    anchors = ends[rows.indices]  # [nnz]
    size = np.square if squared else np.abs
    change = rows.csr
    change.data = size(rows.data - anchors) - size(anchors)
    base = float(size(ends).sum())
    keys = base + change.sum(axis=1)
    # The base cancels against the changes, so its rounding is added to stay a bound.
    return _Bound(keys + tolerance_of(rows) * base, root=False)


def _climb(rows: SparseRows, powers: Float64, best: Best, *, squared: bool) -> Best:
    """Go from a row to the one farthest from it, and on from there while that helps."""
    i = int(np.argmax(powers))
    while True:
        j = loops.farthest_row(rows.arrays, powers, i, squared, rows.n_columns)
        distance = loops.pair_distance(rows.arrays, i, j, squared, np.inf)
        n_checked = rows.labels.size - 1
        if distance <= best.distance:
            return best.updated(rows, distance, -1, -1, n_checked)
        best = best.updated(rows, distance, i, j, n_checked)
        i = j


def _candidates(rows: SparseRows, bound: _Bound, best: float) -> tuple[Int64, float]:
    """Rows that may be in a better pair, by descending key, and what two keys must exceed."""
    # Square roots round even for integers; the integers are too small to notice.
    tolerance = max(tolerance_of(rows), ROUNDING if bound.root else 0.0)
    reach = float(np.sqrt(best) if bound.root else best) * (1.0 + tolerance)
    candidates = np.flatnonzero(bound.keys + bound.keys.max() > reach)
    return candidates[np.argsort(-bound.keys[candidates], kind="stable")], reach


def _sweep_work(rows: SparseRows, bound: _Bound, best: float) -> float:
    """Entries that a sweep would read: of all pairs whose bound exceeds the best distance."""
    order, reach = _candidates(rows, bound, best)
    if order.size == 0:
        return 0.0
    keys = bound.keys[order]
    partners = order.size - np.searchsorted(keys[::-1], reach - keys, side="right")
    n_pairs = np.maximum(partners - np.arange(1, order.size + 1), 0).sum(dtype=np.float64)
    return float(n_pairs * (np.diff(rows.indptr)[order].mean() + 10.0))


def _join_work(rows: SparseRows, bound: _Bound, best: float) -> float:
    """Entries that a join would read: pairs of candidates that share a column, by column."""
    order, _ = _candidates(rows, bound, best)
    counts = np.bincount(rows.take(order).indices).astype(np.float64)
    return float((counts * counts).sum())


def _sweep(
    rows: SparseRows,
    powers: Float64,
    bound: _Bound,
    best: Best,
    *,
    squared: bool,
    max_work: float,
) -> tuple[Best, bool]:
    order, _ = _candidates(rows, bound, best.distance)
    tolerance = tolerance_of(rows)
    distance, i, j, n_checked, ended = loops.sweep_largest(
        rows.arrays, powers, order, bound.keys[order], bound.root,
        squared, rows.n_columns, max(tolerance, ROUNDING if bound.root else 0.0), tolerance,
        best.distance, max_work,
    )  # fmt: skip
    return best.updated(rows, distance, i, j, n_checked), ended


def _join(rows: SparseRows, powers: Float64, bound: _Bound, best: Best, *, squared: bool) -> Best:
    order, _ = _candidates(rows, bound, best.distance)
    if order.size == 0:
        return best
    part, tolerance = rows.take(order), tolerance_of(rows)
    distance, a, b, n_checked = loops.join_largest(
        part.arrays, columns_of(part), powers[order], bound.keys[order], bound.root,
        squared, max(tolerance, ROUNDING if bound.root else 0.0), tolerance, best.distance,
    )  # fmt: skip
    return best.updated(part, distance, a, b, n_checked)
