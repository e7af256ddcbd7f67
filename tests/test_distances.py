"""Exact extreme distances against all pairs, hand-made rows, and each plan by force."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from gradraker.kernels.distances import canonical_rows as _rows
from gradraker.kernels.distances import dense_blocks as _blocks
from gradraker.kernels.distances.canonical_rows import (
    DenseRows,
    SparseRows,
    distinct_rows,
    prepare_rows,
)
from gradraker.kernels.distances.dense import cast_shadow, search_dense
from gradraker.kernels.distances.extremes import (
    extreme_squared_distances,
    largest_distance,
    smallest_nonzero_distance,
)
from gradraker.kernels.distances.sparse_largest import largest_sparse
from gradraker.kernels.distances.sparse_smallest import Limits, smallest_sparse
from graphs import power_law_graph
from oracles.distance_examples import EXAMPLES, METRICS, sparse
from oracles.distances import all_distances, extremes


def _is_integral(X):
    return bool(np.all(np.rint(X) == X))


def _check(X, metric, pair, distance, expected):
    """The distance is that of its pair, and the expected one: exactly for integers."""
    i, j = pair
    assert i < j
    terms = np.abs(X[i] - X[j]) ** (2 if metric == "sqeuclidean" else 1)
    assert distance == math.fsum(terms)
    assert distance == (
        expected if _is_integral(X) else pytest.approx(expected, rel=1e-13, abs=0.0)
    )


def _check_extremes(X, found, metric):
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
def test_equals_all_pairs(name, kind, metric):
    X = EXAMPLES[name]
    _check_extremes(X, extreme_squared_distances(kind(X), metric=metric), metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_one_extreme_alone_is_the_same(name, metric):
    X = EXAMPLES[name]
    both = extreme_squared_distances(X, metric=metric)
    assert largest_distance(X, metric=metric).distance == both.largest
    assert smallest_nonzero_distance(X, metric=metric).distance == both.smallest_nonzero


# Every plan, whatever would have been chosen


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_ROWS", 7)


def _forced(monkeypatch, X, *, dense, metric):
    """Prepare rows as dense or sparse, against what their density suggests."""
    monkeypatch.setattr(_rows, "DENSE_UP_TO_COLUMNS", -1)
    monkeypatch.setattr(_rows, "DENSE_ABOVE", -1.0 if dense else 2.0)
    rows = prepare_rows(X, squared=metric == "sqeuclidean")
    assert isinstance(rows, DenseRows if dense else SparseRows)
    return rows


def _check_found(X, found, metric, expected):
    if not expected:
        assert found is None
        return
    distance = all_distances(X, metric)[found.i, found.j]
    exact = distance == expected
    assert exact if _is_integral(X) else distance == pytest.approx(expected, rel=1e-13, abs=0.0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("plan", ["norms", "anchors", "join"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_plans_for_the_largest_of_sparse_rows(monkeypatch, name, plan, metric):
    X = EXAMPLES[name]
    rows = _forced(monkeypatch, X, dense=False, metric=metric)
    squared = metric == "sqeuclidean"
    found = largest_sparse(rows, squared=squared, plan=plan)
    _check_found(X, found, metric, extremes(X, metric)[1])
    replanned = largest_sparse(rows, squared=squared, first_look=0.0)
    _check_found(X, replanned, metric, extremes(X, metric)[1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(Limits(join_below=0.0), id="leading entries in one round"),
        pytest.param(Limits(0.0, 0.0, pairs=1.0, join_below=0.0), id="leading entries in rounds"),
        pytest.param(Limits(0.0, 0.0, join_below=1e9), id="join"),
        pytest.param(
            Limits(0.0, 0.0, join_below=1e9, cheap_join=0.0), id="join without common columns"
        ),
    ],
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_plans_for_the_smallest_of_sparse_rows(monkeypatch, name, limits, metric):
    X = EXAMPLES[name]
    rows = _forced(monkeypatch, X, dense=False, metric=metric)
    found = smallest_sparse(rows, squared=metric == "sqeuclidean", limits=limits)
    _check_found(X, found, metric, extremes(X, metric)[0])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("plan", ["sweep", "blocks", "tree"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_plans_for_dense_rows(monkeypatch, name, plan, metric):
    X = EXAMPLES[name]
    rows = distinct_rows(_forced(monkeypatch, X, dense=True, metric=metric))
    squared, far = metric == "sqeuclidean", plan != "tree"
    expected = extremes(X, metric)
    nearest, farthest = search_dense(rows, squared=squared, near=True, far=far, plan=plan)
    _check_found(X, nearest, metric, expected[0])
    if far:
        _check_found(X, farthest, metric, expected[1])
        alone = search_dense(rows, squared=squared, near=False, far=True, plan=plan)
        assert alone[0] is None
        _check_found(X, alone[1], metric, expected[1])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_blocks_from_nothing(monkeypatch, seed, near, metric):
    """No pair to start from, so that only bounds and products say what to skip.

    One row a block tries the bounds. Pairs so near that products lose their difference to
    rounding try what is said about the error of products.
    """
    monkeypatch.setattr(_blocks, "BLOCK_ROWS", 12 if near else 1)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 40 if near else 3))
    if near:
        X = 1e3 * X[:6].repeat(2, axis=0) + 1e-8 * X
    rows = prepare_rows(X, squared=metric == "sqeuclidean")
    squared, nothing = metric == "sqeuclidean", _blocks.Extremes(smallest=np.inf, largest=-1.0)
    shadow = cast_shadow(rows, squared=squared)
    found = _blocks.search_blocks(
        rows, shadow, nothing, np.arange(12), squared=squared, near=True, far=True
    )
    assert (found.smallest, found.largest) == pytest.approx(extremes(X, metric), rel=1e-13, abs=0.0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(20))
def test_rows_with_little_but_common_columns(monkeypatch, seed, metric):
    """Where a join leaves out common columns, rows with nothing else are compared as well."""
    rng = np.random.default_rng(seed)
    X = np.zeros((60, 80))
    X[:, :2] = 9.0 + rng.random((60, 2))
    X[np.arange(8, 60), np.arange(8, 60)] = 1.0
    rows = _forced(monkeypatch, X, dense=False, metric=metric)
    limits = Limits(0.0, 0.0, join_below=1e9, cheap_join=0.0)
    found = smallest_sparse(rows, squared=metric == "sqeuclidean", limits=limits)
    _check_found(X, found, metric, extremes(X, metric)[0])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["dense", "few columns", "integers", "sparse", "near pairs"])
def test_equals_all_pairs_of_more_rows(name, metric):
    """Enough rows for several blocks, trees and plans that are chosen, not forced."""
    rng = np.random.default_rng(1)
    X = {
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


def test_path_of_four_nodes():
    # 0–1–2–3. Rows 0100, 1010, 0101, 0010: rows 0 and 2 differ in one place, and so do 1 and 3.
    # Rows 0, 1 differ in three places; rows 1 and 2 in all four.
    path = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(4, 4))
    found = extreme_squared_distances(path)
    assert (found.smallest_nonzero, found.largest) == (1.0, 4.0)
    assert found.smallest_pair in {(0, 2), (1, 3)}
    assert found.largest_pair == (1, 2)


def test_star_has_two_kinds_of_rows():
    # The centre holds 5 leaves, every leaf holds the centre only: distance 6, leaves are equal.
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1.0
    found = extreme_squared_distances(star)
    assert found.smallest_nonzero == found.largest == 6.0
    assert found.smallest_pair == found.largest_pair == (0, 1)


def test_signed_rows_oppose():
    # Antiparallel rows are farther apart than their squared norms add up to: (2+2)² > 4+4.
    X = sp.csr_array(np.pad([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.5]], ((0, 0), (0, 18))))
    assert largest_distance(X).distance == 16.0
    assert largest_distance(X).pair == (0, 1)


def test_shortest_signed_rows_need_not_be_the_nearest():
    # The two shortest rows oppose each other, (1+1.1)² = 4.41; rows 0 and 2 share nothing: 2.44.
    X = sp.csr_array(np.pad(np.array([[1.0, 0.0], [-1.1, 0.0], [0.0, 1.2]]), ((0, 0), (0, 18))))
    found = smallest_nonzero_distance(X)
    assert found.distance == pytest.approx(2.44)
    assert found.pair == (0, 2)


def test_weighted_rows_in_both_metrics():
    X = np.array([[1.0, 2.0, 0.0], [0.0, 2.5, 0.0], [0.0, 0.0, 3.0]])
    squared = extreme_squared_distances(X)
    assert (squared.smallest_nonzero, squared.largest) == (1.25, 15.25)
    plain = extreme_squared_distances(X, metric="l1")
    assert (plain.smallest_nonzero, plain.largest) == (1.5, 6.0)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("X", [np.ones((5, 3)), np.zeros((4, 30)), np.eye(1, 40).repeat(9, axis=0)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_equal_rows_have_no_smallest_nonzero(X, kind, metric):
    found = extreme_squared_distances(kind(X), metric=metric)
    assert found.largest == 0.0
    assert found.smallest_nonzero is None
    assert found.smallest_pair is None
    assert smallest_nonzero_distance(kind(X), metric=metric) is None
    assert largest_distance(kind(X), metric=metric).distance == 0.0


def test_rows_that_differ_by_rounding_only_do_differ():
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


@settings(deadline=None, max_examples=150)
@given(
    X=MATRICES, metric=st.sampled_from(METRICS), kind=st.sampled_from([np.asarray, sp.csr_array])
)
def test_any_matrix_equals_all_pairs(X, metric, kind):
    _check_extremes(X, extreme_squared_distances(kind(X), metric=metric), metric)


@settings(deadline=None, max_examples=50)
@given(X=MATRICES, metric=st.sampled_from(METRICS), seed=st.integers(0, 1000))
def test_order_of_rows_and_columns_does_not_matter(X, metric, seed):
    rng = np.random.default_rng(seed)
    found = extreme_squared_distances(X, metric=metric)
    moved = X[rng.permutation(X.shape[0])][:, rng.permutation(X.shape[1])]
    other = extreme_squared_distances(moved, metric=metric)
    assert other.largest == pytest.approx(found.largest, rel=1e-13, abs=0.0)
    if found.smallest_nonzero is None:
        assert other.smallest_nonzero is None
    else:
        assert other.smallest_nonzero == pytest.approx(found.smallest_nonzero, rel=1e-13, abs=0.0)


@settings(deadline=None, max_examples=50)
@given(X=MATRICES, metric=st.sampled_from(METRICS))
def test_repeated_rows_do_not_matter(X, metric):
    once = extreme_squared_distances(X, metric=metric)
    twice = extreme_squared_distances(np.vstack([X, X]), metric=metric)
    assert twice.smallest_nonzero == once.smallest_nonzero
    assert twice.largest == once.largest


# The point of it


def test_power_law_graph_takes_few_pairs():
    graph = power_law_graph(20_000, 200_000, np.random.default_rng(0))
    assert graph.nnz == 200_000
    found = extreme_squared_distances(graph)
    assert found.pairs_checked < 1000
    longest = np.sort(graph.sum(axis=1))[-2:]
    assert longest.sum() * 0.8 < found.largest <= longest.sum()


def test_column_that_all_rows_share_takes_few_pairs():
    """All norm bounds are 2 too large here, so they alone would look at all pairs."""
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


def test_result_is_the_same_each_time():
    X = np.tile(EXAMPLES["unweighted"], (2, 1))
    assert extreme_squared_distances(X) == extreme_squared_distances(X)
