"""Extreme distances between sparse rows: bounds from row norms, joins through columns."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.bandwidth._rows import Found, SparseRows, distinct_rows

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

# Entries read before the search for the largest distance is planned anew, and pairs listed in
# a round of the search for the smallest: a fraction of a second each.
FIRST_LOOK = 2e7
PAIR_BUDGET = 1e8
# A join adds this many entries in the time of comparing one pair.
JOIN_BELOW = 32.0
ROUNDING = float(np.finfo(np.float64).eps)


class _Best(NamedTuple):
    """The best pair so far, as positions in some rows."""

    distance: float
    i: int
    j: int
    n_checked: int

    def updated(self, distance: float, i: int, j: int, n_checked: int) -> _Best:
        """Add the outcome of a loop, which gives -1 where nothing was better."""
        total = self.n_checked + n_checked
        return self._replace(n_checked=total) if i < 0 else _Best(distance, i, j, total)


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
    first, second = _two_smallest(-powers)
    best = _Best(_distance(rows, first, second, squared=squared), first, second, 1)
    if plan is None:
        bound = _norm_bound(rows, powers, squared=squared)
        best, ended = _sweep(rows, powers, bound, best, squared=squared, max_work=first_look)
        if ended and best.distance > 0.0:
            return _found(rows, best, "norms")
    rows = distinct_rows(rows)
    if rows.labels.size == 1:
        return None
    powers, *_ = loops.row_sizes(rows.indptr, rows.data, squared)
    best = _climb(rows, powers, best.n_checked, squared=squared)
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
    return _found(rows, best, chosen)


def smallest_sparse(
    rows: SparseRows,
    *,
    squared: bool,
    budget: float = PAIR_BUDGET,
    join_below: float = JOIN_BELOW,
) -> Found | None:
    """Find the pair of rows at the smallest nonzero distance, or None if all are equal."""
    rows = distinct_rows(rows)
    if rows.labels.size == 1:
        return None
    powers, sums, peaks, spreads = loops.row_sizes(rows.indptr, rows.data, squared)
    integral = rows.facts.integral
    # |Σa − Σb| bounds the l1 distance, and for integers the squared one: x² ≥ |x|.
    root = squared and not integral
    positions = np.sqrt(powers) if root else sums
    order = np.argsort(positions, kind="stable")
    rows, powers, positions = rows.take(order), powers[order], positions[order]
    best = _nearest_small_rows(rows, powers, squared=squared)
    if integral and best.distance <= 1.0:
        return _found(rows, best, "small rows")
    rare, tolerance = _rare_columns_first(rows), _tolerance(rows)
    bounds = (powers, peaks[order], spreads[order], positions)

    def search(lengths: Int64, counts: Int64, max_ahead: int) -> _Best:
        outcome = loops.search_leading(
            rare.arrays, lengths, counts, *bounds,
            root, squared, integral, tolerance, max_ahead, best.distance,
        )  # fmt: skip
        return best.updated(*outcome)

    # A first look at rows next to each other, so that thresholds start near the answer.
    best = search(*_leading(rare, np.nextafter(0.0, 1.0), squared=squared), 2)
    threshold = 0.5 if integral else best.distance * 2.0**-40
    columns = np.bincount(rows.indices).astype(np.float64)
    join_work = float((columns * columns).sum()) / 2.0
    while threshold < best.distance:
        # Pairs nearer than a threshold share a column among the entries that lead to it.
        lengths, counts, threshold = _affordable(
            rare, best.distance, 4.0 * threshold, budget, squared=squared
        )
        n_pairs = float((counts.astype(np.float64) ** 2).sum()) / 2.0
        if join_work <= join_below * n_pairs:
            part = (powers, positions, root, squared, tolerance, best.distance)
            outcome = loops.join_smallest(rows.arrays, _columns(rows), *part)
            return _found(rows, best.updated(*outcome), "join")
        best = search(lengths, counts, rows.labels.size)
    return _found(rows, best, "shared columns")


def _columns(rows: SparseRows) -> tuple[Int64, Int32, Float64]:
    """The columns, each with its rows ascending."""
    csc = rows.csr.tocsc()
    return csc.indptr.astype(np.int64), csc.indices.astype(np.int32, copy=False), csc.data


def _found(rows: SparseRows, best: _Best, method: str) -> Found:
    i, j = sorted((int(rows.labels[best.i]), int(rows.labels[best.j])))
    return Found(i, j, int(best.n_checked), method)


def _distance(rows: SparseRows, i: int, j: int, *, squared: bool) -> float:
    return loops.pair_distance(rows.arrays, i, j, squared, np.inf)


def _tolerance(rows: SparseRows) -> float:
    """Relative rounding error of a sum over the entries of two rows; none for integers."""
    longest = int(np.diff(rows.indptr).max())
    return 0.0 if rows.facts.integral else 2.0 * ROUNDING * (longest + 8)


def _two_smallest(values: Float64) -> tuple[int, int]:
    first = int(np.argmin(values))
    others = values.copy()
    others[first] = np.inf
    return first, int(np.argmin(others))


# The largest distance


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
    return _Bound(keys + _tolerance(rows) * base, root=False)


def _climb(rows: SparseRows, powers: Float64, n_checked: int, *, squared: bool) -> _Best:
    """Go from a row to the one farthest from it, and on from there while that helps."""
    i = int(np.argmax(powers))
    best = _Best(-1.0, i, i, n_checked)
    while True:
        j = loops.farthest_row(rows.arrays, powers, i, squared, rows.n_columns)
        distance = _distance(rows, i, j, squared=squared)
        n_checked = best.n_checked + rows.labels.size - 1
        if distance <= best.distance:
            return best._replace(n_checked=n_checked)
        best = _Best(distance, i, j, n_checked)
        i = j


def _candidates(rows: SparseRows, bound: _Bound, best: float) -> tuple[Int64, float]:
    """Rows that may be in a better pair, by descending key, and what two keys must exceed."""
    # Square roots round even for integers; the integers are too small to notice.
    tolerance = max(_tolerance(rows), ROUNDING if bound.root else 0.0)
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
    best: _Best,
    *,
    squared: bool,
    max_work: float,
) -> tuple[_Best, bool]:
    order, _ = _candidates(rows, bound, best.distance)
    tolerance = _tolerance(rows)
    distance, i, j, n_checked, ended = loops.sweep_largest(
        rows.arrays, powers, order, bound.keys[order], bound.root,
        squared, rows.n_columns, max(tolerance, ROUNDING if bound.root else 0.0), tolerance,
        best.distance, max_work,
    )  # fmt: skip
    return best.updated(distance, i, j, n_checked), ended


def _join(rows: SparseRows, powers: Float64, bound: _Bound, best: _Best, *, squared: bool) -> _Best:
    order, _ = _candidates(rows, bound, best.distance)
    if order.size == 0:
        return best
    part, tolerance = rows.take(order), _tolerance(rows)
    distance, a, b, n_checked = loops.join_largest(
        part.arrays, _columns(part), powers[order], bound.keys[order], bound.root,
        squared, max(tolerance, ROUNDING if bound.root else 0.0), tolerance, best.distance,
    )  # fmt: skip
    if a >= 0:
        a, b = int(order[a]), int(order[b])
    return best.updated(distance, a, b, n_checked)


# The smallest nonzero distance


def _nearest_small_rows(rows: SparseRows, powers: Float64, *, squared: bool) -> _Best:
    """Rule out rows that share no column: their distance is the sum of their powers."""
    first, second = _two_smallest(powers)
    best = _Best(_distance(rows, first, second, squared=squared), first, second, 1)
    small = np.flatnonzero(powers + powers.min() < best.distance)
    order = small[np.argsort(powers[small], kind="stable")]
    outcome = loops.smallest_of_small_rows(rows.arrays, powers, order, squared, best.distance)
    return best.updated(*outcome)


def _rare_columns_first(rows: SparseRows) -> SparseRows:
    """Renumber columns by how many rows hold them, so that rows lead with what is rare."""
    counts = np.bincount(rows.indices, minlength=rows.n_columns)
    rank = np.empty(rows.n_columns, dtype=np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(rows.n_columns, dtype=np.int32)
    csr = replace(rows, indices=rank[rows.indices]).csr.tocsc().tocsr()  # sorts in linear time
    return replace(
        rows,
        indptr=csr.indptr.astype(np.int64),
        indices=csr.indices.astype(np.int32, copy=False),
        data=csr.data,
    )


def _leading(rows: SparseRows, threshold: float, *, squared: bool) -> tuple[Int64, Int64]:
    return loops.leading_entries(rows.arrays, squared, threshold, rows.n_columns)


def _affordable(
    rows: SparseRows, best: float, at_least: float, budget: float, *, squared: bool
) -> tuple[Int64, Int64, float]:
    """Leading entries for a threshold from ``at_least`` to ``best`` within the budget."""
    threshold = best
    while True:
        lengths, counts = _leading(rows, threshold * (1.0 + _tolerance(rows)), squared=squared)
        n_pairs = (counts.astype(np.float64) ** 2).sum()
        if n_pairs <= budget or threshold / 4.0 < at_least or lengths.max() <= 1:
            return lengths, counts, threshold
        threshold /= 4.0
