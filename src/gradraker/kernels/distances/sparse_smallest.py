"""Smallest nonzero distance between sparse rows, through the columns that they share."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import distances as loops
from gradraker.kernels.distances.canonical_rows import Found, SparseRows, first_of_equal
from gradraker.kernels.distances.sparse_pairs import Best, columns_of, first_pair, tolerance_of

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


class Limits(NamedTuple):
    """When to change the plan; tests set them to force one."""

    first_look: float = 1e6  # work before a join is thought of: some hundredths of a second
    planning: float = 20.0  # work per entry that thinking of a join takes, about
    pairs: float = 1e8  # pairs listed in one round, at most
    join_below: float = 1.0  # work of a join, relative to that of listing pairs
    cheap_join: float = 1e7  # entries below which columns are not worth leaving out


def smallest_sparse(
    rows: SparseRows, *, squared: bool, limits: Limits | None = None
) -> Found | None:
    """Find the pair of rows at the smallest nonzero distance, or None if all are equal."""
    first = first_of_equal(rows)
    if np.count_nonzero(first) == 1:
        return None
    powers, sums, peaks, spreads = loops.row_sizes(rows.indptr, rows.data, squared)
    # Rows that share no column are as far apart as their powers add up to.
    distinct = np.where(first, powers, np.inf)
    best = first_pair(rows, distinct, squared=squared)
    best = _search_small(rows, distinct, best, squared=squared)
    if rows.facts.integral and best.distance <= 1.0:
        return best.found("small rows")
    # |Σa − Σb| bounds the l1 distance, and for integers the squared one: x² ≥ |x|.
    root = squared and not rows.facts.integral
    positions = np.sqrt(powers) if root else sums
    order = np.flatnonzero(first)
    order = order[np.argsort(positions[order], kind="stable")]
    line = _Line(
        rows=_rare_columns_first(rows.take(order)),
        powers=powers[order],
        peaks=peaks[order],
        spreads=spreads[order],
        positions=positions[order],
        root=root,
        slack=tolerance_of(rows) * float(np.sqrt(powers.max()) if root else powers.max()),
    )
    return _search_line(line, best, limits or Limits(), squared=squared)


class _Line(NamedTuple):
    """Distinct rows by ascending position, each led by its rarest columns."""

    rows: SparseRows
    powers: Float64  # [n]
    peaks: Float64  # [n]
    spreads: Float64  # [n]
    positions: Float64  # [n]
    root: bool  # positions bound the root of a distance
    slack: float  # rounding error of the positions


def _search_line(line: _Line, best: Best, limits: Limits, *, squared: bool) -> Found:
    """Look at pairs that share a column, of rows that lie close to each other."""
    rows, integral = line.rows, line.rows.facts.integral
    # A first look at rows next to each other, so that thresholds start near the answer.
    leading = _leading(rows, np.nextafter(0.0, 1.0), squared=squared)
    best, _ = _search_leading(line, leading, best, np.inf, squared=squared, max_ahead=2)
    threshold = 0.5 if integral else best.distance * 2.0**-40
    light = None
    while threshold < best.distance:
        # Pairs nearer than a threshold share a column among the entries that lead to it.
        leading, threshold = _affordable(
            rows, best.distance, 4.0 * threshold, limits.pairs, squared=squared
        )
        best, per_pair = _search_leading(line, leading, best, limits.first_look, squared=squared)
        if per_pair is None:
            continue
        work = per_pair * _n_pairs(leading[1])
        if work > limits.planning * rows.data.size:
            light = light or _without_common_columns(line, best.distance, limits, squared=squared)
            if light.work <= limits.join_below * work:
                return _join(line, light, best, squared=squared).found("join")
        best, _ = _search_leading(line, leading, best, np.inf, squared=squared)
    return best.found("shared columns")


def _search_leading(
    line: _Line,
    leading: tuple[Int64, Int64],
    best: Best,
    max_work: float,
    *,
    squared: bool,
    max_ahead: int | None = None,
) -> tuple[Best, float | None]:
    """Also give the work per listed pair if it was stopped before the end."""
    rows = line.rows
    distance, i, j, n_checked, per_pair, ended = loops.search_leading(
        rows.arrays, *leading, line.powers, line.peaks, line.spreads, line.positions, line.root,
        squared, rows.facts.integral, line.slack, tolerance_of(rows),
        max_ahead or rows.labels.size, max_work, best.distance,
    )  # fmt: skip
    return best.updated(rows, distance, i, j, n_checked), None if ended else per_pair


class _Light(NamedTuple):
    """Rows without the commonest columns, their powers, and the work of a join over them."""

    rows: SparseRows
    powers: Float64
    work: float


def _without_common_columns(line: _Line, best: float, limits: Limits, *, squared: bool) -> _Light:
    """Leave out the commonest columns where they make most of the work.

    That only lowers distances, so a pair that stays above the best one without them is done.
    Rows that share none of the other columns are then as far apart as what is left of their
    powers: where those sums are below the best distance, pairs must be compared one by one.
    """
    rows = line.rows
    counts = np.bincount(rows.indices, minlength=rows.n_columns)
    light = _Light(rows, line.powers, _n_pairs(counts))
    n_common = 1
    while light.work > limits.cheap_join and n_common < rows.n_columns:
        csr = rows.csr[:, : rows.n_columns - n_common]
        rest = replace(
            rows,
            indptr=csr.indptr.astype(np.int64, copy=False),
            indices=csr.indices.astype(np.int32, copy=False),
            data=csr.data,
            n_columns=csr.shape[1],
        )
        powers, *_ = loops.row_sizes(rest.indptr, rest.data, squared)
        ascending = np.sort(powers)
        partners = np.searchsorted(ascending, best - ascending)  # [n]
        n_small = np.maximum(partners - np.arange(1, powers.size + 1), 0).sum(dtype=np.float64)
        work = _n_pairs(counts[:-n_common]) + 32.0 * float(n_small)
        if work >= light.work:
            break
        light = _Light(rest, powers, work)
        n_common *= 4
    return light


def _join(line: _Line, light: _Light, best: Best, *, squared: bool) -> Best:
    best = _search_small(line.rows, light.powers, best, squared=squared)
    outcome = loops.join_smallest(
        line.rows.arrays, light.rows.arrays, columns_of(light.rows), light.powers,
        line.positions, line.root, squared, line.slack, tolerance_of(line.rows), best.distance,
    )  # fmt: skip
    return best.updated(line.rows, *outcome)


def _n_pairs(counts: Int64) -> float:
    """Pairs of entries in one column."""
    return float((counts.astype(np.float64) ** 2).sum()) / 2.0


def _search_small(rows: SparseRows, powers: Float64, best: Best, *, squared: bool) -> Best:
    """Look at pairs of rows whose powers add up to less than the best distance."""
    small = np.flatnonzero(powers + powers.min() < best.distance)
    order = small[np.argsort(powers[small], kind="stable")]
    outcome = loops.smallest_of_small_rows(rows.arrays, powers, order, squared, best.distance)
    return best.updated(rows, *outcome)


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
) -> tuple[tuple[Int64, Int64], float]:
    """Leading entries for a threshold from ``at_least`` to ``best`` within the budget."""
    threshold = best
    while True:
        lengths, counts = _leading(rows, threshold * (1.0 + tolerance_of(rows)), squared=squared)
        if _n_pairs(counts) <= budget or threshold / 4.0 < at_least or lengths.max() <= 1:
            return (lengths, counts), threshold
        threshold /= 4.0
