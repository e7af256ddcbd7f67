"""Extreme distances between dense rows: matrix products in blocks, a k-d tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled.pair_search import compute_l1_distances
from gradraker.kernels.distances.canonical_rows import (
    DENSE_UP_TO_COLUMNS,
    CanonicalRows,
    Found,
    group_equal_rows,
)

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BLOCK_ROWS = 1024  # a block of distances then takes 4 MB
# Fewer rows than this are compared faster than a tree over them is built.
TREE_FROM_ROWS = 2000
_NUMBERS_AT_ONCE = 1 << 22  # entries of rows that are subtracted from each other


def search_dense(
    rows: CanonicalRows, *, near: bool, far: bool
) -> tuple[Found | None, Found | None]:
    """Find the nearest and the farthest two rows, each if asked for; None if all are equal."""
    distinct, _ = group_equal_rows(rows.values)
    if distinct.size == 1:
        return None, None
    rows = rows._replace(values=rows.values[distinct])
    n_rows, n_columns = rows.values.shape
    nearest = farthest = None
    if near and n_columns <= DENSE_UP_TO_COLUMNS and n_rows >= TREE_FROM_ROWS:
        i, j = distinct[list(_ask_tree(rows))].tolist()
        nearest, near = Found(i, j, n_rows, "tree"), False
    extremes = [_Extreme(sign) for sign, asked in ((1, near), (-1, far)) if asked]
    n_checked = _compare_blocks(rows, extremes) if extremes else 0
    for extreme in extremes:
        i, j = distinct[list(extreme.pair)].tolist()
        found = Found(i, j, n_checked, "blocks")
        n_checked = 0  # the other extreme was found among the same pairs
        nearest, farthest = (found, farthest) if extreme.sign > 0 else (nearest, found)
    return nearest, farthest


def _ask_tree(rows: CanonicalRows) -> tuple[int, int]:
    """Ask a k-d tree for the nearest other row of each row, no farther than the best so far."""
    # Imported late, because few callers need it and its import is slow.
    from scipy.spatial import KDTree

    values, best, pair = rows.values, np.inf, (0, 1)
    tree = KDTree(values, compact_nodes=False, balanced_tree=False)
    p = 2.0 if rows.squared else 1.0
    for start in range(0, len(values), BLOCK_ROWS):
        part = values[start : start + BLOCK_ROWS]
        # Both [b, 2]: the row itself comes first, and what is too far is at infinity.
        distances, others = tree.query(part, k=2, p=p, distance_upper_bound=best)
        at = int(np.argmin(distances[:, 1]))
        if distances[at, 1] < best:
            best, pair = float(distances[at, 1]), (int(others[at, 0]), int(others[at, 1]))
    return pair


class _Block(NamedTuple):
    """Distances of some rows to others in single precision, in a unit, and their error."""

    distances: Float32  # [a, b]
    error: float
    unit: float
    first: Int64  # [a], rows
    second: Int64  # [b], rows


@dataclass(eq=False)
class _Extreme:
    """The nearest (sign 1) or farthest (sign −1) pair so far; ``best`` is sign · distance."""

    sign: int
    best: float = np.inf
    pair: tuple[int, int] = (0, 1)

    def has_chance(self, lower: float, upper: float) -> bool:
        """Whether a distance between these bounds may be better."""
        return (lower if self.sign > 0 else -upper) < self.best

    def update(self, rows: CanonicalRows, block: _Block) -> None:
        """Sum directly the pairs of a block that may be the best within its error."""
        distances, error = block.distances, block.error
        if block.first[0] == block.second[0]:
            np.fill_diagonal(distances, self.sign * np.inf)
        low = float(distances.min() if self.sign > 0 else -distances.max())
        best = self.best / block.unit
        step = 0.5 / block.unit if rows.integral else 0.0  # better integers are better by 1
        if low - error >= best - step:
            return
        at = np.nonzero(self.sign * distances <= min(low + error, best) + error)
        i, j = block.first[at[0]], block.second[at[1]]
        size = max(1, _NUMBERS_AT_ONCE // rows.values.shape[1])
        for start in range(0, i.size, size):
            a, b = i[start : start + size], j[start : start + size]
            sums = self.sign * _sum_sizes(rows.values[a] - rows.values[b], rows.squared)
            k = int(np.argmin(sums))
            if sums[k] < self.best:
                self.best, self.pair = float(sums[k]), (int(a[k]), int(b[k]))


def _sum_sizes(values: Float64, squared: bool) -> Float64:
    if squared:
        return np.asarray(np.einsum("ij,ij->i", values, values))
    return np.asarray(np.abs(values).sum(axis=1))


def _compare_blocks(rows: CanonicalRows, extremes: list[_Extreme]) -> int:
    """Compare all pairs of rows, block by block, and return how many pairs were compared.

    Rows descend by their distance from the mean, their radius. The distance of two rows is at
    least the difference and at most the sum of their radii, which rules out blocks.
    """
    values, squared = rows.values, rows.squared
    n_rows, n_columns = values.shape
    parts = [slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS)]
    centre = values.mean(axis=0)
    centre = np.rint(centre) if rows.integral else centre  # any centre will do
    sizes = np.concatenate([_sum_sizes(values[part] - centre, squared) for part in parts])  # [n]
    order = np.argsort(-sizes, kind="stable")
    sizes = sizes[order]
    radii = np.sqrt(sizes) if squared else sizes
    # In a unit in which no radius exceeds 1, single precision holds all rows.
    exponent = int(np.frexp(radii[0])[1])
    unit = float(np.ldexp(1.0, 2 * exponent if squared else exponent))
    small = np.empty((n_rows, n_columns + 2), dtype=np.float32)  # [n, M + 2]
    for part in parts:
        small[part, :-2] = np.ldexp(values[order[part]] - centre, -exponent)
    small[:, -2], small[:, -1] = 1.0, sizes / unit
    rounding = 4.0 * (n_columns + 16) * float(np.finfo(np.float64).eps) * radii[0]
    n_checked = 0
    for number, a in enumerate(parts):
        for b in parts[number:]:
            gap = max(0.0, radii[a][-1] - radii[b.start] - rounding)
            span = radii[a.start] + radii[b.start] + rounding
            bounds = (gap**2, span**2) if squared else (gap, span)
            promising = [extreme for extreme in extremes if extreme.has_chance(*bounds)]
            if not promising:
                break  # later blocks have larger gaps and smaller spans
            distances = _approximate_distances(small[a], small[b], squared)
            # Entries, products and sums are rounded; terms below 2**-126 may vanish.
            error = (2 * n_columns + 32) * 2.0**-24 * float(small[a.start, -1] + small[b.start, -1])
            error += n_columns * 2.0**-124
            for extreme in promising:
                extreme.update(rows, _Block(distances, error, unit, order[a], order[b]))
            n_pairs = distances.size if a is not b else len(distances) * (len(distances) - 1) // 2
            n_checked += n_pairs
    return n_checked


def _approximate_distances(A: Float32, B: Float32, squared: bool) -> Float32:
    """‖a−b‖² = 1·‖b‖² + ‖a‖²·1 − 2a·b, or Σ|x−y|, of each row of A and each row of B.

    The last two columns of either hold 1 and the distance from the centre.
    """
    if squared:
        left = np.hstack((np.float32(-2.0) * A[:, :-2], A[:, :-3:-1]))
        return left @ B.T
    distances = np.empty((len(A), len(B)), dtype=np.float32)
    compute_l1_distances(
        np.ascontiguousarray(A[:, :-2]), np.ascontiguousarray(B[:, :-2]), distances
    )
    return distances
