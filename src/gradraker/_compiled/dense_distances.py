"""Loops that search the pairs of rows of a dense matrix for extreme distances.

Two sums of the same pair occur: :func:`_quick`, whose terms the compiler may reorder to use
vector instructions, tells which pairs might win, and :func:`dense_pair_distance`, strictly
in the order of columns, decides.
"""

import numpy as np
import numpy.typing as npt

from gradraker._compiled.jit import compiled

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


@compiled
def dense_pair_distance(values: Float64, i: int, j: int, squared: bool) -> float:
    """Direct sum over ascending columns."""
    total = 0.0
    for c in range(values.shape[1]):
        difference = values[i, c] - values[j, c]
        total += difference * difference if squared else abs(difference)
    return total


@compiled(fastmath={"reassoc", "contract"})
def _quick(values: Float64, i: int, j: int, squared: bool) -> float:
    a, b = values[i], values[j]
    total = 0.0
    if squared:
        for c in range(a.size):
            difference = a[c] - b[c]
            total += difference * difference
    else:
        for c in range(a.size):
            total += abs(a[c] - b[c])
    return total


@compiled
def farthest_dense_row(values: Float64, i: int, squared: bool) -> int:
    """Row farthest from row ``i``, up to rounding."""
    farthest, best = i, -np.inf
    for j in range(values.shape[0]):
        distance = _quick(values, i, j, squared)
        if distance > best and j != i:
            farthest, best = j, distance
    return farthest


@compiled
def sweep_largest_dense(
    values: Float64, order: Int64, radii: Float64, squared: bool, slack: float, best: float
) -> tuple[float, int, int, int]:
    """Visit pairs of ``order`` by descending radius until two radii cannot span ``best``."""
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(order.size - 1):
        for b in range(a + 1, order.size):
            span = (radii[a] + radii[b]) * (1.0 + slack)
            if (span * span if squared else span) <= best:
                break
            n_checked += 1
            if _quick(values, order[a], order[b], squared) * (1.0 + slack) > best:
                distance = dense_pair_distance(values, order[a], order[b], squared)
                if distance > best:
                    best, best_i, best_j = distance, order[a], order[b]
    return best, best_i, best_j, n_checked


@compiled
def sweep_smallest_dense(
    values: Float64,
    order: Int64,
    along: Float64,
    across: Float64,
    squared: bool,
    error: float,
    slack: float,
    max_ahead: int,
    best: float,
) -> tuple[float, int, int, int]:
    """Visit pairs of ``order``, ascending ``along`` a line, that may be nearer than ``best``.

    ``along`` and ``across`` differ, for two rows, by no more than the rows' distance (or its
    root), up to ``error``; at most ``max_ahead`` rows after a row are looked at.
    """
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(order.size - 1):
        for b in range(a + 1, min(order.size, a + 1 + max_ahead)):
            gap = along[b] - along[a] - error
            if gap > 0.0 and (gap * gap if squared else gap) >= best:
                break
            gap = abs(across[b] - across[a]) - error
            if gap > 0.0 and (gap * gap if squared else gap) >= best:
                continue
            n_checked += 1
            if _quick(values, order[a], order[b], squared) * (1.0 - slack) < best:
                distance = dense_pair_distance(values, order[a], order[b], squared)
                if distance < best:
                    best, best_i, best_j = distance, order[a], order[b]
    return best, best_i, best_j, n_checked


@compiled(fastmath={"reassoc", "contract", "nnan", "nsz"})
def screen_products(
    products: Float32, powers_a: Float64, powers_b: Float64, scale: float, same: bool
) -> tuple[float, float]:
    """Extremes of powers_a[i] + powers_b[j] − scale·products[i, j]; ``same``: only i < j."""
    low, high = np.inf, -np.inf
    for a in range(powers_a.size):
        row_low, row_high = np.inf, -np.inf
        row = products[a]
        for b in range(a + 1 if same else 0, powers_b.size):
            value = powers_b[b] - scale * row[b]
            row_low = value if value < row_low else row_low
            row_high = value if value > row_high else row_high
        low = min(low, row_low + powers_a[a])
        high = max(high, row_high + powers_a[a])
    return low, high


@compiled
def search_products(
    products: Float64,
    values: Float64,
    rows_a: Int64,
    rows_b: Int64,
    powers_a: Float64,
    powers_b: Float64,
    same: bool,
    error: float,
    smallest: float,
    largest: float,
) -> tuple[float, int, int, float, int, int]:
    """Sum directly the pairs whose distance by ``products`` may be smallest or largest."""
    small_i, small_j, large_i, large_j = -1, -1, -1, -1
    for a in range(rows_a.size):
        for b in range(a + 1 if same else 0, rows_b.size):
            apart = powers_a[a] + powers_b[b]
            distance = apart - 2.0 * products[a, b]
            if smallest < distance - error * apart and distance + error * apart < largest:
                continue
            if error == 0.0 and smallest <= distance <= largest:
                continue
            i, j = rows_a[a], rows_b[b]
            distance = dense_pair_distance(values, i, j, True)
            if distance < smallest:
                smallest, small_i, small_j = distance, i, j
            if distance > largest:
                largest, large_i, large_j = distance, i, j
    return smallest, small_i, small_j, largest, large_i, large_j


@compiled
def search_blocks(
    values: Float64,
    order: Int64,
    starts: Int64,
    blocks: Int64,
    lower: Float64,
    upper: Float64,
    squared: bool,
    slack: float,
    smallest: float,
    largest: float,
) -> tuple[float, int, int, float, int, int, int]:
    """Look at all pairs of the block pairs ``blocks`` whose bounds may hold an extreme."""
    small_i, small_j, large_i, large_j, n_checked = -1, -1, -1, -1, 0
    for k in range(blocks.shape[0]):
        if lower[k] >= smallest and upper[k] <= largest:
            continue
        first, second = blocks[k]
        for a in range(starts[first], starts[first + 1]):
            for b in range(max(a + 1, starts[second]), starts[second + 1]):
                i, j = order[a], order[b]
                distance = _quick(values, i, j, squared)
                n_checked += 1
                if smallest <= distance * (1.0 - slack) and distance * (1.0 + slack) <= largest:
                    continue
                distance = dense_pair_distance(values, i, j, squared)
                if distance < smallest:
                    smallest, small_i, small_j = distance, i, j
                if distance > largest:
                    largest, large_i, large_j = distance, i, j
    return smallest, small_i, small_j, largest, large_i, large_j, n_checked
