"""Exact extreme distances against all pairs of rows, and of rows made by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from gradraker.kernels.distances.extremes import (
    extreme_squared_distances,
    find_largest_distance,
    find_smallest_nonzero_distance,
    subtract_pair,
)
from graphs import power_law_graph
from oracles.distance_examples import EXAMPLES, METRICS, is_integral, sparse
from oracles.distances import extremes


def _check(
    X: NDArray[Any], metric: str, pair: tuple[int, int], distance: float, expected: float
) -> None:
    """The distance is that of its pair, and the expected one: exactly for integers."""
    i, j = pair
    assert i < j
    terms = np.abs(X[i] - X[j]) ** (2 if metric == "sqeuclidean" else 1)
    assert distance == math.fsum(terms)
    assert distance == (expected if is_integral(X) else pytest.approx(expected, rel=1e-13, abs=0.0))


def _check_extremes(X: Any, found: Any, metric: Any) -> None:
    smallest, largest = extremes(X, metric)
    _check(X, metric, found.largest_pair, found.largest, largest)
    if smallest is None:
        assert found.smallest_nonzero is None
        assert found.smallest_pair is None
    else:
        _check(X, metric, found.smallest_pair, found.smallest_nonzero, smallest)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("name", EXAMPLES)
def test_extremes_equal_all_pairs(
    name: str, kind: Callable[..., Any] | type[Any], metric: str
) -> None:
    X = EXAMPLES[name]
    _check_extremes(X, extreme_squared_distances(kind(X), metric=metric), metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_one_extreme_alone_equals_both_together(name: str, metric: Any) -> None:
    X = EXAMPLES[name]
    both = extreme_squared_distances(X, metric=metric)
    assert find_largest_distance(X, metric=metric).distance == both.largest
    assert find_smallest_nonzero_distance(X, metric=metric).distance == both.smallest_nonzero  # type: ignore[union-attr]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["dense", "few columns", "integers", "sparse", "near pairs"])
def test_extremes_equal_all_pairs_of_2500_rows(name: str, metric: str) -> None:
    """Enough rows for several blocks, a tree, and lists of columns."""
    rng = np.random.default_rng(1)
    X = {  # type: ignore[no-untyped-call]
        "dense": lambda: rng.standard_normal((2500, 15)),
        "few columns": lambda: rng.standard_normal((2500, 2)),
        "integers": lambda: rng.integers(0, 3, (2500, 15)),
        "sparse": lambda: sparse(rng, 2500, 200, 0.05, rng.random((2500, 200))),
        # Products lose these differences to rounding: 1e-8 next to 1e3, squared.
        "near pairs": lambda: (
            1e3 * rng.standard_normal((1250, 15)).repeat(2, axis=0)
            + 1e-8 * rng.standard_normal((2500, 15))
        ),
    }[name]()
    distances = pdist(X, "cityblock" if metric == "l1" else metric)
    found = extreme_squared_distances(X, metric=metric)
    assert found.largest == pytest.approx(distances.max(), rel=1e-13, abs=0.0)
    assert found.smallest_nonzero == pytest.approx(
        distances[distances > 0].min(), rel=1e-13, abs=0.0
    )


# Rows made by hand


def test_extremes_of_path_of_four_nodes() -> None:
    # 0–1–2–3. Rows 0100, 1010, 0101, 0010: rows 0 and 2 differ in one place, and so do 1 and 3.
    # Rows 0, 1 differ in three places; rows 1 and 2 in all four.
    path = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(4, 4))
    found = extreme_squared_distances(path)
    assert (found.smallest_nonzero, found.largest) == (1.0, 4.0)
    assert found.smallest_pair in {(0, 2), (1, 3)}
    assert found.largest_pair == (1, 2)


def test_extremes_of_star() -> None:
    # The centre holds 5 leaves, every leaf holds the centre only: distance 6, leaves are equal.
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1.0
    found = extreme_squared_distances(star)
    assert found.smallest_nonzero == found.largest == 6.0
    assert found.smallest_pair == found.largest_pair == (0, 1)


def test_largest_distance_of_opposed_rows() -> None:
    # Antiparallel rows are farther apart than their squared norms add up to: (2+2)² > 4+4.
    X = sp.csr_array(np.pad([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.5]], ((0, 0), (0, 18))))
    assert find_largest_distance(X).distance == 16.0
    assert find_largest_distance(X).pair == (0, 1)


def test_smallest_distance_is_not_between_shortest_signed_rows() -> None:
    # The two shortest rows oppose each other, (1+1.1)² = 4.41; rows 0 and 2 share nothing: 2.44.
    X = sp.csr_array(np.pad(np.array([[1.0, 0.0], [-1.1, 0.0], [0.0, 1.2]]), ((0, 0), (0, 18))))
    found = find_smallest_nonzero_distance(X)
    assert found is not None
    assert found.distance == pytest.approx(2.44)
    assert found is not None
    assert found.pair == (0, 2)


def test_extremes_of_weighted_rows_in_both_metrics() -> None:
    X = np.array([[1.0, 2.0, 0.0], [0.0, 2.5, 0.0], [0.0, 0.0, 3.0]])
    squared = extreme_squared_distances(X)
    assert (squared.smallest_nonzero, squared.largest) == (1.25, 15.25)
    plain = extreme_squared_distances(X, metric="l1")
    assert (plain.smallest_nonzero, plain.largest) == (1.5, 6.0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("X", [np.ones((5, 3)), np.zeros((4, 30)), np.eye(1, 40).repeat(9, axis=0)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_equal_rows_have_no_smallest_nonzero_distance(
    X: NDArray[np.float64], kind: Callable[..., Any] | type[Any], metric: str
) -> None:
    found = extreme_squared_distances(kind(X), metric=metric)
    assert found.largest == 0.0
    assert found.smallest_nonzero is None
    assert found.smallest_pair is None
    assert find_smallest_nonzero_distance(kind(X), metric=metric) is None
    assert find_largest_distance(kind(X), metric=metric).distance == 0.0


def test_rows_one_ulp_apart_differ() -> None:
    row = np.random.default_rng(0).random(30)
    other = row.copy()
    other[7] = np.nextafter(row[7], 1.0)
    found = extreme_squared_distances(np.array([row, other, row, 1.0 + row]))
    assert found.smallest_nonzero == (other[7] - row[7]) ** 2
    assert found.smallest_pair == (0, 1)


# Properties

MATRICES = st.tuples(st.integers(2, 9), st.integers(1, 14)).flatmap(
    lambda shape: st.lists(
        st.lists(
            st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, -1.0, 0.1, 0.3, 1e-5, -7.25]),
            min_size=shape[1],
            max_size=shape[1],
        ),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


@settings(deadline=None, max_examples=3 * settings().max_examples // 2)
@given(
    X=MATRICES, metric=st.sampled_from(METRICS), kind=st.sampled_from([np.asarray, sp.csr_array])
)
def test_extremes_of_any_matrix_equal_all_pairs(X: Any, metric: Any, kind: Any) -> None:
    _check_extremes(X, extreme_squared_distances(kind(X), metric=metric), metric)


@settings(deadline=None)
@given(X=MATRICES, metric=st.sampled_from(METRICS), seed=st.integers(0, 1000))
def test_extremes_do_not_depend_on_order_of_rows_and_columns(
    X: Any, metric: Any, seed: Any
) -> None:
    rng = np.random.default_rng(seed)
    found = extreme_squared_distances(X, metric=metric)
    moved = X[rng.permutation(X.shape[0])][:, rng.permutation(X.shape[1])]
    other = extreme_squared_distances(moved, metric=metric)
    assert other.largest == pytest.approx(found.largest, rel=1e-13, abs=0.0)
    if found.smallest_nonzero is None:
        assert other.smallest_nonzero is None
    else:
        assert other.smallest_nonzero == pytest.approx(found.smallest_nonzero, rel=1e-13, abs=0.0)


@settings(deadline=None)
@given(X=MATRICES, metric=st.sampled_from(METRICS))
def test_extremes_do_not_depend_on_repeated_rows(X: Any, metric: Any) -> None:
    once = extreme_squared_distances(X, metric=metric)
    twice = extreme_squared_distances(np.vstack([X, X]), metric=metric)
    assert twice.smallest_nonzero == once.smallest_nonzero
    assert twice.largest == once.largest


# Few pairs are compared


def test_power_law_graph_compares_few_pairs() -> None:
    graph = power_law_graph(20_000, 200_000, np.random.default_rng(0))
    assert graph.nnz == 200_000
    found = extreme_squared_distances(graph)
    assert found.pairs_checked < 1000
    longest = np.sort(graph.sum(axis=1))[-2:]
    assert longest.sum() * 0.8 < found.largest <= longest.sum()


def test_column_that_all_rows_share_compares_few_pairs() -> None:
    """All norm bounds are 2 too large here, so they alone would compare all pairs."""
    rng = np.random.default_rng(0)
    n = 10_000
    targets = np.sort(rng.integers(1, n, (n, 8)), axis=1)
    columns = np.hstack([np.zeros((n, 1), dtype=np.int64), targets])  # [n, 9]
    X = sp.csr_array((np.ones(9 * n), columns.ravel(), np.arange(0, 9 * n + 1, 9)), shape=(n, n))
    X.sum_duplicates()
    X.data[:] = 1.0
    found = extreme_squared_distances(X)
    assert found.largest == 16.0
    assert found.pairs_checked < n * (n - 1) / 2 / 20


def test_extremes_are_reproducible() -> None:
    X = np.tile(EXAMPLES["unweighted"], (2, 1))
    assert extreme_squared_distances(X) == extreme_squared_distances(X)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_difference_of_a_pair_leaves_zeros_out(kind: type) -> None:
    X = np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 4.0]])
    assert subtract_pair(kind(X), (0, 1)).tolist() == [2.0, -4.0]
    assert subtract_pair(kind(X), (1, 0)).tolist() == [-2.0, 4.0]
    assert subtract_pair(kind(X.astype(int)), (0, 1)).dtype == np.float64
