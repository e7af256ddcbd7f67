"""Pairs of rows: all of them or drawn ones, and their distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gradraker.kernels import pairs
from gradraker.kernels.pairs import compute_pair_distances, sample_pairs


@pytest.mark.parametrize("n_pairs", [10, 11, 1000])
def test_sample_pairs_returns_all_pairs_where_they_are_few(n_pairs: int) -> None:
    first, second = sample_pairs(5, n_pairs, np.random.default_rng(0))
    expected = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == expected
    assert first.dtype == second.dtype == np.int64


@pytest.mark.parametrize(("n", "n_pairs"), [(5, 9), (3, 2), (40, 700)])
def test_sample_pairs_draws_n_pairs_if_there_are_more(n: int, n_pairs: int) -> None:
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


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_distances_of_small_integers_are_exact(kind: type) -> None:
    X = np.array([[100, 0], [-100, 1]], dtype=np.int8)  # differences are no int8
    found = compute_pair_distances(kind(X), np.array([0]), np.array([1]), metric="sqeuclidean")
    assert found.tolist() == [200.0**2 + 1.0]


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
