"""Prepare rows for the searches, in a unit that cannot overflow; group equal rows; search dense.

Dense rows are compared by matrix products in blocks, or by a k-d tree.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.spatial import KDTree

from gradraker._compiled.pair_search import compute_l1_distances
from gradraker._compiled.row_hashes import hash_dense_rows, hash_sparse_rows

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

# Above this share of nonzeros matrix products beat a search through the columns, and a dense
# copy takes at most five times the memory of the sparse one.
DENSE_ABOVE = 0.15
# Up to this many columns dense rows are short, and a k-d tree finds near rows.
DENSE_UP_TO_COLUMNS = 10
# Sums of integer terms up to this size stay exact, square roots included.
EXACT_BELOW = 2.0**48
# Squares of values within 2**±SAFE_EXPONENT neither overflow nor vanish.
SAFE_EXPONENT = 300
BLOCK_ROWS = 1024  # a block of distances then takes 4 MB
# Fewer rows than this are compared faster than a tree over them is built.
TREE_FROM_ROWS = 2000
_NUMBERS_AT_ONCE = 1 << 22  # entries of rows that are subtracted from each other


class CanonicalRows(NamedTuple):
    """The rows of X up to a common factor, and facts that hold for all values."""

    values: Any  # [n, M], float64: an array, or CSR with ascending columns and no stored zeros
    squared: bool  # distances are Σ(x−y)², else Σ|x−y|
    integral: bool  # values are integers, and sums of their powers are exact
    signed: bool  # some values are negative


class Found(NamedTuple):
    """Two rows of X, the pairs that were compared, and how they were found."""

    i: int
    j: int
    n_checked: int
    method: str


def prepare_rows(X: Any, *, squared: bool) -> CanonicalRows:
    """Check ``X``, a CSR matrix or an array; make it sparse or dense by its share of zeros."""
    _check_form(X.shape, X.dtype)
    if sp.issparse(X):
        X = _to_canonical_csr(X)
        X = X.toarray() if _is_dense(X.nnz, X.shape) else X
    elif not _is_dense(int(np.count_nonzero(X)), X.shape):
        X = sp.csr_array(X)
    sparse = sp.issparse(X)
    values = _to_float64(X.data if sparse else X)
    values, integral, signed, ones = _normalise(values, X.shape[1], squared=squared)
    if sparse:
        values = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
    # |x−y| = (x−y)² for 0 and 1
    return CanonicalRows(values, squared or ones, integral, signed)


def _check_form(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2:
        raise ValueError(f"X has {len(shape)} dimension(s); a matrix with 2 is needed")
    if shape[0] < 2:
        rows = "1 row" if shape[0] == 1 else "no rows"
        raise ValueError(f"X has {rows}; at least 2 are needed to have a pair")
    if dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {dtype}; real numbers (bool, int or float) are needed")


def _is_dense(n_nonzero: int, shape: tuple[int, int]) -> bool:
    n_rows, n_columns = shape
    return n_columns <= DENSE_UP_TO_COLUMNS or n_nonzero > DENSE_ABOVE * n_rows * n_columns


def _to_canonical_csr(csr: Any) -> Any:
    """Columns ascending, each once, no stored zeros; the arrays of ``csr`` stay as they are."""
    indices, n_columns = csr.indices, int(csr.shape[1])
    if n_columns > max(10 * indices.size, 1_000_000) or n_columns > np.iinfo(np.int32).max:
        # Distances do not depend on how columns are numbered; loops need memory per column.
        used, indices = np.unique(indices, return_inverse=True)
        n_columns = max(used.size, 1)
    # A new matrix, because SciPy may have cached flags that no longer hold. Entries sum in the
    # dtype of X, so rows are those of X.toarray().
    fresh = sp.csr_array((csr.data, indices, csr.indptr), shape=(csr.shape[0], n_columns))
    if not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    if np.count_nonzero(fresh.data) < fresh.nnz:
        fresh = fresh.copy()
        fresh.eliminate_zeros()
    return fresh


def _to_float64(values: npt.NDArray[Any]) -> Float64:
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        low, high = int(values.min()), int(values.max())
        if max(-low, high) > 2**53:
            raise ValueError(
                f"X holds integers between {low} and {high}; float64 is exact only up to "
                "2**53, so scale X or pass floats"
            )
    with np.errstate(over="ignore"):  # a long double that does not fit is reported as inf
        return np.ascontiguousarray(values, dtype=np.float64)


def _normalise(
    values: Float64, n_columns: int, *, squared: bool
) -> tuple[Float64, bool, bool, bool]:
    """Scale values so that no square overflows; return if they are integers, signed, 0 and 1."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    largest = max(-low, high)
    if not np.isfinite(largest):
        raise ValueError("X contains NaN or infinity; finite values are needed")
    sizes = np.abs(values)
    smallest = float(sizes.min(initial=largest)) or float(sizes[sizes > 0.0].min(initial=largest))
    if smallest == largest:
        # All weights have the same size: rows are 0 and ±1 in that unit, and their sums are exact.
        return np.sign(values), True, low < 0.0, low == 0.0
    exponent = int(np.frexp(largest)[1]) - 1
    if abs(exponent) > (SAFE_EXPONENT if squared else 3 * SAFE_EXPONENT):
        if np.frexp(smallest)[1] - exponent < -1000:
            raise ValueError(
                f"X mixes values of size {smallest:.3g} and {largest:.3g}; float64 cannot hold "
                "both after scaling, so drop or clip the smallest"
            )
        return np.ldexp(values, -exponent), False, low < 0.0, False
    most = 4.0 * n_columns * (largest * largest if squared else largest)
    integral = most <= EXACT_BELOW and bool((np.rint(values) == values).all())
    return values, integral, low < 0.0, False


