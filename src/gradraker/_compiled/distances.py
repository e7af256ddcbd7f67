"""Loops that search the pairs of rows of a CSR matrix for extreme distances.

A distance here is Σ|x−y|² (``squared``) or Σ|x−y|, and the *power* of a row is its distance
to the zero row. A column that only one of two rows holds adds its power, so

    distance(i, j) = power(i) + power(j) + overlap(i, j),

where the overlap runs over shared columns only. That sum cancels where rows are alike, hence
every pair that might win is summed again directly by :func:`pair_distance`.
"""

import numpy as np
import numpy.typing as npt

from gradraker._compiled.jit import compiled

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Csr = tuple[Int64, Int32, Float64]  # indptr, indices, data; or the same by column


@compiled
def row_sizes(
    indptr: Int64, data: Float64, squared: bool
) -> tuple[Float64, Float64, Float64, Float64]:
    """Of each row: power, sum, largest size, and Σ|x| (``squared``) or how many entries."""
    n_rows = indptr.size - 1
    powers, sums, peaks, spreads = np.zeros((4, n_rows))
    for i in range(n_rows):
        power, total, peak, spread = 0.0, 0.0, 0.0, 0.0
        for t in range(indptr[i], indptr[i + 1]):
            size = abs(data[t])
            power += size * size if squared else size
            total += data[t]
            peak = max(peak, size)
            spread += size if squared else 1.0
        powers[i], sums[i], peaks[i], spreads[i] = power, total, peak, spread
    return powers, sums, peaks, spreads


@compiled
def pair_distance(csr: Csr, i: int, j: int, squared: bool, limit: float) -> float:
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


@compiled
def _overlap(x: float, y: float, squared: bool) -> float:
    return -2.0 * x * y if squared else abs(x - y) - abs(x) - abs(y)


@compiled
def _row_overlap(
    work: Float64, indices: Int32, data: Float64, start: int, stop: int, squared: bool
) -> float:
    total = 0.0
    for t in range(start, stop):
        total += _overlap(work[indices[t]], data[t], squared)
    return total


@compiled
def _reach(best: float, root: bool, tolerance: float) -> float:
    """What two keys must exceed in sum to beat ``best`` by more than rounding."""
    return (np.sqrt(best) if root else best) * (1.0 + tolerance)


@compiled
def farthest_row(csr: Csr, powers: Float64, i: int, squared: bool, n_columns: int) -> int:
    """Row farthest from row ``i``, up to rounding."""
    indptr, indices, data = csr
    work = np.zeros(n_columns)
    for t in range(indptr[i], indptr[i + 1]):
        work[indices[t]] = data[t]
    farthest, best = i, -np.inf
    for j in range(indptr.size - 1):
        distance = powers[j] + _row_overlap(work, indices, data, indptr[j], indptr[j + 1], squared)
        if distance > best and j != i:
            farthest, best = j, distance
    return farthest


@compiled
def sweep_largest(
    csr: Csr,
    powers: Float64,
    order: Int64,
    keys: Float64,
    root: bool,
    squared: bool,
    n_columns: int,
    tolerance: float,
    slack: float,
    best: float,
    max_work: float,
) -> tuple[float, int, int, int, bool]:
    """Visit pairs by descending ``keys`` (of the rows ``order``) until no bound beats ``best``.

    The bound is keys[a] + keys[b], on the distance or (``root``) on its square root.
    Returns the best distance, its pair (-1, -1 if none was better), the pairs looked at, and
    whether the search ended before ``max_work`` entries were read.
    """
    indptr, indices, data = csr
    work = np.zeros(n_columns)
    best_i, best_j, n_checked, done = -1, -1, 0, 0.0
    for a in range(order.size - 1):
        if keys[a] + keys[a + 1] <= _reach(best, root, tolerance):
            break
        i = order[a]
        for t in range(indptr[i], indptr[i + 1]):
            work[indices[t]] = data[t]
        for b in range(a + 1, order.size):
            if keys[a] + keys[b] <= _reach(best, root, tolerance):
                break
            if done > max_work:
                return best, best_i, best_j, n_checked, False
            j = order[b]
            n_checked += 1
            done += indptr[j + 1] - indptr[j] + 10
            apart = powers[i] + powers[j]
            overlap = _row_overlap(work, indices, data, indptr[j], indptr[j + 1], squared)
            if apart + overlap + slack * apart > best:
                distance = pair_distance(csr, i, j, squared, np.inf)
                if distance > best:
                    best, best_i, best_j = distance, i, j
        for t in range(indptr[i], indptr[i + 1]):
            work[indices[t]] = 0.0
    return best, best_i, best_j, n_checked, True


