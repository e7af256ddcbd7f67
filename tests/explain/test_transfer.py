"""Whether similar rows have similar values: by hand, by an oracle, and on the paper's data."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import spearmanr

from gradraker import load_temperature
from gradraker.datasets import fetch_cora_con, make_block_graph, make_threshold_graph, split_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import DatasetUnavailableError
from gradraker.explain import SimilarityTransfer, nearest, similarity_transfer, transfer

# Rows at 0, 1, 3 and 7 on a line; values 2, 4, 4, 6, which scaled are 0, 1/2, 1/2, 1.
LINE = [[0.0], [1.0], [3.0], [7.0]]
VALUES = [2.0, 4.0, 4.0, 6.0]


def relative_error(X: Any, y: NDArray[np.float64] | list[float], k: int) -> Any:
    """Straight from the definition, one node at a time."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    y = np.asarray(y, dtype=float)
    by_nearest = by_mean = 0.0
    for i in range(len(y)):
        others = [j for j in range(len(y)) if j != i]
        distances = {j: float(((X[i] - X[j]) ** 2).sum()) for j in others}
        kth = sorted(distances.values())[k - 1]
        near = [j for j in others if distances[j] <= kth * (1.0 + 1e-9)]
        by_nearest += (y[i] - y[near].mean()) ** 2
        by_mean += (y[i] - y[others].mean()) ** 2
    return by_nearest / by_mean


# -- by hand -------------------------------------------------------------------


def test_distances_and_differences_of_pairs_by_hand() -> None:
    found = similarity_transfer(LINE, VALUES, n_neighbors=1)
    assert found.squared_distances.tolist() == [1, 9, 49, 4, 36, 16]
    assert found.value_differences.tolist() == [0.5, 0.5, 1.0, 0.0, 0.5, 0.5]


def test_relative_error_by_hand() -> None:
    # Nearest rows 1, 0, 1, 2 give the errors 1/2, 1/2, 0, 1/2. The means of the others,
    # 2/3, 1/2, 1/2, 1/3, give 2/3, 0, 0, 2/3: (3/4) / (8/9).
    found = similarity_transfer(LINE, VALUES, n_neighbors=1)
    assert found.relative_error == pytest.approx(27 / 32, rel=1e-12)


def test_rank_correlation_is_spearmans() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (30, 4)), rng.integers(0, 5, 30)
    found = similarity_transfer(X, y)
    wanted = spearmanr(found.squared_distances, found.value_differences)[0]
    assert found.rank_correlation == pytest.approx(wanted, abs=1e-12)


# -- against the definition ------------------------------------------------------


@given(data=st.data())
def test_relative_error_is_the_definition(data: Any) -> None:
    n = data.draw(st.integers(3, 25))
    k = data.draw(st.integers(1, n - 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    density = data.draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0]))
    X = sp.random_array(
        (n, data.draw(st.integers(1, 20))), density=density, random_state=rng, format="csr"
    )
    kind = data.draw(st.sampled_from(["unweighted", "weighted", "signed"]))
    X.data = {"unweighted": np.ones_like(X.data), "weighted": X.data, "signed": X.data - 0.5}[kind]
    y = rng.normal(size=n)
    wanted = relative_error(X, y, k)
    for rows in (X, X.toarray(), X.tocoo()):
        found = similarity_transfer(rows, y, n_neighbors=k)
        assert found.relative_error == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("density", [0.02, 0.6])
def test_results_do_not_depend_on_the_size_of_blocks(
    monkeypatch: pytest.MonkeyPatch, density: float
) -> None:
    rng = np.random.default_rng(1)
    X = sp.random_array((60, 40), density=density, random_state=rng, format="csr")
    y = rng.normal(size=60)
    whole = similarity_transfer(X, y)
    monkeypatch.setattr(nearest, "_BLOCK_BYTES", 1)
    in_blocks = similarity_transfer(X, y)
    assert in_blocks.relative_error == pytest.approx(whole.relative_error, rel=1e-12)
    np.testing.assert_allclose(in_blocks.squared_distances, whole.squared_distances, rtol=1e-12)
    assert whole.relative_error == pytest.approx(relative_error(X, y, 5), rel=1e-9)


