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
def l1_block(rows_a: Float32, rows_b: Float32, out: Float32) -> None:
    """Write Σ|x−y| of all pairs of rows to ``out``: four rows at a time, tiles in cache."""
    n_fours = rows_b.shape[0] // 4 * 4
    zero = np.float32(0.0)
    for start in range(0, n_fours, 64):
        for i in range(rows_a.shape[0]):
            a = rows_a[i]
            for j in range(start, min(start + 64, n_fours), 4):
                b0, b1, b2, b3 = rows_b[j], rows_b[j + 1], rows_b[j + 2], rows_b[j + 3]
                t0, t1, t2, t3 = zero, zero, zero, zero
                for c in range(a.size):
                    t0 += abs(a[c] - b0[c])
                    t1 += abs(a[c] - b1[c])
                    t2 += abs(a[c] - b2[c])
                    t3 += abs(a[c] - b3[c])
                out[i, j], out[i, j + 1], out[i, j + 2], out[i, j + 3] = t0, t1, t2, t3
    for i in range(rows_a.shape[0]):
        for j in range(n_fours, rows_b.shape[0]):
            total = zero
            for c in range(rows_a.shape[1]):
                total += abs(rows_a[i, c] - rows_b[j, c])
            out[i, j] = total


@compiled(fastmath={"reassoc", "contract", "nnan", "nsz"})
def screen_block(
    block: Float32, base_a: Float64, base_b: Float64, scale: float, same: bool
) -> tuple[float, float]:
    """Extremes of base_a[i] + base_b[j] + scale·block[i, j]; ``same``: only i < j."""
    low, high = np.inf, -np.inf
    for i in range(base_a.size):
        row_low, row_high = np.inf, -np.inf
        row = block[i]
        for j in range(i + 1 if same else 0, base_b.size):
            value = base_b[j] + scale * row[j]
            row_low = min(row_low, value)
            row_high = max(row_high, value)
        low = min(low, row_low + base_a[i])
        high = max(high, row_high + base_a[i])
    return low, high


@compiled
def search_block(
    block: Float64,
    values: Float64,
    rows_a: Int64,
    rows_b: Int64,
    base_a: Float64,
    base_b: Float64,
    scale: float,
    same: bool,
    squared: bool,
    error: float,
    smallest: float,
    largest: float,
) -> tuple[float, int, int, float, int, int]:
    """Sum directly the pairs of a block that ``error`` allows to be smallest or largest."""
    small_i, small_j, large_i, large_j = -1, -1, -1, -1
    for a in range(rows_a.size):
        for b in range(a + 1 if same else 0, rows_b.size):
            about = base_a[a] + base_b[b] + scale * block[a, b]
            if about - error >= smallest and about + error <= largest:
                continue
            i, j = rows_a[a], rows_b[b]
            distance = dense_pair_distance(values, i, j, squared)
            if distance < smallest:
                smallest, small_i, small_j = distance, i, j
            if distance > largest:
                largest, large_i, large_j = distance, i, j
    return smallest, small_i, small_j, largest, large_i, large_j