@compiled
def _gather_overlaps(
    a: int,
    csr: Csr,
    csc: Csr,
    heads: Int64,
    keys: Float64,
    stop: float,
    squared: bool,
    overlaps: Float64,
    touched: Int64,
) -> int:
    """Add up the overlaps of row ``a`` with later rows until their ``keys`` fall to ``stop``.

    Rows without a shared column keep an overlap of NaN; ``touched`` lists the others.
    """
    indptr, indices, data = csr
    column_ptr, column_rows, column_data = csc
    n_touched = 0
    for t in range(indptr[a], indptr[a + 1]):
        column = indices[t]
        heads[column] += 1  # the list starts at row a itself: rows before it are done
        for s in range(heads[column], column_ptr[column + 1]):
            b = column_rows[s]
            if keys[b] <= stop:
                break
            if overlaps[b] != overlaps[b]:
                overlaps[b] = 0.0
                touched[n_touched] = b
                n_touched += 1
            overlaps[b] += _overlap(data[t], column_data[s], squared)
    return n_touched


@compiled
def join_largest(
    csr: Csr,
    csc: Csr,
    powers: Float64,
    keys: Float64,
    root: bool,
    squared: bool,
    tolerance: float,
    slack: float,
    best: float,
) -> tuple[float, int, int, int]:
    """Look at the pairs that share a column, through the columns; rows descend by power.

    Among rows that share nothing with a row, the one of largest power is the farthest.
    """
    n_rows = powers.size
    overlaps, touched = np.full(n_rows, np.nan), np.empty(n_rows, dtype=np.int64)
    heads = csc[0][:-1].copy()
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(n_rows - 1):
        stop = _reach(best, root, tolerance) - keys[a]
        if keys[a + 1] <= stop:
            break
        n_touched = _gather_overlaps(a, csr, csc, heads, keys, stop, squared, overlaps, touched)
        n_checked += n_touched
        for b in touched[:n_touched]:
            apart = powers[a] + powers[b]
            if apart + overlaps[b] + slack * apart > best:
                distance = pair_distance(csr, a, b, squared, np.inf)
                if distance > best:
                    best, best_i, best_j = distance, a, b
        for b in range(a + 1, n_rows):
            if powers[a] + powers[b] <= best * (1.0 + tolerance):
                break
            if overlaps[b] != overlaps[b]:
                n_checked += 1
                distance = pair_distance(csr, a, b, squared, np.inf)
                if distance > best:
                    best, best_i, best_j = distance, a, b
                break
        for b in touched[:n_touched]:
            overlaps[b] = np.nan
    return best, best_i, best_j, n_checked


@compiled
def join_smallest(
    whole: Csr,
    csr: Csr,
    csc: Csr,
    powers: Float64,
    positions: Float64,
    root: bool,
    squared: bool,
    slack: float,
    tolerance: float,
    best: float,
) -> tuple[float, int, int, int]:
    """Look at the pairs that share a column, through the columns; rows ascend by position.

    ``csr``, ``csc`` and ``powers`` may leave out some columns of the ``whole`` rows.
    """
    n_rows = powers.size
    overlaps, touched = np.full(n_rows, np.nan), np.empty(n_rows, dtype=np.int64)
    heads, keys = csc[0][:-1].copy(), -positions
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(n_rows - 1):
        stop = keys[a] - (np.sqrt(best) if root else best) - slack
        n_touched = _gather_overlaps(a, csr, csc, heads, keys, stop, squared, overlaps, touched)
        n_checked += n_touched
        for b in touched[:n_touched]:
            apart = powers[a] + powers[b]
            if apart + overlaps[b] - tolerance * apart < best:
                distance = pair_distance(whole, a, b, squared, best)
                if distance < best:
                    best, best_i, best_j = distance, a, b
        for b in touched[:n_touched]:
            overlaps[b] = np.nan
    return best, best_i, best_j, n_checked


