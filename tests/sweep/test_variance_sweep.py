"""A sweep equals SKG trained step by step at each variance, with any workers and threads."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker import SKGRegressor, gnmse, load_temperature, sigma2_ranges, sigma2_sweep
from gradraker.datasets import make_block_graph
from gradraker.datasets.dataset import GraphDataset
from gradraker.kernels import extreme_squared_distances
from gradraker.sweep import repeats
from gradraker.sweep.sweep_result import SweepResult
from oracles import sweep as oracle

GRID = np.array([0.1, 2.0, 10.0, 300.0])
SMALL: dict[str, Any] = {"n_repeats": 3, "sigma2": GRID, "n_frequencies": 30, "random_state": 5}


def expected(
    data: GraphDataset,
    *,
    n_repeats: int,
    sigma2: NDArray[np.float64],
    n_frequencies: int,
    random_state: int,
    fraction: float = 0.4,
    eta: float = 0.1,
    E: int = 3,
) -> NDArray[np.float64]:
    return oracle.gnmse(
        data.adjacency.toarray(),
        data.scale_values(),
        sigma2,
        n_repeats=n_repeats,
        fraction=fraction,
        random_state=random_state,
        D=n_frequencies,
        eta=eta,
        E=E,
    )


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    return sigma2_sweep(load_temperature(), n_repeats=12)


# -- the numbers ---------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        load_temperature(),
        load_temperature(weighted=True, self_loops=False),
        make_block_graph(60, random_state=0),
    ],
    ids=lambda data: data.name,
)
def test_gnmse_equals_the_oracle(data: Any) -> None:
    found = sigma2_sweep(data, **SMALL)
    np.testing.assert_allclose(found.gnmse, expected(data, **SMALL), rtol=1e-11)


def test_gnmse_equals_the_oracle_for_other_settings() -> None:
    data = load_temperature()
    found = sigma2_sweep(data, **SMALL, fraction=0.6, learning_rate=0.3, n_epochs=2)
    wanted = expected(data, **SMALL, fraction=0.6, eta=0.3, E=2)
    np.testing.assert_allclose(found.gnmse, wanted, rtol=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_gnmse_equals_a_regressor_with_the_seed_of_the_repeat(kernel: str) -> None:
    data = load_temperature()
    X, y = data.adjacency, data.scale_values()
    found = sigma2_sweep(data, **SMALL, kernel=kernel)
    for repeat in range(3):
        known, unknown, seed = oracle.draw(len(y), 0.4, 5, repeat)
        for s, sigma2 in enumerate(GRID):
            model = SKGRegressor(
                sigma2=sigma2, n_frequencies=30, kernel=kernel, random_state=seed
            ).fit(X[known][:, known], y[known])
            wanted = gnmse(y[unknown], model.predict(X[unknown][:, known]))
            assert found.gnmse[repeat, s] == pytest.approx(wanted, rel=1e-12)


def test_boundaries_and_distances_equal_those_of_each_training_graph() -> None:
    data = load_temperature()
    found = sigma2_sweep(data, **SMALL)
    for repeat in range(3):
        known, _, _ = oracle.draw(data.n_nodes, 0.4, 5, repeat)
        X = data.adjacency[known][:, known]
        ranges = sigma2_ranges(X, n_frequencies=30)
        assert found.boundaries[repeat].tolist() == [
            ranges.chaos_extending,
            ranges.extending_disturbing,
            ranges.disturbing_averaging,
        ]
        extremes = extreme_squared_distances(X)
        assert found.squared_distances[repeat].tolist() == [
            extremes.smallest_nonzero,
            extremes.largest,
        ]


def test_features_in_chunks_give_the_same_gnmse(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_temperature()
    whole = sigma2_sweep(data, **SMALL).gnmse
    monkeypatch.setattr(repeats, "KEPT_BYTES", 0)
    monkeypatch.setattr(repeats, "CHUNK_BYTES", 16 * 30 * 7)  # seven rows
    np.testing.assert_allclose(sigma2_sweep(data, **SMALL).gnmse, whole, rtol=1e-13)


@pytest.mark.process
@pytest.mark.workers
def test_results_do_not_depend_on_workers_or_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_temperature()
    options: dict[str, Any] = SMALL | {"n_frequencies": 300, "n_repeats": 4}
    results = [sigma2_sweep(data, **options, n_jobs=n_jobs) for n_jobs in (None, 1, 2)]
    monkeypatch.setattr(repeats, "parallel_for", lambda loop, n, _: loop(0, n))
    results.append(sigma2_sweep(data, **options))  # one thread
    for other in results[1:]:
        assert np.array_equal(results[0].gnmse, other.gnmse)
        assert np.array_equal(results[0].boundaries, other.boundaries)
    assert all(np.all(result.seconds > 0.0) for result in results)


def test_a_repeat_does_not_depend_on_the_number_of_repeats() -> None:
    few, many = (sigma2_sweep(load_temperature(), **SMALL | {"n_repeats": n}) for n in (2, 5))
    assert np.array_equal(few.gnmse, many.gnmse[:2])
    assert not np.array_equal(many.gnmse[0], many.gnmse[1])


def test_matrix_and_dataset_give_the_same_gnmse() -> None:
    data = load_temperature()
    wanted = sigma2_sweep(data, **SMALL)
    for X in (data.adjacency, data.adjacency.toarray(), sp.coo_matrix(data.adjacency)):
        assert np.array_equal(sigma2_sweep(X, data.values, **SMALL).gnmse, wanted.gnmse)


def test_gnmse_does_not_depend_on_units_of_values() -> None:
    data = load_temperature()
    wanted = sigma2_sweep(data, **SMALL)
    moved = sigma2_sweep(data.adjacency, 3.0 * data.values - 100.0, **SMALL)
    np.testing.assert_allclose(moved.gnmse, wanted.gnmse, rtol=1e-10)


# -- the grid ------------------------------------------------------------------


def test_the_default_grid_covers_the_four_ranges(swept: SweepResult) -> None:
    assert swept.sigma2.size == 40
    ratios = swept.sigma2[1:] / swept.sigma2[:-1]
    np.testing.assert_allclose(ratios, ratios[0])
    assert np.all(swept.sigma2[0] < swept.boundaries[:, 0])
    assert np.all(swept.sigma2[-1] > swept.boundaries[:, 2])


def test_equal_rows_have_no_boundaries_but_a_curve() -> None:
    star = sp.csr_array((np.ones(12), (np.arange(12), np.zeros(12, np.int64))), shape=(12, 12))
    values = np.arange(12.0)
    found = sigma2_sweep(star, values, n_repeats=2, sigma2=[1.0, 2.0])
    assert np.isnan(found.boundaries).all()
    assert np.isfinite(found.gnmse).all()
    assert np.isnan(found.median_boundaries).all()
    assert "σ²_ed" not in repr(found)
    with pytest.raises(ValueError, match=r"all have the same edges.* give sigma2"):
        sigma2_sweep(star, values, n_repeats=2)


# -- what it is for: claims of the paper ---------------------------------------


def test_the_error_is_smallest_between_extending_and_disturbing(swept: SweepResult) -> None:
    ce, ed, da = swept.median_boundaries
    assert ce < ed < da
    assert ce < swept.best_ < da
    assert swept.compute_mean_at(ed) < 1.3 * swept.mean.min()
    assert swept.mean[0] > 5 * swept.mean.min()


# -- the settings --------------------------------------------------------------


def test_settings_suffice_to_run_the_sweep_again(swept: Any) -> None:
    settings = swept.settings
    again = sigma2_sweep(
        load_temperature(),
        **{
            name: value
            for name, value in settings.items()
            if name not in ("data", "versions", "sigma2")
        },
        sigma2=settings["sigma2"],
    )
    assert np.array_equal(again.gnmse, swept.gnmse)
    assert settings["data"]["name"] == "Temperature-Jan"
    assert len(settings["data"]["sha256_values"]) == 64
    assert set(settings["versions"]) >= {"gradraker", "numpy", "numba"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        swept.sigma2 = None


def test_different_data_have_different_checksums() -> None:
    data = load_temperature()
    one = sigma2_sweep(data, **SMALL).settings["data"]
    other = sigma2_sweep(data.adjacency, data.values + 1.0, **SMALL).settings["data"]
    weighted = sigma2_sweep(load_temperature(weighted=True), **SMALL).settings["data"]
    assert one["sha256_adjacency"] == other["sha256_adjacency"] != weighted["sha256_adjacency"]
    assert one["sha256_values"] == weighted["sha256_values"] != other["sha256_values"]


# -- refusals ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma2": [1.0, 1.0]}, "sigma2 must be positive and rising"),
        ({"sigma2": [-1.0, 1.0]}, "sigma2 must be positive and rising"),
        ({"sigma2": [1.0, np.inf]}, "sigma2 must be positive and rising"),
        ({"sigma2": []}, "sigma2 must be a sequence"),
        ({"sigma2": 1.0}, "sigma2 must be a sequence"),
        ({"sigma2": "wide"}, "sigma2 must be a sequence"),
        ({"n_repeats": 0}, "n_repeats must be an integer"),
        ({"fraction": 1.0}, "fraction must be a number between"),
        ({"fraction": "some"}, "fraction must be a number between 0 and 1.*got 'some'"),
        ({"n_frequencies": 0}, "n_frequencies must be an integer"),
        ({"learning_rate": 1.0}, "learning_rate must be"),
        ({"n_epochs": 0}, "n_epochs must be"),
        ({"kernel": "linear"}, "kernel must be"),
        ({"random_state": -1}, "random_state must be an integer of at least 0"),
        ({"random_state": None}, "random_state must be an integer of at least 0"),
        ({"random_state": True}, "random_state must be an integer of at least 0"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0"),
        ({"n_jobs": "all"}, "n_jobs must be None or an integer other than 0, got 'all'"),
        ({"y": [1.0]}, "y must be None if data is a GraphDataset"),
    ],
)
def test_sigma2_sweep_refuses_bad_arguments(arguments: dict[Any, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sigma2_sweep(load_temperature(), **arguments)


def test_sigma2_sweep_refuses_bad_graphs_and_values() -> None:
    X = sp.eye_array(20, format="csr")
    with pytest.raises(ValueError, match="y is None"):
        sigma2_sweep(X)
    with pytest.raises(ValueError, match=r"y holds NaN.*leave nodes without a value out"):
        sigma2_sweep(X, [np.nan] * 20)
    with pytest.raises(ValueError, match="all 20 nodes are 3"):
        sigma2_sweep(X, [3.0] * 20)
    with pytest.raises(ValueError, match="square"):
        sigma2_sweep(X[:, :5], np.arange(20.0))
    with pytest.raises(ValueError, match=r"y must be one number per node, got \['a', 'b'\]"):
        sigma2_sweep(sp.eye_array(2), ["a", "b"])
    for graph in ("edges.csv", [[0.0, 1.0], [1.0]], 3.0):
        with pytest.raises(ValueError, match="data must be a GraphDataset or a square matrix"):
            sigma2_sweep(graph, np.arange(2.0))


def test_split_with_only_zeros_to_predict_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(*arguments: Any, **options: Any) -> None:
        raise AssertionError("work has begun")

    monkeypatch.setattr("gradraker.sweep.variance_sweep.run_repeat", run)
    y = np.zeros(20)
    y[3] = 1.0
    with pytest.raises(ValueError, match=r"in repeat \d+ all 12 unknown nodes .* divide by 0"):
        sigma2_sweep(sp.eye_array(20, format="csr"), y, n_repeats=50, sigma2=[1.0])
