"""Section IV: efficient distances, circles, noise ranges and variances, against equations."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor
from gradraker.explain import efficient_distance
from gradraker.paper.numbers.section_iv import (
    simulate_chaos_variances,
    simulate_circles,
    simulate_noise_ranges,
)
from gradraker.paper.simulations import RunOptions
from oracles import skg as skg_oracle
from oracles.weights import contribution_weights

SETTINGS = {
    "fraction": 0.4,
    "n_repeats": 1,
    "n_frequencies": 40,
    "learning_rate": 0.1,
    "n_epochs": 2,
}


def compute_weights(X: Any, split: Any, sigma2: Any) -> Any:
    """B and F of unknown nodes by the recursion (fijdef), and the order of training."""
    known = X[split.known]
    model = SKGRegressor(sigma2=sigma2, n_frequencies=40, random_state=split.seed)
    model.fit(known, np.zeros(len(known)))
    Z, stars = (skg_oracle.features(rows, model.frequencies_) for rows in (known, X[split.unknown]))
    order = skg_oracle.orders(split.seed, len(known), 2, shuffle=True)
    F = np.array([contribution_weights(Z, order, star, 0.1) for star in stars])
    return (0.2 * stars @ Z.T)[:, order], F


def test_noise_ranges_are_medians_of_unknown_nodes(temperature: Any, draw_dense_split: Any) -> None:
    settings = SETTINGS | {"sigma2": [0.1, 10.0]}
    found = simulate_noise_ranges(temperature, settings, RunOptions(3))
    split, X = draw_dense_split(temperature, 0)
    for column, sigma2 in enumerate((0.1, 10.0)):
        _, F = compute_weights(X, split, sigma2)
        expected = np.median(np.maximum(0.0, -F.min(axis=1))) / 0.2
        assert found["widths"][0][column] == pytest.approx(expected, rel=1e-8)


def test_circles_are_those_of_the_weights(temperature: Any, draw_dense_split: Any) -> None:
    found = simulate_circles(temperature, SETTINGS | {"n_extending": 2}, RunOptions(3))
    split, X = draw_dense_split(temperature, 0)
    B, F = compute_weights(X, split, 10.0)
    distances = np.array([((X[split.known] - row) ** 2).sum(axis=1) for row in X[split.unknown]])
    limits = [
        efficient_distance(b, f, sigma2=10.0, learning_rate=0.1) for b, f in zip(B, F, strict=True)
    ]
    assert found["inside"][0] == pytest.approx(
        np.mean(np.less_equal(distances.T, limits)), abs=1e-12
    )
    _, F = compute_weights(X, split, 300.0)
    pairs = np.corrcoef(F)[np.triu_indices(len(F), k=1)]
    assert found["alike"][0] == pytest.approx(pairs.mean(), rel=1e-8)
    assert 0.0 < found["distances"][0][0] < found["distances"][0][1]


def test_variance_of_f_is_smaller_the_earlier_the_step(temperature: Any) -> None:
    settings = SETTINGS | {"sigma2": 0.1, "n_draws": 30}
    first, second, last = simulate_chaos_variances(temperature, settings, RunOptions(3))["by_epoch"]
    # A node that returns takes 2η of its weight, so that the variance falls by (1 − 2η)² or more.
    assert first < 0.64 * 1.2 * second
    assert second < 0.64 * 1.2 * last
    assert last < 1.0


@pytest.mark.parametrize(
    "key",
    [
        *("noise-range-limited", "noise-range-vanishes", "variance-of-F"),
        *("extending-distance", "disturbing-circle", "averaging-alike"),
    ],
)
def test_claims_differ_if_the_numbers_contradict_them(changed: Any, compare: Any, key: Any) -> None:
    results = {name: changed.simulations[name]["results"] for name in changed.simulations}
    results["noise-ranges"]["widths"] = [[0.1, 0.1, 0.04, 0.1, 0.1, 0.01]]
    results["chaos-variances"]["overall"] = 1.1
    results["circles"]["distances"] = [[1.0, 2.0, 1.9, 3.0, 4.0, 5.0]]
    results["circles"]["inside"] = [0.4]
    results["circles"]["alike"] = [0.9]
    assert compare(changed)[key].verdict == "differs"
