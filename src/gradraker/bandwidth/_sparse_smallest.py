"""Smallest nonzero distance between sparse rows, through the columns that they share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.bandwidth._rows import Found, SparseRows, distinct_rows
from gradraker.bandwidth._sparse_pairs import Best, columns_of, first_pair, tolerance_of

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


class Limits(NamedTuple):
    """When to change the plan; tests set them to force one."""

    pairs: float = 1e8  # pairs listed in one round: a fraction of a second
    join_below: float = 32.0  # entries a join adds in the time of comparing one pair
    cheap_join: float = 1e8  # entries below which columns are not worth leaving out


def smallest_sparse(
    rows: SparseRows, *, squared: bool, limits: Limits | None = None
) -> Found | None:
    """Find the pair of rows at the smallest nonzero distance, or None if all are equal."""
    limits = limits or Limits()
    rows = distinct_rows(rows)
    if rows.labels.size == 1:
        return None
    powers, sums, peaks, spreads = loops.row_sizes(rows.indptr, rows.data, squared)
    integral = rows.facts.integral
    # |Σa − Σb| bounds the l1 distance, and for integers the squared one: x² ≥ |x|.
    root = squared and not integral
    positions = np.sqrt(powers) if root else sums
    order = np.argsort(positions, kind="stable")
    rows, positions = rows.take(order), positions[order]
    powers, peaks, spreads = powers[order], peaks[order], spreads[order]
    # Rows that share no column are as far apart as their powers add up to.
    best = first_pair(rows, powers, squared=squared)
    best = _search_small(rows, powers, best, squared=squared)
    if integral and best.distance <= 1.0:
        return best.found(rows, "small rows")
    rare, tolerance = _rare_columns_first(rows), tolerance_of(rows)
    slack = tolerance * float(np.sqrt(powers.max()) if root else powers.max())

    def search(best: Best, lengths: Int64, counts: Int64, max_ahead: int) -> Best:
        outcome = loops.search_leading(
            rare.arrays, lengths, counts, powers, peaks, spreads, positions, root, squared,
            integral, slack, tolerance, max_ahead, best.distance,
        )  # fmt: skip
        return best.updated(*outcome)

    # A first look at rows next to each other, so that thresholds start near the answer.
    best = search(best, *_leading(rare, np.nextafter(0.0, 1.0), squared=squared), 2)
    light = _without_common_columns(rare, powers, best.distance, limits, squared=squared)
    threshold = 0.5 if integral else best.distance * 2.0**-40
    while threshold < best.distance:
        # Pairs nearer than a threshold share a column among the entries that lead to it.
        lengths, counts, threshold = _affordable(
            rare, best.distance, 4.0 * threshold, limits.pairs, squared=squared
        )
        if light.work <= limits.join_below * _n_pairs(counts):
            best = _search_small(rare, light.powers, best, squared=squared)
            outcome = loops.join_smallest(
                rare.arrays, light.rows.arrays, columns_of(light.rows), light.powers,
                positions, root, squared, slack, tolerance, best.distance,
            )  # fmt: skip
            return best.updated(*outcome).found(rows, "join")
        best = search(best, lengths, counts, rows.labels.size)
    return best.found(rows, "shared columns")


class _Light(NamedTuple):
    """Rows without the commonest columns, their powers, and the work of a join over them."""

    rows: SparseRows
    powers: Float64
    work: float


def _without_common_columns(
    rare: SparseRows, powers: Float64, best: float, limits: Limits, *, squared: bool
) -> _Light:
    """Leave out the commonest columns where they make most of the work.

    That only lowers distances, so a pair that stays above the best one without them is done.
    Rows that share none of the other columns are then as far apart as what is left of their
    powers: where those sums are below the best distance, pairs must be compared one by one.
    """
    counts = np.bincount(rare.indices, minlength=rare.n_columns)
    light = _Light(rare, powers, _n_pairs(counts))
    n_common = 1
    while light.work > limits.cheap_join and n_common < rare.n_columns:
        csr = rare.csr[:, : rare.n_columns - n_common]
        rows = replace(
            rare,
            indptr=csr.indptr.astype(np.int64, copy=False),
            indices=csr.indices.astype(np.int32, copy=False),
            data=csr.data,
            n_columns=csr.shape[1],
        )
        rest, *_ = loops.row_sizes(rows.indptr, rows.data, squared)
        rest_sorted = np.sort(rest)
        partners = np.searchsorted(rest_sorted, best - rest_sorted)  # [n]
        n_small = np.maximum(partners - np.arange(1, rest.size + 1), 0).sum(dtype=np.float64)
        work = _n_pairs(counts[:-n_common]) + limits.join_below * float(n_small)
        if work >= light.work:
            break
        light = _Light(rows, rest, work)
        n_common *= 2
    return light


def _n_pairs(counts: Int64) -> float:
    """Pairs of entries in one column."""
    return float((counts.astype(np.float64) ** 2).sum()) / 2.0


def _search_small(rows: SparseRows, powers: Float64, best: Best, *, squared: bool) -> Best:
    """Look at pairs of rows whose powers add up to less than the best distance."""
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
        lengths, counts = _leading(rows, threshold * (1.0 + tolerance_of(rows)), squared=squared)
        if _n_pairs(counts) <= budget or threshold / 4.0 < at_least or lengths.max() <= 1:
            return lengths, counts, threshold
        threshold /= 4.0