@pytest.mark.parametrize("n_columns", [2, 50])  # taken as dense and as sparse rows
def test_repeated_entries_of_a_sparse_matrix_add_up(n_columns: int) -> None:
    X = sp.csr_array((np.ones(4), [0, 0, 1, 1], [0, 2, 3, 4, 4]), shape=(4, n_columns))
    assert not X.has_canonical_format
    before = X.data.copy()
    twice = similarity_transfer(X, VALUES, n_neighbors=1)
    assert twice.relative_error == pytest.approx(relative_error(X, VALUES, 1))
    assert twice.squared_distances.tolist() == [5, 5, 4, 0, 1, 1]
    assert np.array_equal(X.data, before)
    assert X.nnz == 4


def test_order_and_scale_of_nodes_do_not_matter() -> None:
    data = make_block_graph(60, random_state=0)
    X, y = data.adjacency, data.values
    order = np.random.default_rng(0).permutation(60)
    whole = similarity_transfer(X, y)
    for other in (
        similarity_transfer(X[order][:, order], y[order]),
        similarity_transfer(3.0 * X, y),
        similarity_transfer(X, 100.0 - 7.0 * y),
    ):
        assert other.relative_error == pytest.approx(whole.relative_error, rel=1e-9)
        assert other.rank_correlation == pytest.approx(whole.rank_correlation, abs=1e-6)


# -- many nodes ------------------------------------------------------------------


def test_pairs_are_drawn_where_there_are_too_many() -> None:
    data = make_threshold_graph(100, random_state=0)
    drawn = [
        similarity_transfer(data.adjacency, data.values, n_pairs=500, random_state=seed)
        for seed in (0, 0, 1)
    ]
    assert [found.squared_distances.size for found in drawn] == [500] * 3
    assert np.array_equal(drawn[0].squared_distances, drawn[1].squared_distances)
    assert not np.array_equal(drawn[0].squared_distances, drawn[2].squared_distances)
    assert len({found.relative_error for found in drawn}) == 1  # of all nodes


def test_nodes_are_drawn_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_threshold_graph(200, noise=0.5, random_state=0)
    whole = similarity_transfer(data.adjacency, data.values).relative_error
    monkeypatch.setattr(transfer, "_MAX_QUERIES", 100)
    drawn = [
        similarity_transfer(data.adjacency, data.values, random_state=seed).relative_error
        for seed in range(5)
    ]
    assert len(set(drawn)) == 5
    assert np.mean(drawn) == pytest.approx(whole, rel=0.1)


def test_many_nodes_need_no_square_array() -> None:
    n = 50_000  # 20 GB as a square array
    rng = np.random.default_rng(0)
    links = sp.coo_array((np.ones(n), (np.arange(n), rng.integers(0, 500, n))), shape=(n, n))
    found = similarity_transfer(links, rng.integers(0, 500, n), n_pairs=1000, random_state=0)
    # Values are drawn apart from links, and about 100 rows tie for the nearest.
    assert found.relative_error == pytest.approx(1.0, abs=0.03)


# -- what the verdict says -------------------------------------------------------


def make_transfer(error: float, distances: Any = (0.0, 1.0)) -> SimilarityTransfer:
    return SimilarityTransfer(np.array(distances), np.array([0.0, 1.0]), 0.5, error, 10, 5)


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (0.0, "SKG should work well here:"),
        (0.69, "SKG should work well here:"),
        (0.7, "SKG should work only weakly here:"),
        (0.99, "SKG should work only weakly here:"),
        (1.0, "SKG should not be expected to beat the mean here:"),
        (2.0, "SKG should not be expected to beat the mean here:"),
    ],
)
def test_verdict_follows_the_relative_error(error: float, start: str) -> None:
    verdict = make_transfer(error).verdict
    assert verdict.startswith(start)
    assert f"its 5 nearest rows has {error:.2f} times" in verdict
    assert verdict in repr(make_transfer(error))


def test_verdict_of_equal_values() -> None:
    found = similarity_transfer(LINE, [3.0] * 4, n_neighbors=1)
    assert np.isnan(found.relative_error)
    assert np.isnan(found.rank_correlation)
    assert not found.value_differences.any()
    assert "nothing to learn here: the values do not differ" in found.verdict


def test_verdict_of_equal_rows() -> None:
    found = similarity_transfer(np.ones((6, 3)), [1.0, 2, 3, 4, 5, 6], n_neighbors=2)
    assert found.relative_error == pytest.approx(1.0)
    assert np.isnan(found.rank_correlation)
    assert "beat the mean here: all rows are equal" in found.verdict


def test_rows_without_entries_count() -> None:
    found = similarity_transfer(sp.csr_array((5, 4)), [1.0, 2, 3, 4, 5], n_neighbors=2)
    assert found.relative_error == pytest.approx(1.0)


