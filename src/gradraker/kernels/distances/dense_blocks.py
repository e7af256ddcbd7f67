"""All pairs of dense rows, block by block, skipping blocks that cannot hold an extreme."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import dense_distances as loops
from gradraker.kernels.distances.canonical_rows import DenseRows

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BLOCK_ROWS = 1024  # a block of distances then takes 4 MB
MAX_BLOCKS = 4096  # blocks are made larger rather than more numerous


class Extremes(NamedTuple):
    """The nearest and the farthest pair so far, as rows; (-1, -1) where none was found.

    The distances start at values that nothing beats, so what nobody asks for costs nothing.
    """

    smallest: float = -np.inf
    near: tuple[int, int] = (-1, -1)
    largest: float = np.inf
    far: tuple[int, int] = (-1, -1)
    n_checked: int = 0

    def merged(self, other: Extremes) -> Extremes:
        """Take from ``other`` the pairs that it found and that are better."""
        merged = self._replace(n_checked=self.n_checked + other.n_checked)
        if other.near[0] >= 0 and other.smallest < self.smallest:
            merged = merged._replace(smallest=other.smallest, near=other.near)
        if other.far[0] >= 0 and other.largest > self.largest:
            merged = merged._replace(largest=other.largest, far=other.far)
        return merged


class Shadow(NamedTuple):
    """Rows seen from a centre and along a line through it, in units of distance.

    |Δalong| and |Δacross| are at most the distance of two rows; so is, for Euclidean
    distances, the length of both together. The distance is at most the sum of two radii.
    """

    centre: Float64  # [M]
    along: Float64  # [n]
    across: Float64  # [n]
    radii: Float64  # [n]
    slack: float  # relative rounding error of a distance
    error: float  # absolute rounding error of along, across and radii


class _Blocks(NamedTuple):
    """Pairs of blocks of rows, first ≤ second, with bounds on the distances between them."""

    order: Int64  # [n], rows ascending along the line
    starts: Int64  # [blocks + 1]
    pairs: Int64  # [pairs, 2]
    lower: Float64  # [pairs]
    upper: Float64  # [pairs]


def search_blocks(
    rows: DenseRows,
    shadow: Shadow,
    found: Extremes,
    order: Int64,
    *,
    squared: bool,
    near: bool,
    far: bool,
) -> Extremes:
    """Compare all pairs of the rows ``order`` for the nearest or the farthest, or both.

    A block of distances in single precision rules out most blocks; pairs of the others that
    come within rounding error of the best are summed directly.
    """
    blocks = _block_pairs(shadow, order, squared=squared, near=near)
    best = Extremes(
        smallest=found.smallest if near else -np.inf, largest=found.largest if far else np.inf
    )
    about = _Approximation.of(rows, shadow, blocks, squared=squared)
    with ThreadPoolExecutor(n_threads()) as pool:
        for (first, second), lower, upper in zip(
            blocks.pairs.tolist(), blocks.lower.tolist(), blocks.upper.tolist(), strict=True
        ):
            if lower < best.smallest or upper > best.largest:
                outcome = about.search(first, second, best, pool)
                best = best.merged(outcome)
    return found.merged(best)


def n_threads() -> int:
    """Processors that this process may use."""
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return granted or 1


def _block_pairs(shadow: Shadow, order: Int64, *, squared: bool, near: bool) -> _Blocks:
    """Cut rows, sorted along the line, into blocks; pairs that promise most come first."""
    order = order[np.argsort(shadow.along[order], kind="stable")]
    n_rows = max(BLOCK_ROWS, -(-order.size // MAX_BLOCKS))
    starts = np.append(np.arange(0, order.size, n_rows), order.size)
    along, across = shadow.along[order], shadow.across[order]
    low, high = along[starts[:-1]], along[starts[1:] - 1]  # [blocks]
    inner = np.minimum.reduceat(across, starts[:-1])
    outer = np.maximum.reduceat(across, starts[:-1])
    first, second = np.triu_indices(starts.size - 1)
    error = shadow.error
    gap = np.maximum(low[second] - high[first] - error, 0.0)
    ring = np.maximum(inner[first] - outer[second], inner[second] - outer[first])
    ring = np.maximum(ring - error, 0.0)
    reach = outer[first] + outer[second] + error
    if squared:
        span = high[second] - low[first] + error
        lower, upper = gap**2 + ring**2, span**2 + reach**2
    else:
        lower, upper = np.maximum(gap, ring), reach
    # The few roundings of these sums are covered by the slack.
    lower, upper = lower * (1.0 - shadow.slack), upper * (1.0 + shadow.slack)
    visit = np.argsort(lower if near else -upper, kind="stable")
    pairs = np.column_stack((first, second))
    return _Blocks(order, starts, pairs[visit], lower[visit], upper[visit])


@dataclass(frozen=True, eq=False)
class _Approximation:
    """Centred rows in single precision, scaled to at most 1, and the errors that brings.

    Squared distances are base[i] + base[j] − 2 x_i·x_j, from a matrix product; l1 distances
    have no base. Errors are relative to size[i] + size[j].
    """

    rows: DenseRows
    shadow: Shadow
    blocks: _Blocks
    squared: bool
    small: Float32  # [n, M]
    base: Float64  # [n]
    size: Float64  # [n]
    scale: float
    error: float
    smallest_error: float

    @classmethod
    def of(
        cls, rows: DenseRows, shadow: Shadow, blocks: _Blocks, *, squared: bool
    ) -> _Approximation:
        n_rows, n_columns = blocks.order.size, rows.values.shape[1]
        radius = float(shadow.radii.max())
        exponent = int(np.frexp(radius)[1])
        unit = 2.0**exponent
        small, base = np.empty((n_rows, n_columns), dtype=np.float32), np.zeros(n_rows)
        for start, stop in itertools.pairwise(blocks.starts.tolist()):
            centred = rows.values[blocks.order[start:stop]] - shadow.centre
            small[start:stop] = np.ldexp(centred, -exponent)
            if squared:
                base[start:stop] = np.einsum("ij,ij->i", centred, centred)
        power = unit * unit if squared else unit
        # Integers whose sums fit the 24 bits of single precision have no error.
        sums = radius * radius if squared else 2.0 * radius
        exact = rows.facts.integral and sums < 0.99 * 2.0**24
        # Terms below 2**-126, in the unit of the scaled rows, may vanish.
        return cls(
            rows, shadow, blocks, squared, small, base,
            size=base if squared else shadow.radii[blocks.order],
            scale=-2.0 * power if squared else power,
            error=0.0 if exact else (n_columns + 16) * 2.0**-24,
            smallest_error=0.0 if exact else n_columns * 2.0**-125 * power,
        )  # fmt: skip

    def search(self, first: int, second: int, best: Extremes, pool: ThreadPoolExecutor) -> Extremes:
        """What two blocks hold that is better than ``best``."""
        a, b = (slice(*self.blocks.starts[k : k + 2].tolist()) for k in (first, second))
        base, same = (self.base[a], self.base[b]), first == second
        block = self._block(a, b, pool)
        low, high = loops.screen_block(block, *base, self.scale, same)
        size = float(self.size[a].max() + self.size[b].max())
        error = self.error * size + self.smallest_error
        n_pairs = block.size if not same else block.shape[0] * (block.shape[0] - 1) // 2
        if low - error >= best.smallest and high + error <= best.largest:
            return Extremes(n_checked=n_pairs)
        values, order = self.rows.values, self.blocks.order
        scale, closer = self.scale, block.astype(np.float64)
        if self.squared and error > 0.0:
            scale, error = -2.0, 0.0 if self.rows.facts.integral else self.shadow.slack * size
            closer = (values[order[a]] - self.shadow.centre) @ (
                values[order[b]] - self.shadow.centre
            ).T
        smallest, i, j, largest, m, n = loops.search_block(
            closer, values, order[a], order[b], *base, scale, same, self.squared, error,
            best.smallest, best.largest,
        )  # fmt: skip
        return Extremes(smallest, (i, j), largest, (m, n), n_pairs)

    def _block(self, a: slice, b: slice, pool: ThreadPoolExecutor) -> Float32:
        if self.squared:
            return self.small[a] @ self.small[b].T
        block = np.empty((a.stop - a.start, b.stop - b.start), dtype=np.float32)
        cuts = np.linspace(0, block.shape[0], n_threads() + 1).astype(int)
        parts = [slice(*cut) for cut in itertools.pairwise(cuts.tolist())]
        rows_a, rows_b = self.small[a], self.small[b]
        list(pool.map(lambda part: loops.l1_block(rows_a[part], rows_b, block[part]), parts))
        return block
