"""The regulariser, and errors on Cora beyond σ²_ed."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, sigma2_ranges
from gradraker.paper.numbers.section_vi_b import simulate_regulariser, simulate_sorted_errors
from gradraker.paper.simulations import RunOptions

SETTINGS = {
    "fraction": 0.4,
    "n_repeats": 1,
    "n_frequencies": 30,
    "learning_rate": 0.1,
    "n_epochs": 3,
}


def test_regulariser_without_strength_is_skg(temperature: Any, draw_dense_split: Any) -> None:
    settings = SETTINGS | {"mu": [0.0, 0.5], "sigma2": [8.0]}
    plain, strong = simulate_regulariser(temperature, settings, RunOptions(3))["smallest"]
    split, X = draw_dense_split(temperature, 0)
    y = temperature.values
    # The same order by hand: partial_fit learns rows as they come.
    rng = np.random.default_rng(split.seed)
    order = np.concatenate([rng.permutation(len(split.known)) for _ in range(3)])
    model = SKGRegressor(sigma2=8.0, n_frequencies=30, random_state=split.seed)
    model.partial_fit(X[split.known][order], y[split.known][order])
    expected = gnmse(y[split.unknown], model.predict(X[split.unknown]))
    assert plain == pytest.approx(expected, rel=1e-10)
    # θ shrinks by 1 − 2ημ = 0.9 at each step: predictions are drawn to 0.
    assert strong > 2 * plain


def test_sorted_errors_are_those_of_the_worst_and_the_better_nodes(
    small: Any, draw_dense_split: Any
) -> None:
    settings = SETTINGS | {"factor": 3.0}
    found = simulate_sorted_errors(small, settings, RunOptions(3))
    split, X = draw_dense_split(small, 0)
    known, y = X[split.known], small.values
    ed = sigma2_ranges(known, n_frequencies=30).extending_disturbing
    before, after = (
        (
            y[split.unknown]
            - SKGRegressor(sigma2=sigma2, n_frequencies=30, random_state=split.seed)
            .fit(known, y[split.known])
            .predict(X[split.unknown])
        )
        ** 2
        for sigma2 in (ed, 3 * ed)
    )
    order = np.argsort(before)
    expected = [before[order[-2:]].mean(), after[order[-2:]].mean(), np.sort(after)[-2:].mean()]
    assert found["worst_tenth"][0] == pytest.approx(expected, rel=1e-10)
    expected = [before[order[:12]].mean(), after[order[:12]].mean(), np.sort(after)[:12].mean()]
    assert found["better_half"][0] == pytest.approx(expected, rel=1e-10)


def test_verdicts_follow_the_errors(changed: Any, compare: Any) -> None:
    changed.simulations["regulariser"]["results"]["smallest"] = [0.03, 0.03, 0.04, 0.03]
    changed.simulations["sorted-errors-cora"] = {
        "dataset": "cora",
        "settings": {},
        "results": {"worst_tenth": [[0.3, 0.4, 0.4]], "better_half": [[0.01, 0.005, 0.004]]},
    }
    changed.header["datasets"]["cora"] |= {"nodes": 10, "values": True}
    changed.header["datasets"]["cora"]["counts"] = dict.fromkeys(
        ("papers", "classes", "papers that cite nobody"), 0
    )
    found = compare(changed)
    assert found["regulariser"].verdict == "differs"
    assert found["regulariser-strong"].verdict == "agrees"
    assert found["large-errors"].verdict == found["small-errors"].verdict == "differs"
