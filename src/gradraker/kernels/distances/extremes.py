"""Exact smallest nonzero and largest distance over all pairs of rows, without all pairs."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from gradraker._fields import describe_fields
from gradraker._validation import check_sparse
from gradraker.kernels.distances.canonical_rows import Found, prepare_rows, search_dense
from gradraker.kernels.distances.sparse_search import find_farthest_sparse, find_nearest_sparse

METRICS = ("sqeuclidean", "l1")
EQUAL = "equal rows"


@describe_fields
@dataclass(frozen=True)
class PairDistance:
    """The distance of two rows, and the rows.

    Examples
    --------
    >>> from gradraker.kernels import find_largest_distance
    >>> find_largest_distance([[0, 0], [1, 0], [3, 0]])
    PairDistance(...)
    """

    distance: Annotated[float, "Squared Euclidean or l1 distance of the two rows, summed directly."]
    pair: Annotated[
        tuple[int, int], "The two rows, the lower first; of several such pairs always the same one."
    ]
    pairs_checked: Annotated[int, "Pairs of rows that were compared, out of n(n−1)/2."]
    method: Annotated[str, "How the pair was found."]


@describe_fields
@dataclass(frozen=True)
class ExtremeDistances:
    """The smallest nonzero and the largest distance over all pairs of rows.

    Examples
    --------
    >>> from gradraker.kernels import extreme_squared_distances
    >>> found = extreme_squared_distances([[0, 0], [1, 0], [3, 0]])
    >>> found
    ExtremeDistances(...)
    """

    smallest_nonzero: Annotated[float | None, "None if all rows are equal."]
    largest: Annotated[float, "0.0 if all rows are equal."]
    smallest_pair: Annotated[tuple[int, int] | None, "Two rows at the smallest nonzero distance."]
    largest_pair: Annotated[tuple[int, int], "Two rows at the largest distance."]
    pairs_checked: Annotated[
        int, "Pairs that were compared for both; two searches may compare a pair twice."
    ]
    methods: Annotated[tuple[str, str], "How the smallest and the largest were found."]


def extreme_squared_distances(X: Any, *, metric: str = "sqeuclidean") -> ExtremeDistances:
    r"""Smallest nonzero and largest distance over all pairs of rows.

    .. math:: \min_{i<j,\, a_i \ne a_j} d(a_i, a_j), \qquad \max_{i<j} d(a_i, a_j)

    with d = Σ(x−y)² or, for ``metric="l1"``, d = Σ|x−y|. Rows are compared only while a
    bound allows a better pair, and an n × n array is never made.

    Parameters
    ----------
    X : array-like or SciPy sparse, shape (n, M)
        Finite real rows, n ≥ 2. Entries of a sparse matrix that repeat add up, as in
        ``X.toarray()``. ``X`` is not changed.
    metric : {"sqeuclidean", "l1"}
        The distance.

    Returns
    -------
    ExtremeDistances

    Raises
    ------
    ValueError
        For fewer than two rows, values that are not finite real numbers, or a distance that
        overflows or underflows float64.

    Notes
    -----
    Distances of integer rows are exact. Others are the float64 sums over the columns of the
    pair that is reported, and a pair counts as better only if it is better by more than the
    rounding error of such a sum.

    The time is that of :func:`find_largest_distance` and :func:`find_smallest_nonzero_distance`,
    whose notes describe it. Memory is a few times that of X.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1], [1, 1, 1]])
    >>> found = extreme_squared_distances(X)
    >>> found.smallest_nonzero, found.smallest_pair
    (1.0, (0, 1))
    >>> found.largest, found.largest_pair
    (3.0, (0, 2))
    """
    near, far = _find_pairs(X, metric, near=True, far=True)
    return ExtremeDistances(
        smallest_nonzero=near.distance if near else None,
        largest=far.distance if far else 0.0,
        smallest_pair=near.pair if near else None,
        largest_pair=far.pair if far else (0, 1),
        pairs_checked=sum(found.pairs_checked for found in (near, far) if found),
        methods=(near.method if near else EQUAL, far.method if far else EQUAL),
    )


def find_largest_distance(X: Any, *, metric: str = "sqeuclidean") -> PairDistance:
    """Largest distance over all pairs of rows; 0.0 if all rows are equal.

    Parameters
    ----------
    X, metric
        As in :func:`extreme_squared_distances`.

    Returns
    -------
    PairDistance

    Notes
    -----
    Sparse rows are compared by descending norm until ‖a‖² + ‖b‖², which bounds ‖a−b‖² for
    nonnegative rows, cannot beat the best pair: one pass over the entries if the longest
    rows overlap little, as in a power-law graph. Columns in which most rows have an entry are
    first shifted by their lowest or highest value. Signed rows with a·b < 0 are found by a sparse
    product of the long rows. Dense rows are compared in blocks of matrix products (l1: of sums), in
    time n²M less the blocks that the bound ‖a−b‖ ≤ ‖a−c‖ + ‖b−c‖, with the mean c, rules out.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> find_largest_distance(sp.eye_array(1000, format="csr")).distance
    2.0
    """
    _, far = _find_pairs(X, metric, near=False, far=True)
    return far or PairDistance(0.0, (0, 1), 0, EQUAL)


def find_smallest_nonzero_distance(X: Any, *, metric: str = "sqeuclidean") -> PairDistance | None:
    """Smallest distance over all pairs of rows that differ; None if all rows are equal.

    Parameters
    ----------
    X, metric
        As in :func:`extreme_squared_distances`.

    Returns
    -------
    PairDistance or None

    Notes
    -----
    Equal rows are found by hashing and kept once. Sparse rows without a shared column are at
    distance ‖a‖² + ‖b‖², so only the shortest of those are compared. Two rows nearer than t
    share a column among the rarest ones that bring each row to ‖·‖² ≥ t; such pairs are compared
    column by column. Integer rows stop at distance 1. If a column has too many such pairs, and
    for dense rows, blocks of matrix products take time n²M. Up to 10 columns a k-d tree is used;
    ``pairs_checked`` does not count the pairs that it compares.

    Examples
    --------
    >>> find_smallest_nonzero_distance([[0.0, 1.0], [0.0, 1.0], [0.5, 1.0], [4.0, 1.0]]).distance
    0.25
    >>> find_smallest_nonzero_distance([[0.0, 1.0], [0.0, 1.0]]) is None
    True
    """
    near, _ = _find_pairs(X, metric, near=True, far=False)
    return near


def _find_pairs(
    X: Any, metric: str, *, near: bool, far: bool
) -> tuple[PairDistance | None, PairDistance | None]:
    """Find the nearest two rows that differ and the farthest two; None if all rows are equal."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is unknown; use one of {', '.join(METRICS)}")
    check_sparse("X", X)
    X = X.tocsr() if issparse(X) else np.asarray(X)
    rows = prepare_rows(X, squared=metric == "sqeuclidean")
    if issparse(rows.values):
        nearest = find_nearest_sparse(rows) if near else None
        farthest = find_farthest_sparse(rows) if far else None
    else:
        nearest, farthest = search_dense(rows, near=near, far=far)
    return _measure(X, nearest, metric), _measure(X, farthest, metric)


