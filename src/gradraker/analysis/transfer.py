"""Whether SKG suits the data: does similarity of rows bring similarity of values?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.stats import rankdata
from sklearn.utils import check_array

from gradraker.above import call
from gradraker.bandwidth.pairs import pair_distances, sample_pairs
from gradraker.learners.parameters import check_count, refuse_strings, seed_from

# Verdicts change at these relative errors; the Notes of similarity_transfer say why there.
_WORKS_WELL = 0.7
_NO_BETTER = 1.0

# More rows are not predicted: they would change the relative error by some percent only.
_MAX_QUERIES = 2000
# Products of a block of rows with all others take about this much at a time.
_BLOCK_BYTES = 32 << 20


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityTransfer:
    """Does similarity of adjacency vectors bring similarity of values?

    Made by :func:`similarity_transfer`.

    Attributes
    ----------
    squared_distances : ndarray of shape (n_pairs,)
        ‖a_i − a_j‖² of pairs of nodes.
    value_differences : ndarray of shape (n_pairs,)
        |y_i − y_j| of the same pairs, of values scaled to [0, 1].
    rank_correlation : float
        Spearman's correlation of the two: 1 if values differ the more, the farther apart the
        rows are, 0 if distance says nothing about values. NaN if all rows or all values are
        equal. It weighs all pairs alike, while SKG lives on near ones, so it explains but
        does not decide.
    relative_error : float
        Squared error of predicting each node by the mean of its nearest other rows, divided
        by that of predicting it by the mean of all others. Below 1, rows tell something about
        values. NaN if values do not differ.
    n_nodes, n_neighbors : int
        Rows of X, and how many nearest ones predict a node.
    """

    squared_distances: NDArray[np.float64]
    value_differences: NDArray[np.float64]
    rank_correlation: float
    relative_error: float
    n_nodes: int
    n_neighbors: int

    @property
    def verdict(self) -> str:
        """What to expect of SKG on this data, in one sentence."""
        if np.isnan(self.relative_error):
            return (
                "SKG has nothing to learn here: the values do not differ, "
                "and the mean predicts them without error."
            )
        if not self.squared_distances.any():
            return (
                "SKG should not be expected to beat the mean here: "
                "all rows are equal, so they cannot tell nodes apart."
            )
        if self.relative_error < _WORKS_WELL:
            expected = "SKG should work well here"
        elif self.relative_error < _NO_BETTER:
            expected = "SKG should work only weakly here"
        else:
            expected = "SKG should not be expected to beat the mean here"
        return (
            f"{expected}: predicting a node from its {self.n_neighbors} nearest rows has "
            f"{self.relative_error:.2f} times the squared error of predicting the mean."
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw |y_i − y_j| against ‖d‖², the paper's figures 7 and 8."""
        return call("plotting", "plot_transfer", self, ax=ax)

    def __repr__(self) -> str:
        return (
            f"SimilarityTransfer of {self.n_nodes} nodes, {self.squared_distances.size} pairs: "
            f"relative error {self.relative_error:.3g}, "
            f"rank correlation {self.rank_correlation:.3g}\n  {self.verdict}"
        )


def similarity_transfer(
    X: Any,
    y: ArrayLike,
    *,
    n_neighbors: int = 5,
    n_pairs: int = 100_000,
    random_state: int | np.random.RandomState | None = None,
) -> SimilarityTransfer:
    """Tell whether SKG will work on this data at all, without training (section VI.C).

    SKG predicts a node from nodes with similar adjacency vectors. So it can work only if
    these have similar values, which is looked at in two ways: over pairs of nodes, and by
    predicting every node from its nearest rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, M)
        Adjacency vectors, one row a node: those that a model would be trained on.
    y : array-like of shape (n,)
        Values of the nodes. They are scaled to [0, 1].
    n_neighbors : int, default=5
        Nearest rows that predict a node, at most n − 2. Rows as near as the last of these
        are all taken, so that the order of the nodes does not matter.
    n_pairs : int, default=100_000
        If there are more pairs of nodes, this many are drawn, with repetition.
    random_state : int, RandomState instance or None, default=None
        Seed of the pairs and, for n > 2000, of the 2000 nodes that are predicted. With fewer
        nodes and pairs nothing is random.

    Returns
    -------
    SimilarityTransfer
        With ``relative_error``, ``verdict`` and ``plot()``.

    Notes
    -----
    TABLE

    Examples
    --------
    >>> from gradraker import load_temperature, similarity_transfer
    >>> data = load_temperature()
    >>> similarity_transfer(data.adjacency, data.values)
    """
    k = check_count("n_neighbors", n_neighbors)
    rows = _checked_rows(X, k)
    values = _scaled(y, rows.shape[0])
    n_drawn = check_count("n_pairs", n_pairs)
    rng = np.random.default_rng(seed_from(random_state))
    first, second = sample_pairs(rows.shape[0], n_drawn, rng)
    distances = pair_distances(rows, first, second, metric="sqeuclidean")
    differences = np.abs(values[first] - values[second])
    relative_error = _relative_error(rows, values, k, rng)
    for array in (distances, differences):
        array.setflags(write=False)
    return SimilarityTransfer(
        squared_distances=distances,
        value_differences=differences,
        rank_correlation=_rank_correlation(distances, differences),
        relative_error=relative_error,
        n_nodes=rows.shape[0],
        n_neighbors=k,
    )


