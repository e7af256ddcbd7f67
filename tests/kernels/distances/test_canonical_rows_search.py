"""The searches over dense rows against all pairs, on rows of every kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker.kernels.distances import canonical_rows
from gradraker.kernels.distances.canonical_rows import prepare_rows, search_dense
from oracles.distance_examples import EXAMPLES, METRICS, check_found
from oracles.distances import extremes


@pytest.fixture
def prepare_dense(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Prepare rows as dense whatever they hold."""
    monkeypatch.setattr(canonical_rows, "DENSE_ABOVE", -1.0)

    def prepare(X: Any, metric: Any) -> Any:
        rows = prepare_rows(np.asarray(X), squared=metric == "sqeuclidean")
        assert isinstance(rows.values, np.ndarray)
        return rows

    return prepare


def _check(X: NDArray[Any], metric: str, found: tuple[Any, ...]) -> None:
    smallest, largest = extremes(X, metric)
    check_found(X, found[0], metric, smallest)
    check_found(X, found[1], metric, largest)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block_rows", [1, 7, 1024])
@pytest.mark.parametrize("name", EXAMPLES)
def test_search_dense_by_blocks(
    monkeypatch: pytest.MonkeyPatch,
    prepare_dense: Callable[..., Any],
    name: str,
    block_rows: int,
    metric: Any,
) -> None:
    monkeypatch.setattr(canonical_rows, "BLOCK_ROWS", block_rows)
    X = EXAMPLES[name]
    rows = prepare_dense(X, metric)
    both = search_dense(rows, near=True, far=True)
    _check(X, metric, both)
    alone = search_dense(rows, near=False, far=True)
    assert alone[0] is None
    check_found(X, alone[1], metric, extremes(X, metric)[1])  # type: ignore[arg-type]
    assert search_dense(rows, near=True, far=False)[1] is None


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block_rows", [7, 1024])
@pytest.mark.parametrize("name", EXAMPLES)
def test_search_dense_by_tree(
    monkeypatch: pytest.MonkeyPatch,
    prepare_dense: Callable[..., Any],
    name: str,
    block_rows: int,
    metric: Any,
) -> None:
    monkeypatch.setattr(canonical_rows, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(canonical_rows, "DENSE_UP_TO_COLUMNS", 1000)
    monkeypatch.setattr(canonical_rows, "TREE_FROM_ROWS", 2)
    X = EXAMPLES[name]
    nearest, _ = search_dense(prepare_dense(X, metric), near=True, far=False)
    assert nearest is not None
    assert nearest.method == "tree"
    check_found(X, nearest, metric, extremes(X, metric)[0])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("near_pairs", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_search_dense_allows_for_errors_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
    prepare_dense: Callable[..., Any],
    seed: int,
    near_pairs: bool,
    metric: str,
) -> None:
    """One row per block tests the bounds that leave out blocks.

    Pairs so near that single precision loses their difference test the errors of blocks.
    """
    monkeypatch.setattr(canonical_rows, "BLOCK_ROWS", 12 if near_pairs else 1)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 40 if near_pairs else 3))
    if near_pairs:
        X = 1e3 * X[:6].repeat(2, axis=0) + 1e-8 * X
    _check(X, metric, search_dense(prepare_dense(X, metric), near=True, far=True))
