"""Exact smallest nonzero and largest distance over all pairs of rows, without all pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradraker.kernels.distances.canonical_rows import (
    DenseRows,
    Found,
    SparseRows,
    distinct_rows,
    prepare_rows,
)
from gradraker.kernels.distances.dense import search_dense
from gradraker.kernels.distances.sparse_largest import largest_sparse
from gradraker.kernels.distances.sparse_smallest import smallest_sparse

METRICS = ("sqeuclidean", "l1")
EQUAL = "equal rows"


@dataclass(frozen=True)
class PairDistance:
    """A distance and the pair of rows that are so far apart.

    Attributes
    ----------
    distance : float
        Squared Euclidean or l1 distance of the two rows, summed directly over columns.
    pair : tuple of int
        The two rows, the lower first; of several such pairs always the same one.
    pairs_checked : int
        Pairs of rows that were looked at, out of n(n−1)/2.
    method : str
        How the pair was found.
    """

    distance: float
    pair: tuple[int, int]
    pairs_checked: int
    method: str


@dataclass(frozen=True)
class ExtremeDistances:
    """The smallest nonzero and the largest distance over all pairs of rows.

    Attributes
    ----------
    smallest_nonzero : float or None
        None if all rows are equal.
    largest : float
        0.0 if all rows are equal.
    smallest_pair : tuple of int or None
        Two rows at the smallest nonzero distance.
    largest_pair : tuple of int
        Two rows at the largest distance.
    pairs_checked : int
        Pairs of rows that were looked at for both; two searches may look at a pair twice.
    methods : tuple of str
        How the smallest and the largest were found.
    """

    smallest_nonzero: float | None
    largest: float
    smallest_pair: tuple[int, int] | None
    largest_pair: tuple[int, int]
    pairs_checked: int
    methods: tuple[str, str]


def extreme_squared_distances(X: Any, *, metric: str = "sqeuclidean") -> ExtremeDistances:
    r"""Smallest nonzero and largest distance over all pairs of rows.

    .. math:: \min_{i<j,\, a_i \ne a_j} d(a_i, a_j), \qquad \max_{i<j} d(a_i, a_j)

    with d = Σ(x−y)² or, for ``metric="l1"``, d = Σ|x−y|. Rows are looked at only while a
    bound says that they may hold a better pair, and an n × n array is never made.

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

    See :func:`largest_distance` and :func:`smallest_nonzero_distance` for what the time grows
    with. Memory is that of X plus a few numbers per row and column.

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
    rows, squared = _prepared(X, metric)
    near, far = _search(rows, squared=squared, near=True, far=True)
    return ExtremeDistances(
        smallest_nonzero=_measure(rows, near, squared=squared) if near else None,
        largest=_measure(rows, far, squared=squared) if far else 0.0,
        smallest_pair=(near.i, near.j) if near else None,
        largest_pair=(far.i, far.j) if far else (0, 1),
        pairs_checked=sum(found.n_checked for found in (near, far) if found),
        methods=(near.method if near else EQUAL, far.method if far else EQUAL),
    )


def largest_distance(X: Any, *, metric: str = "sqeuclidean") -> PairDistance:
    """Largest distance over all pairs of rows; 0.0 if all rows are equal.

    Parameters
    ----------
    X : array-like or SciPy sparse, shape (n, M)
        Finite real rows, n ≥ 2; see :func:`extreme_squared_distances`.
    metric : {"sqeuclidean", "l1"}
        The distance.

    Returns
    -------
    PairDistance

    Notes
    -----
    Nonnegative rows have ‖a−b‖² ≤ ‖a‖² + ‖b‖². Pairs are visited by descending bound until
    it cannot beat the best, so a sparse matrix in which the longest rows overlap little, a
    power-law graph say, takes one pass over its entries. Where most rows share some columns,
    those are measured from their other end. What remains, signed or overlapping rows, is
    joined through the columns: time grows with the pairs of entries in one column, at worst
    with n times the entries.

    Dense rows have ‖a−b‖ ≤ ‖a−c‖ + ‖b−c‖ for their mean c. Where that rules out little, as
    for many columns of equal spread, blocked matrix products take time n²M, and n²/2 sums of
    M terms do for l1.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> largest_distance(sp.eye_array(1000, format="csr")).distance
    2.0
    """
    rows, squared = _prepared(X, metric)
    _, far = _search(rows, squared=squared, near=False, far=True)
    if far is None:
        return PairDistance(0.0, (0, 1), 0, EQUAL)
    return PairDistance(
        _measure(rows, far, squared=squared), (far.i, far.j), far.n_checked, far.method
    )


