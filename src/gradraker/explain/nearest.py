"""Mean values of the nearest rows, for a million sparse rows as for a few thousand dense ones."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.kernels.pairs import compute_pair_distances

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RowArray: TypeAlias = csr_array | Floats

# From this share of nonzero entries on, dense products are faster and take little more memory.
_DENSE_FROM = 0.25
# Products of a block of rows with all others, or differences of pairs, take about this much.
_BLOCK_BYTES = 32 << 20


def to_faster_rows(X: Any) -> RowArray:
    """The rows of a validated X in the form that is faster for distances; X is not changed."""
    rows = csr_array(X)
    if not rows.has_canonical_format:  # duplicate entries would be squared separately
        rows = rows.copy()
        rows.sum_duplicates()
    return rows.toarray() if rows.nnz > _DENSE_FROM * rows.shape[0] * rows.shape[1] else rows


def measure_squared_distances(rows: RowArray, first: Ints, second: Ints) -> Floats:
    """‖a − b‖² of the rows ``first[p]`` and ``second[p]``."""
    if not isinstance(rows, np.ndarray):
        return compute_pair_distances(rows, first, second, metric="sqeuclidean")
    distances = np.empty(first.size)
    size = max(1, _BLOCK_BYTES // (8 * rows.shape[1]))
    for start in range(0, first.size, size):
        part = slice(start, start + size)
        difference = rows[first[part]] - rows[second[part]]
        distances[part] = np.einsum("pm,pm->p", difference, difference)
    return distances


def average_nearest(rows: RowArray, values: Floats, queries: Ints, k: int) -> Floats:
    """Mean value of the k rows nearest to each queried one, itself excluded.

    All rows as near as the k-th count. The distance of a row that shares no column with the query
    follows from the norms, without a product: the nearest are those of the smallest norms.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.explain.nearest import average_nearest
    >>> rows = np.array([[0.0], [1.0], [-1.0], [5.0]])
    >>> average_nearest(rows, np.array([9.0, 2.0, 4.0, 7.0]), np.array([0, 3]), 1)
    array([3., 2.])
    """
    norms = np.asarray((rows * rows).sum(axis=1)).ravel()
    order = np.argsort(norms, kind="stable")
    ranked = norms[order]
    sums = np.append(0.0, np.cumsum(values[order]))  # sums[m]: of the m rows of smallest norm
    is_excluded = np.zeros(values.size, dtype=np.bool_)
    means = np.empty(queries.size)
    for i, (query, sharing, products) in enumerate(_iterate_products(rows, queries)):
        # The query is removed, not set to infinity: partition is slow if many numbers are equal.
        others = sharing != query
        sharing = sharing[others]
        distances = norms[query] + norms[sharing] - 2.0 * products[others]
        excluded = np.append(sharing, query)  # rows that the search by norm skips
        is_excluded[excluded] = True
        smallest = order[: k + excluded.size]  # at least k of them are not excluded
        by_norm = norms[query] + norms[smallest[~is_excluded[smallest]]]
        is_excluded[excluded] = False
        kth = np.partition(np.append(distances, by_norm), k - 1)[k - 1]
        # Equal distances may differ by the rounding of the norms.
        kth += 1e-12 * (kth + norms[query])
        near = sharing[distances <= kth]
        n_smaller = int(np.searchsorted(ranked, kth - norms[query], side="right"))
        counted_by_norm = excluded[norms[excluded] <= kth - norms[query]]
        total = sums[n_smaller] - values[counted_by_norm].sum() + values[near].sum()
        means[i] = total / (n_smaller - counted_by_norm.size + near.size)
    return means


def _iterate_products(rows: RowArray, queries: Ints) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield each query, the rows that may share a column with it, and products with these."""
    n = rows.shape[0]
    if isinstance(rows, np.ndarray):
        all_rows = np.arange(n)
        for block in _split_queries(queries, n):
            for query, products in zip(block, rows[block] @ rows.T, strict=True):
                yield query, all_rows, products
        return
    columns = csr_array(rows.T)  # transposed once, not in the product of each block
    pattern = csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), rows.shape)
    sharing = (pattern @ np.diff(columns.indptr).astype(np.float64))[queries]
    for block in _split_queries(queries, min(n, int(sharing.max()))):
        found = csr_array(rows[block] @ columns)  # [block, n]
        for i, query in enumerate(block):
            entries = slice(found.indptr[i], found.indptr[i + 1])
            yield query, found.indices[entries], found.data[entries]


def _split_queries(queries: Ints, n_products: int) -> Iterator[Ints]:
    """Split the queries so that ``n_products`` products of each fit in memory."""
    size = max(1, _BLOCK_BYTES // (12 * max(1, n_products)))
    for start in range(0, queries.size, size):
        yield queries[start : start + size]
