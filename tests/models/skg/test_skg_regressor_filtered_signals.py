"""Learning from filtered series: σ² by the same rules, and what a filter must do."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker import SKGRegressor, adjacency_vectors, gnmse, sigma2_ranges
from gradraker.datasets import load_temperature_normals, make_traffic_series, split_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.explain import similarity_transfer
from gradraker.graph import filtered_signals
from gradraker.graph.adjacency import AdjacencyVectors
from gradraker.graph.filters.signals import FilteredSignals


def scaled(series: NDArray[np.float64]) -> Any:
    return (series - series.min()) / (series.max() - series.min())


def means_over_neighbours(data: GraphDataset) -> AdjacencyVectors:
    return adjacency_vectors(data, hop_weights="random_walk")


@pytest.fixture(scope="module")
def normals() -> tuple[Any, ...]:
    data, series = load_temperature_normals(self_loops=False)
    return data, scaled(series)


@pytest.fixture(scope="module")
def traffic() -> tuple[Any, ...]:
    data, series = make_traffic_series(40, n_times=250, random_state=0)
    return data, scaled(series)


def next_value_error(
    signals: FilteredSignals, sigma2: Any, *, first_tested: int, learning_rate: Any = 0.02
) -> float:
    """GNMSE of the next value at later times; values are learned relative to their mean."""
    X, y = signals.make_pairs()
    times = signals.times[: len(y)]
    train, test = times < first_tested - 1, times >= first_tested
    mean = y[train].mean()
    model = SKGRegressor(sigma2=sigma2, learning_rate=learning_rate, random_state=0)
    model.fit(X[train], y[train] - mean, references=signals.references)
    return gnmse(y[test], model.predict(X[test], references=signals.references) + mean)


@pytest.fixture(scope="module")
def grid_of_traffic(traffic: tuple[Any, ...]) -> tuple[FilteredSignals, list[float]]:
    """Filtered signals of traffic, and the errors of the next value at variances of a grid."""
    data, x = traffic
    signals = filtered_signals(means_over_neighbours(data), x, delay=0, unit_norm=False)
    X, y = signals.make_pairs()
    ranges = sigma2_ranges(X[signals.times[: len(y)] < 149])
    grid = np.geomspace(ranges.extending_disturbing / 30, 4 * ranges.disturbing_averaging, 12)
    return signals, [next_value_error(signals, sigma2, first_tested=150) for sigma2 in grid]


@pytest.mark.parametrize("rule", ["theory", "refined", "cv"])
def test_sigma2_by_rule_is_near_the_best_of_a_grid_on_traffic(
    grid_of_traffic: tuple[FilteredSignals, list[float]], rule: str
) -> None:
    signals, errors = grid_of_traffic
    assert next_value_error(signals, rule, first_tested=150) < 1.15 * min(errors)
    assert max(errors) > 2 * min(errors)  # it matters


def gain_of_neighbours(spread: float, seed: int) -> float:
    """Error with neighbours over error with a node's own past."""
    data, series = make_traffic_series(40, n_times=250, spread=spread, random_state=seed)
    x = scaled(series)
    with_graph = filtered_signals(means_over_neighbours(data), x, delay=0, unit_norm=False)
    own_past = filtered_signals(data, x, shift=sp.eye_array(40))
    error = next_value_error(with_graph, "theory", first_tested=150)
    return error / next_value_error(own_past, "theory", first_tested=150)


def test_neighbours_help_where_congestion_spreads_and_not_where_it_stays() -> None:
    spreads = [gain_of_neighbours(0.8, seed) for seed in range(5)]
    stays = [gain_of_neighbours(0.0, seed) for seed in range(5)]
    # By luck alone the five would all be below the other five with a chance of 1 in 252.
    assert max(spreads) < min(min(stays), 1.0)
    assert min(stays) < 1.0 < max(stays)


