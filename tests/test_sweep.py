"""A sweep equals SKG trained step by step at each variance, whoever computes it."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from gradraker import SKGRegressor, gnmse, load_temperature, sigma2_ranges, sigma2_sweep
from gradraker.datasets import GraphDataset, make_block_graph
from gradraker.kernels import extreme_squared_distances
from gradraker.sweep import SweepResult, settings_sweep
from gradraker.sweep import repeat as sweep_repeat
from gradraker.sweep.known_subgraph import known_part
from oracles import sweep as oracle

GRID = np.array([0.1, 2.0, 10.0, 300.0])
SMALL = {"n_repeats": 3, "sigma2": GRID, "n_frequencies": 30, "random_state": 5}


def expected(data, *, n_repeats, sigma2, n_frequencies, random_state, fraction=0.4, eta=0.1, E=3):
    return oracle.gnmse(
        data.adjacency.toarray(),
        data.scaled_values(),
        sigma2,
        n_repeats=n_repeats,
        fraction=fraction,
        random_state=random_state,
        D=n_frequencies,
        eta=eta,
        E=E,
    )


@pytest.fixture(scope="module")
def swept():
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
def test_gnmse_is_that_of_the_literal_loop(data):
    found = sigma2_sweep(data, **SMALL)
    np.testing.assert_allclose(found.gnmse, expected(data, **SMALL), rtol=1e-11)


def test_gnmse_follows_fraction_learning_rate_and_epochs():
    data = load_temperature()
    found = sigma2_sweep(data, **SMALL, fraction=0.6, learning_rate=0.3, n_epochs=2)
    wanted = expected(data, **SMALL, fraction=0.6, eta=0.3, E=2)
    np.testing.assert_allclose(found.gnmse, wanted, rtol=1e-11)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_each_variance_is_a_regressor_with_the_seed_of_the_repeat(kernel):
    data = load_temperature()
    X, y = data.adjacency, data.scaled_values()
    found = sigma2_sweep(data, **SMALL, kernel=kernel)
    for repeat in range(3):
        sampled, tested, seed = oracle.draw(len(y), 0.4, 5, repeat)
        for s, sigma2 in enumerate(GRID):
            model = SKGRegressor(
                sigma2=sigma2, n_frequencies=30, kernel=kernel, random_state=seed
            ).fit(X[sampled][:, sampled], y[sampled])
            wanted = gnmse(y[tested], model.predict(X[tested][:, sampled]))
            assert found.gnmse[repeat, s] == pytest.approx(wanted, rel=1e-12)


def test_boundaries_and_distances_are_those_of_each_training_graph():
    data = load_temperature()
    found = sigma2_sweep(data, **SMALL)
    for repeat in range(3):
        sampled, _, _ = oracle.draw(data.n_nodes, 0.4, 5, repeat)
        X = data.adjacency[sampled][:, sampled]
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


def test_features_in_chunks_give_the_same_as_kept_ones(monkeypatch):
    data = load_temperature()
    whole = sigma2_sweep(data, **SMALL).gnmse
    monkeypatch.setattr(sweep_repeat, "_KEPT_BYTES", 0)
    monkeypatch.setattr(sweep_repeat, "_CHUNK_BYTES", 16 * 30 * 7)  # seven rows
    np.testing.assert_allclose(sigma2_sweep(data, **SMALL).gnmse, whole, rtol=1e-13)


def test_results_do_not_depend_on_workers_or_threads(monkeypatch):
    data = load_temperature()
    options = SMALL | {"n_frequencies": 300, "n_repeats": 4}
    results = [sigma2_sweep(data, **options, n_jobs=n_jobs) for n_jobs in (None, 1, 2)]
    monkeypatch.setattr(sweep_repeat, "parallel_for", lambda loop, n, _: loop(0, n))
    results.append(sigma2_sweep(data, **options))  # one thread
    for other in results[1:]:
        assert np.array_equal(results[0].gnmse, other.gnmse)
        assert np.array_equal(results[0].boundaries, other.boundaries)
    assert all(np.all(result.seconds > 0.0) for result in results)


def test_a_repeat_does_not_depend_on_the_number_of_repeats():
    few, many = (sigma2_sweep(load_temperature(), **SMALL | {"n_repeats": n}) for n in (2, 5))
    assert np.array_equal(few.gnmse, many.gnmse[:2])
    assert not np.array_equal(many.gnmse[0], many.gnmse[1])


def test_a_matrix_with_values_is_swept_as_a_data_set_is():
    data = load_temperature()
    wanted = sigma2_sweep(data, **SMALL)
    for X in (data.adjacency, data.adjacency.toarray(), sp.coo_matrix(data.adjacency)):
        assert np.array_equal(sigma2_sweep(X, data.values, **SMALL).gnmse, wanted.gnmse)


def test_scaling_values_changes_nothing():
    data = load_temperature()
    wanted = sigma2_sweep(data, **SMALL)
    moved = sigma2_sweep(data.adjacency, 3.0 * data.values - 100.0, **SMALL)
    np.testing.assert_allclose(moved.gnmse, wanted.gnmse, rtol=1e-10)


# -- the grid ------------------------------------------------------------------


def test_the_default_grid_covers_the_four_ranges(swept):
    assert swept.sigma2.size == 40
    ratios = swept.sigma2[1:] / swept.sigma2[:-1]
    np.testing.assert_allclose(ratios, ratios[0])
    assert np.all(swept.sigma2[0] < swept.boundaries[:, 0])
    assert np.all(swept.sigma2[-1] > swept.boundaries[:, 2])


def test_equal_rows_have_no_boundaries_but_a_curve():
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


def test_the_error_is_smallest_between_extending_and_disturbing(swept):
    ce, ed, da = swept.median_boundaries
    assert ce < ed < da
    assert ce < swept.best_ < da
    assert swept.mean_at(ed) < 1.3 * swept.mean.min()
    assert swept.mean[0] > 5 * swept.mean.min()


def test_too_small_learning_rates_move_the_best_variance_up():
    # Section VI.B.2. Fixed seeds: this cannot fail by chance.
    data = load_temperature()
    found = settings_sweep(data, setting="learning_rate", values=[0.01, 0.1, 0.2], n_repeats=15)
    slow, usual, fast = (result.best_ for result in found.results)
    assert slow > 3 * usual
    assert 0.5 < fast / usual < 2.0


def test_the_best_variance_does_not_depend_on_many_frequencies():
    data = load_temperature()
    found = settings_sweep(data, setting="n_frequencies", values=[200, 800], n_repeats=15)
    few, many = found.results
    assert 0.5 < many.best_ / few.best_ < 2.0


def test_settings_share_grid_split_and_first_frequencies():
    data = load_temperature()
    found = settings_sweep(data, setting="n_epochs", values=[1, 3], **SMALL)
    single = sigma2_sweep(data, **SMALL, n_epochs=1)
    assert np.array_equal(found.results[0].gnmse, single.gnmse)
    assert found.results[1].settings["n_epochs"] == 3
    frame = found.to_frame()
    assert list(frame.columns) == ["n_epochs", "repeat", "sigma2", "gnmse", "range"]
    assert len(frame) == 2 * 3 * 4
    assert repr(found).count("\n") == 2


# -- the result ----------------------------------------------------------------


def test_mean_error_and_best():
    found = SweepResult(
        np.array([1.0, 4.0]),
        np.array([[0.2, 0.5], [0.4, 0.9]]),
        np.array([[0.5, 2.0, 9.0], [0.5, 4.0, 9.0]]),
        np.ones((2, 2)),
        np.ones(2),
        {},
    )
    assert found.mean.tolist() == pytest.approx([0.3, 0.7])
    # Standard deviations are √2/10 and 2√2/10; over √2 repeats.
    assert found.standard_error.tolist() == pytest.approx([0.1, 0.2])
    assert found.best_ == 1.0
    assert found.median_boundaries.tolist() == [0.5, 3.0, 9.0]
    assert found.mean_at(2.0) == pytest.approx(0.5)  # half-way on the logarithmic axis
    assert np.isnan(found.mean_at(5.0))
    ranges = ["extending", "disturbing", "extending", "extending"]
    assert found.to_frame()["range"].tolist() == ranges


def test_one_repeat_has_no_standard_error():
    found = sigma2_sweep(load_temperature(), **SMALL | {"n_repeats": 1})
    assert np.isnan(found.standard_error).all()
    assert "±" not in repr(found)


def test_settings_tell_all_it_takes_to_run_it_again(swept):
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


def test_checksums_tell_data_apart():
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
        ({"fraction": 1.0}, "fraction must be between"),
        ({"fraction": "some"}, "fraction must be between 0 and 1.*got 'some'"),
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
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sigma2_sweep(load_temperature(), **arguments)


def test_bad_values_are_named():
    X = sp.eye_array(20, format="csr")
    with pytest.raises(ValueError, match="y is None"):
        sigma2_sweep(X)
    with pytest.raises(ValueError, match=r"y holds NaN.*leave nodes without a value out"):
        sigma2_sweep(X, [np.nan] * 20)
    with pytest.raises(ValueError, match="all 20 nodes are 3"):
        sigma2_sweep(X, [3.0] * 20)
    with pytest.raises(ValueError, match="square"):
        sigma2_sweep(X[:, :5], np.arange(20.0))
    with pytest.raises(ValueError, match=r"y must hold one number a node, got \['a', 'b'\]"):
        sigma2_sweep(sp.eye_array(2), ["a", "b"])
    for graph in ("edges.csv", [[0.0, 1.0], [1.0]], 3.0):
        with pytest.raises(ValueError, match="data must be a GraphDataset or a square matrix"):
            sigma2_sweep(graph, np.arange(2.0))
    with pytest.raises(ValueError, match="values must be a sequence of numbers, got 3"):
        settings_sweep(X, np.arange(20.0), setting="n_epochs", values=3)
    with pytest.raises(ValueError, match="setting must be one of"):
        settings_sweep(X, np.arange(20.0), setting="sigma2", values=[1])
    with pytest.raises(ValueError, match="n_epochs is what varies"):
        settings_sweep(X, np.arange(20.0), setting="n_epochs", values=[1], n_epochs=[1, 2])


def test_a_split_whose_tested_values_are_all_zero_is_refused_before_any_work(monkeypatch):
    def run(*arguments, **options):
        raise AssertionError("work has begun")

    monkeypatch.setattr("gradraker.sweep.variance_sweep.run_repeat", run)
    y = np.zeros(20)
    y[3] = 1.0
    with pytest.raises(ValueError, match=r"in repeat \d+ all 12 tested nodes .* divide by 0"):
        sigma2_sweep(sp.eye_array(20, format="csr"), y, n_repeats=50, sigma2=[1.0])


# -- the part of a graph that is known -----------------------------------------


def test_nodes_without_values_are_left_out():
    data = load_temperature()
    known = dict(zip(data.node_names[:50], data.values[:50].tolist(), strict=True))
    part = known_part(data, known, name="part")
    assert part.node_names == data.node_names[:50]
    assert (part.adjacency != data.adjacency[:50][:, :50]).nnz == 0
    assert np.array_equal(part.values, data.values[:50])


def test_values_of_nodes_without_edges():
    edges, values = [("a", "b"), ("b", "a")], {"a": 1.0, "b": 2.0, "z": 3.0}
    with pytest.raises(ValueError, match="'z'"):
        known_part(edges, values, name="part")
    assert known_part(edges, values, name="part", unknown_nodes="ignore").n_nodes == 2
    isolated = known_part(edges, values, name="part", unknown_nodes="isolated")
    assert isolated.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert isinstance(isolated, GraphDataset)
