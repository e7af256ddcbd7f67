"""Section III: conformity factors over triples of nodes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor
from gradraker.datasets import GraphDataset
from gradraker.paper.numbers.section_iii import simulate_approximation, simulate_triples
from gradraker.paper.simulations import PaperGraph, RunOptions


def test_simulate_triples_equals_a_loop_over_triples(draw_dense_split: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    data = GraphDataset(rng.random((15, 15)), rng.random(15), list("abcdefghijklmno"), name="w")  # type: ignore[arg-type]
    graph = PaperGraph(data.adjacency, data.scale_values(), data, {})
    settings = {"fraction": 0.4, "n_repeats": 2, "sigma2": 0.7}
    found = simulate_triples(graph, settings, RunOptions(3))
    for repeat in range(2):
        split, X = draw_dense_split(graph, repeat)
        D = [[np.sum((a - b) ** 2) for b in X[split.known]] for a in X[split.known]]
        exponents = [
            -(D[i][k] + D[k][j] - D[i][j]) / (2.0 * 0.7)
            for i, k, j in itertools.permutations(range(len(D)), 3)
        ]
        assert found["largest_ratio"][repeat] == pytest.approx(np.exp(max(exponents)))
        assert found["part_above"][repeat] == pytest.approx(np.mean(np.array(exponents) > 0.0))


def test_approximation_error_is_the_difference_of_its_sides(
    temperature: Any, draw_dense_split: Any
) -> None:
    settings = {
        "fraction": 0.4,
        "sigma2": 10.0,
        "n_repeats": 1,
        "n_frequencies": 50,
        "learning_rate": 0.1,
    }
    ((mean, largest),) = simulate_approximation(temperature, settings, RunOptions(3))["errors"]
    split, X = draw_dense_split(temperature, 0)
    model = SKGRegressor(sigma2=10.0, n_frequencies=50, n_epochs=1, random_state=split.seed)
    model.fit(X[split.known], np.zeros(len(split.known)))
    order = np.random.default_rng(split.seed).permutation(len(split.known))
    Z, stars = (
        model.features(X[split.known])[order],
        model.features(X[split.unknown]),
    )
    errors = []
    for star in stars:
        for i in range(len(order) - 2):
            # Times j − 3, j − 2, j − 1 and j of equation (spj3uf).
            z3, z2, z1 = Z[i], Z[i + 1], Z[i + 2]

            def compare_rows(a: Any, b: Any) -> Any:
                return 0.2 * a @ b

            alpha_2 = compare_rows(z2, z1) * compare_rows(z1, star) / compare_rows(z2, star)
            alpha_31 = compare_rows(z3, z1) * compare_rows(z1, star) / compare_rows(z3, star)
            alpha_32 = compare_rows(z3, z2) * compare_rows(z2, star) / compare_rows(z3, star)
            left = 1 - alpha_32 * (1 - alpha_2) - alpha_31
            errors.append(abs(left - (1 - alpha_32) * (1 - alpha_2)))
    assert mean == pytest.approx(np.mean(errors), rel=1e-8)
    assert largest == pytest.approx(np.max(errors), rel=1e-8)


@pytest.mark.parametrize("key", ["approximation-alpha", "claim-4-exact"])
def test_claims_differ_if_the_numbers_contradict_them(changed: Any, compare: Any, key: Any) -> None:
    changed.simulations["approximation"]["results"]["errors"] = [[0.11, 0.3]]
    sums = changed.simulations["claim-4"]["results"]
    sums["exact"] = [value + 0.05 for value in sums["exact"]]
    sums["features"] = [value + 0.595 - np.mean(sums["features"]) for value in sums["features"]]
    found = compare(changed)
    assert found[key].verdict == "differs"
    assert found["claim-4-features"].verdict == "agrees"
