"""Section V.C: B of pairs at one distance."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradraker import SKGRegressor
from gradraker.paper.numbers.section_v_c import simulate_similarities
from gradraker.paper.paper_data import PaperGraph
from gradraker.paper.plan import RunOptions
from gradraker.paper.results import PaperResults


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