def _measure(X: Any, found: Found | None, metric: str) -> PairDistance | None:
    """Distance of a pair of rows of X, correctly rounded, if float64 can hold it."""
    if found is None:
        return None
    i, j = sorted((found.i, found.j))
    difference = subtract_pair(X, (i, j))
    with np.errstate(over="ignore", under="ignore"):
        terms = difference * difference if metric == "sqeuclidean" else np.abs(difference)
    distance = math.fsum(terms.tolist()) if np.isfinite(terms).all() else math.inf
    if distance == math.inf:
        raise ValueError(f"the distance of rows {i} and {j} of X overflows float64; scale X down")
    if distance < np.finfo(np.float64).tiny:
        raise ValueError(
            f"rows {i} and {j} of X differ, but their distance underflows float64; scale X up or "
            "set values as small as that to zero"
        )
    return PairDistance(distance, (i, j), found.n_checked, found.method)


def subtract_pair(X: Any, pair: tuple[int, int]) -> NDArray[np.float64]:
    """Return the nonzero entries of the difference of two rows of X."""
    if not issparse(X):
        i, j = np.asarray(np.asarray(X)[list(pair)], dtype=np.float64)
        return np.asarray((i - j)[i != j])
    i, j = (csr_array(X[[row]], dtype=np.float64) for row in pair)
    difference = i - j
    difference.eliminate_zeros()
    return np.asarray(difference.data)
