"""The searches over sparse rows against all pairs, on rows of every kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gradraker.kernels.distances import canonical_rows, sparse_search
from gradraker.kernels.distances.canonical_rows import prepare_rows
from gradraker.kernels.distances.sparse_search import find_farthest_sparse, find_nearest_sparse
from oracles.distance_examples import EXAMPLES, METRICS, check_found
from oracles.distances import extremes


@pytest.fixture
def prepare_sparse(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Prepare rows as sparse whatever they hold."""
    monkeypatch.setattr(canonical_rows, "DENSE_UP_TO_COLUMNS", -1)
    monkeypatch.setattr(canonical_rows, "DENSE_ABOVE", 2.0)

    def prepare(X: Any, metric: Any) -> Any:
        rows = prepare_rows(np.asarray(X), squared=metric == "sqeuclidean")
        assert sp.issparse(rows.values)
        return rows

    return prepare


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("products_at_once", [1, sparse_search.PRODUCTS])
@pytest.mark.parametrize("name", EXAMPLES)
def test_find_farthest_sparse(
    monkeypatch: pytest.MonkeyPatch,
    prepare_sparse: Callable[..., Any],
    name: str,
    products_at_once: int,
    metric: Any,
) -> None:
    monkeypatch.setattr(sparse_search, "PRODUCTS", products_at_once)
    X = EXAMPLES[name]
    found = find_farthest_sparse(prepare_sparse(X, metric))
    check_found(X, found, metric, extremes(X, metric)[1])  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("largest_dense_copy", [0, np.inf])
@pytest.mark.parametrize("name", EXAMPLES)
def test_find_nearest_sparse(
    monkeypatch: pytest.MonkeyPatch,
    prepare_sparse: Callable[..., Any],
    name: str,
    largest_dense_copy: float,
    metric: Any,
) -> None:
    """With and without blocks of all pairs where lists of columns are long."""
    monkeypatch.setattr(sparse_search, "DENSE_ENTRIES", largest_dense_copy)
    X = EXAMPLES[name]
    found = find_nearest_sparse(prepare_sparse(X, metric))
    check_found(X, found, metric, extremes(X, metric)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(20))
def test_find_nearest_sparse_among_rows_with_common_columns(
    monkeypatch: pytest.MonkeyPatch, prepare_sparse: Callable[..., Any], seed: int, metric: Any
) -> None:
    monkeypatch.setattr(sparse_search, "DENSE_ENTRIES", 0)
    rng = np.random.default_rng(seed)
    X = np.zeros((60, 80))
    X[:, :2] = 9.0 + rng.random((60, 2))
    X[np.arange(8, 60), np.arange(8, 60)] = 1.0
    found = find_nearest_sparse(prepare_sparse(X, metric))
    check_found(X, found, metric, extremes(X, metric)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("values", ["signs", "small integers", "normal"])
def test_searches_of_sparse_random_rows(
    monkeypatch: pytest.MonkeyPatch,
    prepare_sparse: Callable[..., Any],
    values: str,
    seed: int,
    metric: Any,
) -> None:
    """Few long rows and many short ones, so that every bound rules something out."""
    monkeypatch.setattr(sparse_search, "DENSE_ENTRIES", 0)
    rng = np.random.default_rng(seed)
    shape = 30, 25
    makers: dict[str, Callable[[], Any]] = {
        "signs": lambda: rng.choice([-1.0, 1.0], shape),
        "small integers": lambda: rng.integers(1, 4, shape).astype(float),
        "normal": lambda: rng.standard_normal(shape),
    }
    drawn = makers[values]()
    X = np.where(rng.random(shape) < rng.uniform(0.05, 0.6, (30, 1)), drawn, 0.0)
    rows = prepare_sparse(X, metric)
    smallest, largest = extremes(X, metric)
    check_found(X, find_nearest_sparse(rows), metric, smallest)  # type: ignore[arg-type]
    check_found(X, find_farthest_sparse(rows), metric, largest)  # type: ignore[arg-type]


def test_find_nearest_sparse_takes_blocks_where_rows_share_many_columns(
    prepare_sparse: Any,
) -> None:
    X = np.random.default_rng(0).random((300, 40))
    assert find_nearest_sparse(prepare_sparse(X, "sqeuclidean")).method == "blocks"  # type: ignore[union-attr]


def test_find_nearest_sparse_keeps_tiny_differences_in_a_common_column(
    prepare_sparse: Callable[..., Any],
) -> None:
    # Measured from 1.0, the entries 1e-20 and 3e-20 of the first column would be equal.
    X = np.zeros((8, 30))
    X[:, 0] = [1, 1, 1, 1, 1, 1, 1e-20, 3e-20]
    X[np.arange(6), np.arange(1, 7)] = X[6:, 10] = 1.0
    found = find_nearest_sparse(prepare_sparse(X, "sqeuclidean"))
    assert found is not None
    assert sorted((found.i, found.j)) == [6, 7]


def test_find_nearest_sparse_compares_rows_that_reach_a_shared_column_late(
    monkeypatch: pytest.MonkeyPatch, prepare_sparse: Callable[..., Any]
) -> None:
    # Rows 0 and 1 hold 1.0 each before the column that they share: 2 in all. The short rows 2
    # and 3, which are compared first, are 1.02² + 1.05² = 2.14 apart.
    monkeypatch.setattr(sparse_search, "DENSE_ENTRIES", 0)
    X = np.zeros((4, 20))
    X[[0, 1], 5], X[[2, 3], 4] = 5.0, 3.0
    X[0, 10] = X[1, 11] = 1.0
    X[2, 12], X[3, 13] = 1.02, 1.05
    found = find_nearest_sparse(prepare_sparse(X, "sqeuclidean"))
    assert found is not None
    assert sorted((found.i, found.j)) == [0, 1]


def test_find_nearest_sparse_compares_short_rows_without_a_shared_column(
    monkeypatch: pytest.MonkeyPatch, prepare_sparse: Callable[..., Any]
) -> None:
    # The two shortest rows oppose each other, (1+1.1)² = 4.41; rows 0 and 2 share nothing: 2.44.
    monkeypatch.setattr(sparse_search, "DENSE_ENTRIES", 0)
    X = np.pad(np.array([[1.0, 0.0], [-1.1, 0.0], [0.0, 1.2]]), ((0, 0), (0, 18)))
    found = find_nearest_sparse(prepare_sparse(X, "sqeuclidean"))
    assert found is not None
    assert sorted((found.i, found.j)) == [0, 2]
