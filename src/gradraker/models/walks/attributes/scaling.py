"""Scales of attributes: standardised, as normal scores, and words as rows of length 1."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse
from scipy.special import ndtri

from gradraker.features.engine import use_one_blas_thread

Matrix = NDArray[np.float64]
# Values of a column that its distribution is kept by.
_KNOTS = 1000
# A wide matrix with so many zeros in all, and in each column, is one of words.
_FEWEST_WORDS, _ZEROS, _ZEROS_OF_EACH = 20, 0.7, 0.1
# Entries of a matrix of words that are held at once, and directions of those that hold more.
_MOST_ENTRIES, _DIRECTIONS = 40_000_000, 512
_TINY = 1e-12


class Scale(NamedTuple):
    """Centre and spread of columns; missing numbers are at the centre."""

    centre: Matrix  # [d]
    inverse: Matrix  # [d]: 1 / standard deviation, 0 of a column that does not vary

    def apply(self, X: Matrix) -> Matrix:
        """Standardise columns."""
        scaled = (X - self.centre) * self.inverse
        return np.where(np.isnan(scaled), 0.0, scaled)


def fit_scale(X: Matrix, groups: NDArray[np.int64] | None = None) -> Scale:
    """Find centres and spreads of the numbers that are there.

    Columns of one group (d,) share a spread, so that the squares of a group sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.attributes.scaling import fit_scale
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])
    >>> fit_scale(X).apply(X)
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 0.,  0.]])
    """
    is_there = ~np.isnan(X)
    n = np.maximum(is_there.sum(axis=0), 1)
    filled = np.where(is_there, X, 0.0)
    size = np.abs(filled).max(axis=0, initial=0.0)
    if groups is not None:
        np.maximum.at(largest := np.zeros(groups.max(initial=0) + 1), groups, size)
        size = largest[groups]
    size = np.where(size > 0.0, size, 1.0)  # squares of large and small numbers stay finite
    scaled = filled / size
    centre = scaled.sum(axis=0) / n
    variance = np.where(is_there, (scaled - centre) ** 2, 0.0).sum(axis=0) / n
    if groups is not None:
        variance = np.bincount(groups, weights=variance)[groups]
    spread = np.sqrt(variance)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > _TINY)
    return Scale(centre * size, inverse / size)


def compute_normal_scores(X: Matrix, old: Matrix) -> Matrix:
    """Place of each number among those of ``old``, as a quantile of the normal distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.attributes.scaling import compute_normal_scores
    >>> X = np.array([[1.0], [10.0], [1000.0]])
    >>> compute_normal_scores(X, X).round(2)[:, 0]
    array([-0.97,  0.  ,  0.97])
    """
    scores = np.empty_like(X)
    for j in range(X.shape[1]):
        values, counts = np.unique(old[~np.isnan(old[:, j]), j], return_counts=True)
        if not values.size:
            scores[:, j] = np.nan
            continue
        places = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
        if values.size > _KNOTS:
            kept = np.linspace(0, values.size - 1, _KNOTS).astype(np.int64)
            values, places = values[kept], places[kept]
        scores[:, j] = ndtri(np.interp(X[:, j], values, places))  # NaN stays
    return scores


def is_words(matrix: Any) -> bool:
    """Whether a matrix is one of words: sparse, or wide and mostly 0, with zeros everywhere."""
    if issparse(matrix):
        return True
    if matrix.shape[1] < _FEWEST_WORDS:
        return False
    zeros = np.mean(matrix == 0.0, axis=0)
    return bool(zeros.mean() >= _ZEROS and zeros.min() >= _ZEROS_OF_EACH)


def scale_words(matrix: Any) -> csr_array:
    """Rows of words, scaled to length 1; a missing entry is 0, and so is a row without words."""
    words = csr_array(matrix if issparse(matrix) else np.where(np.isnan(matrix), 0.0, matrix))
    largest = np.abs(words.data).max(initial=0.0)
    if largest > 0.0:
        words = csr_array(words / largest)  # squares of large counts stay finite
    lengths = np.sqrt(words.multiply(words).sum(axis=1))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    return csr_array(diags_array(inverse) @ words)


def find_directions(
    words: csr_array, *, most_columns: int | None, seed: int
) -> NDArray[np.float32] | None:
    """Directions (d, r) that words are projected to, where all of them are too many; else None."""
    n, d = words.shape
    if most_columns is None:
        most_columns = d if n * d <= _MOST_ENTRIES else _DIRECTIONS
    if d <= most_columns:
        return None
    from sklearn.utils.extmath import randomized_svd  # loads much

    rank = min(most_columns, n, d)
    with use_one_blas_thread():
        found = randomized_svd(
            words.astype(np.float32), n_components=rank, n_iter=2, random_state=seed % 2**32
        )
    return np.ascontiguousarray(found[2].T, dtype=np.float32)
