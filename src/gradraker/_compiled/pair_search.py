"""Loops over pairs of rows that look for extreme distances.

A distance here is Σ(x−y)² (``squared``) or Σ|x−y|, and the *power* of a row is its distance to
the zero row. A column that only one of two rows holds adds its power, so

    distance(i, j) = power(i) + power(j) + overlap(i, j),

where the overlap runs over shared columns only. That sum cancels where rows are alike, hence
every pair that might win is summed again directly by :func:`measure_pair`.
"""

import numpy as np
import numpy.typing as npt

from gradraker._compiled.jit import compile_loop

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Csr = tuple[Int64, npt.NDArray[np.int32], Float64]  # indptr, indices, data
Pair = tuple[float, int, int, int]  # distance, two rows (-1 if none is better), pairs compared
# Leading entries by column: where each column starts; the row of each entry and the power before.
ColumnLists = tuple[Int64, Int64, Float64]


@compile_loop
def measure_pair(csr: Csr, i: int, j: int, squared: bool, limit: float) -> float:
    """Direct sum over ascending columns; may stop past ``limit``."""
    indptr, indices, data = csr
    a, a_end = indptr[i], indptr[i + 1]
    b, b_end = indptr[j], indptr[j + 1]
    total = 0.0
    while (a < a_end or b < b_end) and total <= limit:
        if b == b_end or (a < a_end and indices[a] < indices[b]):
            difference = data[a]
            a += 1
        elif a == a_end or indices[b] < indices[a]:
            difference = data[b]
            b += 1
        else:
            difference = data[a] - data[b]
            a += 1
            b += 1
        total += difference * difference if squared else abs(difference)
    return total


@compile_loop
def search_farthest(
    csr: Csr, powers: Float64, squared: bool, n_columns: int, tolerance: float, best: float
) -> Pair:
    """Compare rows, which descend by power, until two powers add up to no more than ``best``.

    Only pairs whose distance is at most the sum of their powers are certain to be found.
    """
    indptr, indices, data = csr
    held = np.zeros(n_columns)  # row i, spread over the columns
    best_i, best_j, n_checked = -1, -1, 0
    for i in range(powers.size - 1):
        if powers[i] + powers[i + 1] <= best * (1.0 + tolerance):
            break
        for t in range(indptr[i], indptr[i + 1]):
            held[indices[t]] = data[t]
        for j in range(i + 1, powers.size):
            power_sum = powers[i] + powers[j]
            if power_sum <= best * (1.0 + tolerance):
                break
            n_checked += 1
            overlap = 0.0
            for t in range(indptr[j], indptr[j + 1]):
                x, y = held[indices[t]], data[t]
                overlap += -2.0 * x * y if squared else abs(x - y) - abs(x) - abs(y)
            if power_sum + overlap + tolerance * power_sum > best:
                distance = measure_pair(csr, i, j, squared, np.inf)
                if distance > best:
                    best, best_i, best_j = distance, i, j
        for t in range(indptr[i], indptr[i + 1]):
            held[indices[t]] = 0.0
    return best, best_i, best_j, n_checked


@compile_loop
def search_small_rows(csr: Csr, powers: Float64, order: Int64, squared: bool, best: float) -> Pair:
    """Compare the pairs whose powers sum to less than ``best``; ``order`` ascends by power.

    Afterwards no two rows without a shared column are nearer than ``best``.
    """
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(order.size - 1):
        i = order[a]
        for j in order[a + 1 :]:
            if powers[i] + powers[j] >= best:
                break
            n_checked += 1
            distance = measure_pair(csr, i, j, squared, best)
            if distance < best:
                best, best_i, best_j = distance, i, j
    return best, best_i, best_j, n_checked


@compile_loop
def list_leading_entries(csr: Csr, squared: bool, threshold: float, n_columns: int) -> ColumnLists:
    """List by column the entries that lead each row to a power of ``threshold``."""
    indptr, indices, data = csr
    ends = indptr[:-1].copy()  # of the leading entries of each row
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for i in range(ends.size):
        power = 0.0
        while ends[i] < indptr[i + 1] and power < threshold:
            t = ends[i]
            power += data[t] * data[t] if squared else abs(data[t])
            starts[indices[t] + 1] += 1
            ends[i] += 1
    starts = np.cumsum(starts)
    fill = starts[:-1].copy()
    rows, before = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    for i in range(ends.size):
        power = 0.0
        for t in range(indptr[i], ends[i]):
            x = fill[indices[t]]
            rows[x], before[x] = i, power
            power += data[t] * data[t] if squared else abs(data[t])
            fill[indices[t]] += 1
    return starts, rows, before


@compile_loop
def search_nearest(
    csr: Csr,
    lists: ColumnLists,
    positions: Float64,
    root: bool,
    squared: bool,
    integral: bool,
    slack: float,
    tolerance: float,
    max_steps: int,
    best: float,
) -> Pair:
    """Compare the rows that share a column in ``lists``, up to ``max_steps`` apart in a list.

    Rows ascend by ``positions``, whose difference bounds the distance (or its ``root``) from
    below, up to ``slack``. The entries of two rows before their first shared column add to
    their distance, so in one of them they add up to less than half of ``best``. Distances of
    integer rows are 1 or more.
    """
    starts, rows, before = lists
    best_i, best_j, n_checked = -1, -1, 0
    for column in range(starts.size - 1):
        first, stop = starts[column], starts[column + 1]
        for x in range(first, stop):
            if integral and best <= 1.0:
                return best, best_i, best_j, n_checked
            if 2.0 * before[x] >= best * (1.0 + tolerance):
                continue
            i = rows[x]
            for step in (1, -1):
                y = x + step
                end = (
                    min(stop, x + 1 + max_steps) if step > 0 else max(first - 1, x - 1 - max_steps)
                )
                while y != end:
                    j = rows[y]
                    gap = abs(positions[j] - positions[i]) - slack
                    if gap > 0.0 and (gap * gap if root else gap) >= best:
                        break
                    limit = best * (1.0 + tolerance)
                    # This pair was compared before, when j was the first of the two.
                    is_repeated = step < 0 and 2.0 * before[y] < limit
                    if before[x] + before[y] < limit and not is_repeated:
                        n_checked += 1
                        distance = measure_pair(csr, i, j, squared, best)
                        if distance < best:
                            best, best_i, best_j = distance, i, j
                    y += step
    return best, best_i, best_j, n_checked


@compile_loop(fastmath={"reassoc", "contract", "nnan", "nsz"})
def compute_l1_distances(A: Float32, B: Float32, distances: Float32) -> None:
    """Write Σ|x−y| of each row of A and each row of B."""
    for i in range(A.shape[0]):
        a = A[i]
        for j in range(B.shape[0]):
            b = B[j]
            total = np.float32(0.0)
            for c in range(a.size):
                total += abs(a[c] - b[c])
            distances[i, j] = total
