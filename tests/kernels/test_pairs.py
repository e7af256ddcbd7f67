"""Pairs of rows: all of them or drawn ones, and their distances; groups of equal rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from gradraker.kernels import pairs
from gradraker.kernels.pairs import (
    compute_pair_distances,
    group_equal_rows,
    sample_pairs,
    subtract_pair,
)


@pytest.mark.parametrize("n_pairs", [10, 11, 1000])
def test_sample_pairs_returns_all_pairs_where_they_are_few(n_pairs: int) -> None:
    first, second = sample_pairs(5, n_pairs, np.random.default_rng(0))
    expected = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == expected
    assert first.dtype == second.dtype == np.int64


@pytest.mark.parametrize(("n", "n_pairs"), [(5, 9), (3, 2), (40, 700)])
def test_sample_pairs_draws_as_many_as_asked_where_there_are_more(n: int, n_pairs: int) -> None:
    first, second = sample_pairs(n, n_pairs, np.random.default_rng(0))
    assert first.size == second.size == n_pairs


def test_drawn_pairs_are_of_two_rows_and_every_pair_is_drawn() -> None:
    # 2000 draws of 30 ordered pairs: one is missed with probability below 1e-27.
    n = 6
    drawn = [sample_pairs(n, 10, np.random.default_rng(seed)) for seed in range(200)]
    found = {pair for first, second in drawn for pair in zip(first, second, strict=True)}
    assert found == {(i, j) for i in range(n) for j in range(n) if i != j}


@pytest.mark.parametrize(("metric", "name"), [("l1", "cityblock"), ("sqeuclidean", "sqeuclidean")])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_distances_of_pairs_equal_all_distances(
    metric: str, name: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "_CHUNK", 4)  # more chunks than one, the last one shorter
    X = np.random.default_rng(1).normal(size=(7, 3)).round(1)
    first, second = sample_pairs(7, 1000, np.random.default_rng(0))
    found = compute_pair_distances(kind(X), first, second, metric=metric)
    np.testing.assert_allclose(found, cdist(X, X, name)[first, second], rtol=1e-12)


def test_chunks_hold_the_pairs_they_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    take = pairs._take_rows

    def note(X: object, rows: list[int]) -> object:
        sizes.append(len(rows))
        return take(X, rows)

    monkeypatch.setattr(pairs, "_CHUNK", 4)
    monkeypatch.setattr(pairs, "_take_rows", note)
    first, second = sample_pairs(5, 1000, np.random.default_rng(0))
    compute_pair_distances(np.eye(5), first, second, metric="l1")
    assert sizes == [4, 4, 4, 4, 2, 2]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_difference_of_a_pair_leaves_zeros_out(kind: type) -> None:
    X = np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 4.0]])
    assert subtract_pair(kind(X), (0, 1)).tolist() == [2.0, -4.0]
    assert subtract_pair(kind(X), (1, 0)).tolist() == [-2.0, 4.0]
    assert subtract_pair(kind(X.astype(int)), (0, 1)).dtype == np.float64


def _group_by_dictionary(X: NDArray[np.float64]) -> tuple[Any, ...]:
    first, groups = {}, []  # type: ignore[var-annotated]
    for i, row in enumerate(X.tolist()):
        first.setdefault(tuple(row), i)
        groups.append(list(first).index(tuple(row)))
    return list(first.values()), groups


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_array])
@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_groups_equal_a_dictionary_of_rows(
    kind: Callable[..., Any] | type[Any], n_values: int
) -> None:
    X = np.random.default_rng(n_values).integers(0, n_values, (60, 3)).astype(float)
    first, group = group_equal_rows(kind(X))
    expected = _group_by_dictionary(X)
    assert (first.tolist(), group.tolist()) == expected


def test_zero_and_minus_zero_are_equal() -> None:
    first, group = group_equal_rows(np.array([[0.0, 1.0], [-0.0, 1.0]]))
    assert (first.tolist(), group.tolist()) == ([0], [0, 0])


@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_array])
@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [2.0, 0.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[1.0, 0.0], [1.0, 1.0]],
        [[1.0, 1.0], [1.0, 0.0]],
    ],
)
def test_rows_that_differ_but_have_one_hash_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, X: list[Any], kind: Callable[..., Any] | type[Any]
) -> None:
    first, group = group_equal_rows(kind(np.array(X)))
    assert first.tolist() == group.tolist() == [0, 1]
    rows = kind(np.array([X[0], X[1], X[0]]))
    first, group = group_equal_rows(rows)
    assert (first.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])
    hash_rows, seeds = pairs._hash_rows, []

    def collide(values: Any, seed: Any) -> Any:
        seeds.append(seed)
        return hash_rows(values, seed) if seed == 2 else np.zeros(3, dtype=np.uint64)

    monkeypatch.setattr(pairs, "_hash_rows", collide)
    first, group = group_equal_rows(rows)
    assert (first.tolist(), group.tolist()) == ([0, 1], [0, 1, 0])
    assert seeds == [0, 1, 2]