def _relative_error(
    rows: csr_array, values: NDArray[np.float64], k: int, rng: np.random.Generator
) -> float:
    n = values.size
    queries = rng.choice(n, _MAX_QUERIES, replace=False) if n > _MAX_QUERIES else np.arange(n)
    true = values[queries]
    by_mean = (values.sum() - true) / (n - 1)
    error_of_mean = float(np.sum((true - by_mean) ** 2))
    # Values that differ do so by more than the rounding of a mean of numbers in [0, 1].
    if error_of_mean <= queries.size * (n * np.finfo(np.float64).eps) ** 2:
        return float("nan")
    by_nearest = _means_of_nearest(rows, values, queries, k)
    return float(np.sum((true - by_nearest) ** 2)) / error_of_mean


def _means_of_nearest(
    rows: csr_array, values: NDArray[np.float64], queries: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """Mean value of the k rows nearest to each queried one, ties included, itself excluded.

    Rows that share no column are as far apart as their norms say, so they need no product:
    the nearest of them are those of the smallest norms.
    """
    norms = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    order = np.argsort(norms, kind="stable")
    ranked = norms[order]
    sums = np.append(0.0, np.cumsum(values[order]))  # sums[m]: of the m rows of smallest norm
    columns = rows.T.tocsr()  # turned once, not in the product of each block
    taken = np.zeros(values.size, dtype=np.bool_)
    means = np.empty(queries.size)
    size = _block_size(rows, columns, queries)
    for start in range(0, queries.size, size):
        block = queries[start : start + size]
        products = csr_array(rows[block] @ columns)  # [block, n]
        for i, query in enumerate(block):
            entries = slice(products.indptr[i], products.indptr[i + 1])
            sharing, product = products.indices[entries], products.data[entries]
            others = sharing != query
            sharing = sharing[others]
            distances = norms[query] + norms[sharing] - 2.0 * product[others]
            apart = np.append(sharing, query)  # not to be found by norm
            taken[apart] = True
            smallest = order[: k + apart.size]  # k of them at least are not taken
            by_norm = norms[query] + norms[smallest[~taken[smallest]]]
            taken[apart] = False
            kth = np.partition(np.append(distances, by_norm), k - 1)[k - 1]
            # Equal distances differ by the rounding of the norms they are the difference of.
            kth += 1e-12 * (kth + norms[query])
            near = distances <= kth
            n_smaller = int(np.searchsorted(ranked, kth - norms[query], side="right"))
            twice = apart[norms[apart] <= kth - norms[query]]
            total = sums[n_smaller] - values[twice].sum() + values[sharing[near]].sum()
            means[start + i] = total / (n_smaller - twice.size + np.count_nonzero(near))
    return means


def _block_size(rows: csr_array, columns: csr_array, queries: NDArray[np.int64]) -> int:
    """Rows whose products with all others fit, however many of these share a column."""
    pattern = csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), rows.shape)
    sharing = (pattern @ np.diff(columns.indptr).astype(np.float64))[queries]
    entries = min(rows.shape[0], int(sharing.max()))
    return max(1, _BLOCK_BYTES // (12 * max(1, entries)))


def _rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Spearman's correlation, NaN without a warning if either is constant."""
    ranks = [rankdata(column) for column in (first, second)]
    a, b = (column - column.mean() for column in ranks)
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0.0 else float("nan")


def _checked_rows(X: Any, n_neighbors: int) -> csr_array:
    refuse_strings("X", X)
    checked = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    rows = csr_array(checked)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    n = rows.shape[0]
    if n < 3:
        raise ValueError(f"X must have at least 3 rows to compare, got {n}")
    if n_neighbors > n - 2:
        raise ValueError(
            f"n_neighbors must be at most {n - 2} for the {n} rows of X, got {n_neighbors}: "
            "all the others would predict the mean"
        )
    # Four times the largest norm bounds a squared distance.
    if not np.abs(rows.data).max(initial=0.0) < 1e150:
        raise ValueError("X has values of 1e150 or more, whose squares leave the range of float64")
    return rows


def _scaled(y: Any, n: int) -> NDArray[np.float64]:
    """The values, moved and scaled to [0, 1]; all 0 if they are equal."""
    refuse_strings("y", y)
    if issparse(y):
        raise TypeError("y must be a dense array, got a sparse matrix; use y.toarray().ravel()")
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(
            f"y must have shape (n,), one value a node, got shape {values.shape}: "
            "for several targets, look at one column at a time"
        )
    values = check_array(values, ensure_2d=False, dtype=np.float64, input_name="y")
    if values.size != n:
        raise ValueError(f"y has {values.size} values, but X has {n} rows")
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.zeros(n)
    # Halves, so that the range of values near the largest float64 does not overflow.
    return np.asarray((values / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
