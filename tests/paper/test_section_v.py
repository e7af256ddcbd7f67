"""Section V: B of pairs at one distance, distances of Wikipedia, numberings of classes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, sigma2_sweep
from gradraker.paper.numbers.section_v import (
    simulate_distances,
    simulate_numberings,
    simulate_similarities,
)
from gradraker.paper.simulations import PaperGraph, PaperResults, RunOptions


def test_simulate_similarities_equals_a_loop_over_pairs(
    small: PaperGraph, draw_dense_split: Callable[..., Any]
) -> None:
    settings = {
        "fraction": 0.4,
        "n_repeats": 2,
        "squared_distance": 5.0,
        "sigma2": 2.0,
        "n_frequencies": 30,
        "learning_rate": 0.2,
    }
    found = simulate_similarities(small, settings, RunOptions(3))["similarities"]
    for repeat, B in enumerate(found):
        split, X = draw_dense_split(small, repeat)
        rows = X[split.known]
        model = SKGRegressor(sigma2=2.0, n_frequencies=30, random_state=split.seed)
        Z = model.fit(rows, rows[:, 0]).features(rows)
        expected = [
            2.0 * 0.2 * float(Z[i] @ Z[j])
            for i, j in itertools.combinations(range(len(rows)), 2)
            if np.sum((rows[i] - rows[j]) ** 2) == 5.0
        ]
        assert len(expected) > 3
        np.testing.assert_allclose(B, expected, atol=1e-14)


def test_repeats_with_few_pairs_are_left_out(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    changed.simulations["similarity"]["results"]["similarities"] = [
        [0.2] * 9,  # too few
        list(np.linspace(0.08, 0.10, 10)),
        list(np.linspace(0.09, 0.11, 12)),
    ]
    found = compare(changed)
    assert found["pairs-at-15"].shown == "10 (9…12)"
    assert found["B-largest"].ours.n == 2
    assert found["B-largest"].ours.high == 0.11


def test_distances_are_those_of_the_sweep(temperature: PaperGraph) -> None:
    found = simulate_distances(temperature, {"fraction": 0.4, "n_repeats": 3}, RunOptions(2))
    sweep = sigma2_sweep(
        temperature.dataset, sigma2=[1.0], fraction=35 / 89, n_repeats=3, random_state=2
    )
    np.testing.assert_array_equal(found["squared_distances"], sweep.squared_distances)


def test_numberings_from_one_training_equal_one_training_each(
    small: Any, draw_dense_split: Callable[..., Any]
) -> None:
    settings = {
        "fraction": 0.4,
        "n_repeats": 2,
        "sigma2": [0.5, 5.0],
        "n_frequencies": 20,
        "learning_rate": 0.1,
        "n_epochs": 2,
        "limit": 0.35,
    }
    found = simulate_numberings(small, settings, RunOptions(3))
    smallest = []
    for numbering in itertools.permutations([0.0, 0.5, 1.0]):
        y = np.array([numbering[int(value) - 1] for value in small.dataset.values])
        mean = []
        for sigma2 in settings["sigma2"]:  # type: ignore[attr-defined]
            errors = []
            for repeat in range(2):
                split, X = draw_dense_split(small, repeat)
                model = SKGRegressor(
                    sigma2=sigma2, n_frequencies=20, n_epochs=2, random_state=split.seed
                )
                model.fit(X[split.known], y[split.known])
                errors.append(gnmse(y[split.unknown], model.predict(X[split.unknown])))
            mean.append(np.mean(errors))
        smallest.append(min(mean))
    assert found["n_numberings"] == 6
    assert found["ours"] == pytest.approx(smallest[0], rel=1e-10)
    assert found["smallest"] == pytest.approx(min(smallest), rel=1e-10)
    assert found["median"] == pytest.approx(np.median(smallest), rel=1e-10)
    assert found["largest"] == pytest.approx(max(smallest), rel=1e-10)
    assert found["part_above"] == np.mean(np.array(smallest) > 0.35)