@compiled
def smallest_of_small_rows(
    csr: Csr,
    powers: Float64,
    order: Int64,
    squared: bool,
    best: float,
) -> tuple[float, int, int, int]:
    """Look at pairs whose powers sum to less than ``best``; ``order`` ascends by power.

    Afterwards no two rows without a shared column are nearer than ``best``.
    """
    best_i, best_j, n_checked = -1, -1, 0
    for a in range(order.size - 1):
        for b in range(a + 1, order.size):
            i, j = order[a], order[b]
            if powers[i] + powers[j] >= best:
                break
            n_checked += 1
            distance = pair_distance(csr, i, j, squared, best)
            if distance < best:
                best, best_i, best_j = distance, i, j
    return best, best_i, best_j, n_checked


@compiled
def leading_entries(
    csr: Csr, squared: bool, threshold: float, n_columns: int
) -> tuple[Int64, Int64]:
    """Count the entries that lead each row to a power of ``threshold``, by row and column."""
    indptr, indices, data = csr
    n_rows = indptr.size - 1
    lengths, counts = np.empty(n_rows, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
    for i in range(n_rows):
        power = 0.0
        t = indptr[i]
        while t < indptr[i + 1] and power < threshold:
            power += data[t] * data[t] if squared else abs(data[t])
            counts[indices[t]] += 1
            t += 1
        lengths[i] = t - indptr[i]
    return lengths, counts


@compiled
def _column_lists(
    csr: Csr, lengths: Int64, counts: Int64, squared: bool
) -> tuple[Int64, Int64, Float64, Float64]:
    """Leading entries by column: rows, values, and the power of what leads to each entry."""
    indptr, indices, data = csr
    starts = np.zeros(counts.size + 1, dtype=np.int64)
    for c in range(counts.size):
        starts[c + 1] = starts[c] + counts[c]
    fill = starts[:-1].copy()
    rows, values = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
    before = np.empty(starts[-1])
    for i in range(indptr.size - 1):
        power = 0.0
        for t in range(indptr[i], indptr[i] + lengths[i]):
            x = fill[indices[t]]
            rows[x], values[x], before[x] = i, data[t], power
            power += data[t] * data[t] if squared else abs(data[t])
            fill[indices[t]] += 1
    return starts, rows, values, before


@compiled
def search_leading(
    csr: Csr,
    lengths: Int64,
    counts: Int64,
    powers: Float64,
    peaks: Float64,
    spreads: Float64,
    positions: Float64,
    root: bool,
    squared: bool,
    integral: bool,
    slack: float,
    tolerance: float,
    max_ahead: int,
    max_work: float,
    best: float,
) -> tuple[float, int, int, int, float, bool]:
    """Look at the pairs of rows that share a column among their leading ``lengths`` entries.

    Rows ascend by ``positions``, whose difference bounds the distance (or its ``root``) from
    below. ``counts`` holds the leading entries by column. At most ``max_ahead`` rows after a
    row are looked at. Integers stop at distance 1. Returns, after the pairs compared, the work
    per listed pair, where comparing one counts as 32, and whether ``max_work`` sufficed.
    """
    starts, rows, values, before = _column_lists(csr, lengths, counts, squared)
    best_i, best_j, n_checked, n_listed = -1, -1, 0, 0
    for column in range(counts.size):
        stop = starts[column + 1]
        ahead = starts[column]
        for x in range(starts[column], stop):
            if integral and best <= 1.0:
                return best, best_i, best_j, n_checked, 1.0, True
            work = n_listed + 32.0 * n_checked
            if work > max_work:
                return best, best_i, best_j, n_checked, work / n_listed, False
            i, first = rows[x], x + 1
            if integral and best <= 2.0:
                # Distances of integer rows are even where the rows' sums are equal.
                ahead = max(ahead, first)
                while ahead < stop and positions[rows[ahead]] == positions[i]:
                    ahead += 1
                first = ahead
            reach = (np.sqrt(best) if root else best) + slack
            for y in range(first, min(stop, first + max_ahead)):
                j = rows[y]
                if positions[j] - positions[i] >= reach:
                    break
                n_listed += 1
                # Had the rows shared an earlier column, they would have been seen there.
                apart = abs(values[x] - values[y])
                if before[x] + before[y] + (apart * apart if squared else apart) >= best:
                    continue
                shared = 2.0 * min(spreads[i] * peaks[j], spreads[j] * peaks[i])
                if (powers[i] + powers[j]) * (1.0 - tolerance) - shared >= best:
                    continue
                n_checked += 1
                distance = pair_distance(csr, i, j, squared, best)
                if distance < best:
                    best, best_i, best_j = distance, i, j
                    reach = (np.sqrt(best) if root else best) + slack
    return best, best_i, best_j, n_checked, 1.0, True