def group_equal_rows(values: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first row of each group of equal rows, and the group of each row.

    ``values`` is a C-ordered float64 array or a CSR matrix. Rows of a CSR matrix count as equal
    only if they store the same entries in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.kernels.distances.canonical_rows import group_equal_rows
    >>> group_equal_rows(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    all_rows = np.arange(values.shape[0])
    for seed in itertools.count():
        hashes = _hash_rows(values, seed)
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        if first.size == all_rows.size:
            return all_rows, all_rows
        others = np.flatnonzero(first[group] != all_rows)
        if _is_equal(values[others], values[first[group[others]]]):
            break
        # Rows that differ had one hash: try another.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)  # groups in the order of their first rows
    return first[order], rank[group]


def _hash_rows(values: Any, seed: int) -> npt.NDArray[np.uint64]:
    if not sp.issparse(values):
        return hash_dense_rows(values, values.view(np.uint64), seed)
    indptr, indices = values.indptr.astype(np.int64), values.indices.astype(np.int32, copy=False)
    return hash_sparse_rows(indptr, indices, _to_bits(values), seed)


def _is_equal(a: Any, b: Any) -> bool:
    if not sp.issparse(a):
        return np.array_equal(a, b, equal_nan=True)
    return (
        np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(_to_bits(a), _to_bits(b))
    )


def _to_bits(csr: Any) -> npt.NDArray[np.uint64]:
    return np.asarray(csr.data, dtype=np.float64).view(np.uint64)


# -- dense rows ------------------------------------------------------------------------------------


def search_dense(
    rows: CanonicalRows, *, near: bool, far: bool
) -> tuple[Found | None, Found | None]:
    """Find the nearest and the farthest two rows, each if wanted; None if all are equal."""
    distinct, _ = group_equal_rows(rows.values)
    if distinct.size == 1:
        return None, None
    rows = rows._replace(values=rows.values[distinct])
    n_rows, n_columns = rows.values.shape
    nearest = farthest = None
    if near and n_columns <= DENSE_UP_TO_COLUMNS and n_rows >= TREE_FROM_ROWS:
        i, j = distinct[list(_search_tree(rows))].tolist()
        nearest, near = Found(i, j, n_rows, "tree"), False
    extremes = [_Extreme(sign) for sign, is_wanted in ((1, near), (-1, far)) if is_wanted]
    n_checked = _compare_blocks(rows, extremes) if extremes else 0
    for extreme in extremes:
        i, j = distinct[list(extreme.pair)].tolist()
        found = Found(i, j, n_checked, "blocks")
        n_checked = 0  # the other extreme was found among the same pairs
        nearest, farthest = (found, farthest) if extreme.sign > 0 else (nearest, found)
    return nearest, farthest


def _search_tree(rows: CanonicalRows) -> tuple[int, int]:
    """Search a k-d tree for the nearest other row of each row, no farther than the best so far."""
    values, best, pair = rows.values, np.inf, (0, 1)
    tree = KDTree(values, compact_nodes=False, balanced_tree=False)
    p = 2.0 if rows.squared else 1.0
    for start in range(0, len(values), BLOCK_ROWS):
        part = values[start : start + BLOCK_ROWS]
        # Both [b, 2]: the row itself comes first, and rows beyond the bound are at infinity.
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
        step = 0.5 / block.unit if rows.integral else 0.0  # integer distances differ by at least 1
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
    centre = np.rint(centre) if rows.integral else centre  # any centre is correct
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