def test_theory_is_near_the_best_of_a_grid_at_unknown_stations(normals: tuple[Any, ...]) -> None:
    data, x = normals
    signals = filtered_signals(means_over_neighbours(data), x, unit_norm=False)
    X, y = signals.make_pairs()
    grid = np.geomspace(0.01, 30, 12)
    errors = np.empty((4, len(grid) + 1))
    for repeat in range(4):
        known_stations, _ = split_nodes(89, 0.4, np.random.default_rng(repeat))
        known = np.isin(np.arange(len(y)) % 89, known_stations)
        mean = y[known].mean()
        for column, sigma2 in enumerate([*grid, "theory"]):
            model = SKGRegressor(
                sigma2=sigma2, learning_rate=0.05, n_epochs=10, random_state=repeat
            ).fit(X[known], y[known] - mean)
            errors[repeat, column] = gnmse(y[~known], model.predict(X[~known]) + mean)
    *on_grid, theory = errors.mean(axis=0)
    assert theory < 1.2 * min(on_grid)
    assert theory < 0.4 * gnmse(y, X[:, 0])  # far better than "as last month"


def test_similarity_transfer_tells_a_filter_that_fits_from_one_that_does_not(
    normals: tuple[Any, ...],
) -> None:
    data, x = normals
    smooth = filtered_signals(means_over_neighbours(data), x, unit_norm=False)
    rough = filtered_signals(data, x, shift="laplacian")
    # Past values of neighbours resemble the next value of a station; its past differences do not.
    _, y = smooth.make_pairs()
    fits = similarity_transfer(smooth.make_pairs()[0][:, 1:], y, random_state=0)
    fails = similarity_transfer(rough.make_pairs()[0][:, 1:], y, random_state=0)
    assert fits.relative_error < 0.1
    assert fails.relative_error > 0.8
    assert fits.verdict.startswith("SKG should work well here")
    assert not fails.verdict.startswith("SKG should work well here")


def test_the_verdict_agrees_with_learning(normals: tuple[Any, ...]) -> None:
    data, x = normals
    smooth = filtered_signals(means_over_neighbours(data), x, unit_norm=False)
    rough = filtered_signals(data, x, shift="laplacian")
    errors = []
    known_stations, _ = split_nodes(89, 0.4, np.random.default_rng(0))
    for signals in (smooth, rough):
        X, y = signals.make_pairs()
        known = np.isin(np.arange(len(y)) % 89, known_stations)
        mean = y[known].mean()
        model = SKGRegressor(sigma2="theory", random_state=0)
        model.fit(X[known, 1:], y[known] - mean)
        error = gnmse(y[~known], model.predict(X[~known, 1:]) + mean)
        errors.append(error / gnmse(y[~known], np.full((~known).sum(), mean)))
    assert errors[0] < 0.5
    assert errors[1] > 0.8


def test_another_signal_is_learned_and_explained(traffic: tuple[Any, ...]) -> None:
    data, x = traffic
    signals = filtered_signals(data, x, taps=2)
    slow = (x < np.median(x)).astype(float)  # a signal of its own: slower than usual
    X, y = signals.make_pairs(slow)
    model = SKGRegressor(sigma2="theory", random_state=0).fit(X[:2000], y[:2000] - 0.5)
    held_out = slice(6000, 6050)
    right = (model.predict(X[held_out]) > 0) == (y[held_out] > 0.5)
    assert right.mean() > 0.8
    explanation = model.explain(X[held_out])
    sums = explanation.weights @ (y[:2000] - 0.5)
    np.testing.assert_allclose(sums, model.predict(X[held_out]), atol=1e-10)


def test_rows_of_a_stream_are_learned_in_chunks_of_time(traffic: tuple[Any, ...]) -> None:
    data, x = traffic
    X, y = filtered_signals(data, x).make_pairs()
    whole = SKGRegressor(sigma2=0.3, random_state=0).partial_fit(X, y)
    parts = SKGRegressor(sigma2=0.3, random_state=0)
    for start in range(0, len(y), 40):  # one time after the other
        parts.partial_fit(X[start : start + 40], y[start : start + 40])
    assert np.array_equal(whole.coef_, parts.coef_)