def smallest_nonzero_distance(X: Any, *, metric: str = "sqeuclidean") -> PairDistance | None:
    """Smallest distance over all pairs of rows that differ; None if all rows are equal.

    Parameters
    ----------
    X : array-like or SciPy sparse, shape (n, M)
        Finite real rows, n ≥ 2; see :func:`extreme_squared_distances`.
    metric : {"sqeuclidean", "l1"}
        The distance.

    Returns
    -------
    PairDistance or None

    Notes
    -----
    Equal rows are found by hashing and kept once. Sparse rows without a shared column are at
    distance ‖a‖² + ‖b‖², so the two shortest rows settle those. Two rows nearer than t share
    a column among the rarest ones that bring either row to ‖·‖² ≥ t; such pairs are visited
    by column, rows of similar norm (integers: sum) only. Where these are many, overlaps are
    added up for all pairs of entries in one column, the commonest columns left out. Time
    grows with the entries plus the lesser of the two: it is near n² where most rows agree on
    most columns and hold little else. Integers stop at distance 1.

    Dense rows are sorted along the line on which they spread most and compared while they
    are closer on it than the best pair; up to 10 columns a k-d tree is asked, whose own
    visits ``pairs_checked`` leaves out. Where rows spread equally in many directions,
    blocked matrix products take time n²M.

    Examples
    --------
    >>> smallest_nonzero_distance([[0.0, 1.0], [0.0, 1.0], [0.5, 1.0], [4.0, 1.0]]).distance
    0.25
    >>> smallest_nonzero_distance([[0.0, 1.0], [0.0, 1.0]]) is None
    True
    """
    rows, squared = _prepared(X, metric)
    near, _ = _search(rows, squared=squared, near=True, far=False)
    if near is None:
        return None
    return PairDistance(
        _measure(rows, near, squared=squared), (near.i, near.j), near.n_checked, near.method
    )


def _prepared(X: Any, metric: str) -> tuple[SparseRows | DenseRows, bool]:
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is unknown; use one of {', '.join(METRICS)}")
    squared = metric == "sqeuclidean"
    return prepare_rows(X, squared=squared), squared


def _search(
    rows: SparseRows | DenseRows, *, squared: bool, near: bool, far: bool
) -> tuple[Found | None, Found | None]:
    """Find the nearest pair of rows that differ and the farthest; None if all are equal."""
    squared = squared or rows.facts.binary
    if isinstance(rows, SparseRows):
        return (
            smallest_sparse(rows, squared=squared) if near else None,
            largest_sparse(rows, squared=squared) if far else None,
        )
    distinct = distinct_rows(rows)
    if distinct.labels.size == 1:
        return None, None
    return search_dense(distinct, squared=squared, near=near, far=far)


def _measure(rows: SparseRows | DenseRows, found: Found, *, squared: bool) -> float:
    """Distance of a pair in the unit of X, correctly rounded, if float64 can hold it."""
    differences = rows.difference(found.i, found.j) * rows.facts.unit
    with np.errstate(over="ignore", under="ignore"):
        terms = differences * differences if squared else np.abs(differences)
    rows_of_x = f"rows {found.i} and {found.j} of X"
    distance = math.fsum(terms.tolist()) if np.isfinite(terms).all() else math.inf
    if distance == math.inf:
        raise ValueError(f"the distance of {rows_of_x} overflows float64; scale X down")
    if distance < np.finfo(np.float64).tiny:
        raise ValueError(
            f"{rows_of_x} differ, but their distance underflows float64; scale X up or set "
            "values as small as that to zero"
        )
    return distance