def test_similarity_transfer_is_frozen() -> None:
    found = similarity_transfer(LINE, VALUES, n_neighbors=1)
    with pytest.raises(AttributeError):
        found.relative_error = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.squared_distances[0] = 0.0


def test_extreme_values_are_scaled() -> None:
    found = similarity_transfer(LINE, [-1.7e308, 0.0, 0.0, 1.7e308], n_neighbors=1)
    assert found.relative_error == pytest.approx(27 / 32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": LINE[:2], "y": [1.0, 2.0]}, "X must have at least 3 rows to compare, got 2"),
        ({"n_neighbors": 3}, "n_neighbors must be at most 2 for the 4 rows of X, got 3"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1, got 0"),
        ({"n_pairs": 1.5}, "n_pairs must be an integer of at least 1, got 1.5"),
        ({"y": VALUES[:3]}, "y has 3 values, but X has 4 rows"),
        ({"y": [VALUES] * 4}, r"y must have shape \(n,\).*got shape \(4, 4\).*one column at a"),
        ({"y": [[v] for v in VALUES]}, r"y must have shape \(n,\).*got shape \(4, 1\)"),
        ({"y": [1.0, np.nan, 2.0, 3.0]}, "y contains NaN"),
        ({"y": [1.0, np.inf, 2.0, 3.0]}, "y contains infinity"),
        ({"y": ["1", "2", "3", "4"]}, "y must hold numbers, got the string '1'"),
        ({"X": [["a"]] * 4}, "X must hold numbers, got the string 'a'"),
        ({"X": [[np.nan]] * 4}, "X contains NaN"),
        ({"X": [1.0, 2.0, 3.0, 4.0]}, "Expected 2D array"),
        ({"X": [[0.0], [1e160], [1.0], [2.0]]}, r"X has values of 1e\+150 or more"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
    ],
)
def test_similarity_transfer_refuses_bad_arguments(changes: dict[Any, Any], message: str) -> None:
    arguments = {"X": LINE, "y": VALUES, "n_neighbors": 1} | changes
    with pytest.raises(ValueError, match=message):
        similarity_transfer(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_similarity_transfer_refuses_sparse_values() -> None:
    with pytest.raises(TypeError, match="y must be a dense array, got a sparse matrix"):
        similarity_transfer(LINE, sp.csr_array([VALUES]), n_neighbors=1)


# -- the paper's section VI.C ----------------------------------------------------


def errors_of_samples(data: GraphDataset, seeds: Any) -> list[Any]:
    """Relative errors of samples of 40 %, as the paper draws them."""
    found = []
    for seed in seeds:
        known, _ = split_nodes(data.n_nodes, 0.4, np.random.default_rng(seed))
        X = data.adjacency[known][:, known]
        found.append(similarity_transfer(X, data.values[known], random_state=seed))
    return found


TEMPERATURES: dict[str, Any] = {
    "unweighted": {},
    "weighted": {"weighted": True, "self_loops": False},
    "weighted, loops": {"weighted": True},
}


@pytest.mark.parametrize("kind", TEMPERATURES)
def test_temperature_works_well(kind: Any) -> None:
    found = errors_of_samples(load_temperature(**TEMPERATURES[kind]), range(20))
    assert sum(one.verdict.startswith("SKG should work well") for one in found) >= 18
    assert np.median([one.relative_error for one in found]) < 0.5
    assert all(one.rank_correlation > 0.1 for one in found)


@pytest.mark.data
def test_cora_con_is_weaker_than_every_temperature() -> None:
    try:
        cora = fetch_cora_con(download=False)
    except DatasetUnavailableError as error:
        pytest.skip(f"Cora is not at hand: {error}")
    found = errors_of_samples(cora, range(3))
    assert all(one.verdict.startswith("SKG should work only weakly") for one in found)
    weakest = min(one.relative_error for one in found)
    for kind in TEMPERATURES.values():
        temperature = errors_of_samples(load_temperature(**kind), range(20))
        assert max(one.relative_error for one in temperature) < weakest
        assert min(one.rank_correlation for one in temperature) > max(
            one.rank_correlation for one in found
        )


def test_blocks_that_links_do_not_show_are_not_learned() -> None:
    same = make_block_graph(400, p_in=0.05, p_out=0.05, random_state=0)
    for found in errors_of_samples(same, range(3)):
        assert found.verdict.startswith("SKG should not be expected to beat the mean here")
    apart = make_block_graph(400, p_in=0.3, p_out=0.05, random_state=0)
    for found in errors_of_samples(apart, range(3)):
        assert found.verdict.startswith("SKG should work well here")
