"""All pairs of dense rows, block by block, skipping blocks that cannot hold an extreme."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradraker._compiled import dense_distances as loops
from gradraker.bandwidth._rows import DenseRows

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

PRODUCT_ROWS = 1024  # rows of one block of a matrix product
DIRECT_ROWS = 64  # rows of one block that is compared row by row: these stay in cache
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
    products: bool = True,
) -> Extremes:
    """Compare all pairs of the rows ``order``; ``products`` allows matrix products."""
    products = products and squared
    order = order[np.argsort(shadow.along[order], kind="stable")]
    blocks = _block_pairs(
        shadow, order, PRODUCT_ROWS if products else DIRECT_ROWS, squared=squared
    )
    # Promising blocks first: what they give lets the others be skipped.
    visit = np.argsort(blocks.lower if near else -blocks.upper, kind="stable")
    blocks = blocks._replace(
        pairs=blocks.pairs[visit], lower=blocks.lower[visit], upper=blocks.upper[visit]
    )
    start = Extremes(
        smallest=found.smallest if near else -np.inf, largest=found.largest if far else np.inf
    )
    if products:
        return found.merged(_by_products(rows, shadow, blocks, start))
    return found.merged(_by_rows(rows, shadow, blocks, start, squared=squared))


def n_threads() -> int:
    """Processors that this process may use."""
    return getattr(os, "process_cpu_count", os.cpu_count)() or 1


def _block_pairs(shadow: Shadow, order: Int64, n_rows: int, *, squared: bool) -> _Blocks:
    n_rows = max(n_rows, -(-order.size // MAX_BLOCKS))
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
    return _Blocks(order, starts, np.column_stack((first, second)), lower, upper)


def _by_rows(
    rows: DenseRows, shadow: Shadow, blocks: _Blocks, start: Extremes, *, squared: bool
) -> Extremes:
    """Compare row by row, on all processors, each with its own best so far."""

    def search(part: slice) -> Extremes:
        smallest, i, j, largest, k, m, n_checked = loops.search_blocks(
            rows.values, blocks.order, blocks.starts, blocks.pairs[part], blocks.lower[part],
            blocks.upper[part], squared, shadow.slack, start.smallest, start.largest,
        )  # fmt: skip
        return Extremes(smallest, (i, j), largest, (k, m), n_checked)

    threads = n_threads()
    with ThreadPoolExecutor(threads) as pool:
        for outcome in pool.map(search, [slice(k, None, threads) for k in range(threads)]):
            start = start.merged(outcome)
    return start


def _by_products(
    rows: DenseRows, shadow: Shadow, blocks: _Blocks, start: Extremes
) -> Extremes:
    """Compare by ‖a‖² + ‖b‖² − 2a·b from matrix products of centred rows.

    Products in single precision rule out most blocks; the rest are multiplied again in
    double precision, and pairs within its rounding error of the best are summed directly.
    """
    values, order = rows.values, blocks.order
    exponent = int(np.frexp(shadow.radii.max())[1])
    small = np.empty((order.size, values.shape[1]), dtype=np.float32)
    powers = np.empty(order.size)
    for k in range(blocks.starts.size - 1):
        part = slice(blocks.starts[k], blocks.starts[k + 1])
        centred = values[order[part]] - shadow.centre
        powers[part] = np.einsum("ij,ij->i", centred, centred)
        small[part] = np.ldexp(centred, -exponent)
    screen = _screen_errors(rows, exponent)
    found = start
    for (first, second), lower, upper in zip(
        blocks.pairs.tolist(), blocks.lower.tolist(), blocks.upper.tolist(), strict=True
    ):
        if lower >= found.smallest and upper <= found.largest:
            continue
        a = slice(blocks.starts[first], blocks.starts[first + 1])
        b = slice(blocks.starts[second], blocks.starts[second + 1])
        same = first == second
        n_pairs = (a.stop - a.start) * (b.stop - b.start - same) // (1 + same)
        found = found._replace(n_checked=found.n_checked + int(n_pairs))
        if screen is not None:
            low, high = loops.screen_products(
                small[a] @ small[b].T, powers[a], powers[b], 2.0 * 4.0**exponent, same
            )
            error = screen[0] * (powers[a].max() + powers[b].max()) + screen[1]
            if low - error >= found.smallest and high + error <= found.largest:
                continue
        products = (values[order[a]] - shadow.centre) @ (values[order[b]] - shadow.centre).T
        smallest, i, j, largest, m, n = loops.search_products(
            products, values, order[a], order[b], powers[a], powers[b], same,
            0.0 if rows.facts.integral else shadow.slack, found.smallest, found.largest,
        )  # fmt: skip
        found = found.merged(Extremes(smallest, (i, j), largest, (m, n)))
    return found


def _screen_errors(rows: DenseRows, exponent: int) -> tuple[float, float] | None:
    """Relative and absolute error of single-precision products; None if they say nothing."""
    n_columns = rows.values.shape[1]
    largest = 2.0**exponent
    if rows.facts.integral and 4.0 * n_columns * largest**2 <= 2.0**24:
        return 0.0, 0.0
    relative = (n_columns + 16) * 2.0**-24
    # Products below 2**-126, in the unit of the scaled rows, may vanish.
    return (relative, n_columns * 2.0**-125 * largest**2) if relative < 0.01 else None
