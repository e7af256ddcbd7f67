"""Figure 2, and the simulation of figures 2 to 5, against sweeps and loops from the equations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, sigma2_sweep
from gradraker.paper import make_table
from gradraker.paper.figures.fig2 import WEIGHTS, simulate_weights
from gradraker.paper.simulations import PaperGraph, PaperResults, RunOptions


def test_figures_2_to_5_show_the_first_repeat_of_figure_6a(temperature: PaperGraph) -> None:
    settings = WEIGHTS.settings
    found = simulate_weights(temperature, settings, RunOptions(7))
    sweep = sigma2_sweep(
        temperature.dataset,
        sigma2=settings["sigma2"],
        fraction=35 / 89,  # 40 % of 89 stations, rounded down
        n_repeats=1,
        random_state=7,
    )
    y = np.array(found["values"])
    errors = [gnmse(y, run["predictions"]) for run in found["runs"]]
    np.testing.assert_allclose(errors, sweep.gnmse[0], rtol=1e-10)
    np.testing.assert_allclose(found["boundaries"], sweep.boundaries[0], rtol=1e-12)
    assert [run["range"] for run in found["runs"]] == [
        "chaos",
        "extending",
        "disturbing",
        "averaging",
    ]


def test_contribution_weights_of_a_node_give_its_prediction(temperature: Any) -> None:
    found = simulate_weights(temperature, WEIGHTS.settings, RunOptions(0))
    split = temperature.draw_split(0.4, 0, 0)
    known_values = temperature.values[split.known]
    for run in found["runs"]:
        by_time = np.array(run["weights"]) @ known_values[found["order"]]
        by_node = np.array(run["compute_weights_by_node"]) @ known_values
        np.testing.assert_allclose([by_time, by_node], run["predictions"][0], atol=1e-12)
    assert found["node"] == temperature.dataset.node_names[split.unknown[0]]


def test_similarities_and_late_weights_equal_the_adjoint_pass(
    temperature: Any, draw_dense_split: Callable[..., Any]
) -> None:
    settings = WEIGHTS.settings | {"sigma2": [10.0]}
    found = simulate_weights(temperature, settings, RunOptions(0))
    (run,) = found["runs"]
    split, X = draw_dense_split(temperature, 0, seed=0)
    model = SKGRegressor(sigma2=10.0, n_frequencies=200, n_epochs=3, random_state=split.seed)
    model.fit(X[split.known], temperature.values[split.known])
    Z, order = model.features(X[split.known]), found["order"]
    similarities, ranks = [], []
    for a in model.features(X[split.unknown]):
        B = [0.2 * float(a @ Z[i]) for i in order]
        similarities.append(np.mean(B))
        F: list[float] = []
        v = a.copy()
        for i in reversed(order):
            F.insert(0, 0.2 * float(Z[i] @ v))
            v = v - F[0] * Z[i]
        smallest = sorted(B)[: len(B) // 4]
        ranks += [
            sum(other < F[t] for other in F) / len(F)
            for t in range(len(F) - 5, len(F))
            if B[t] <= smallest[-1] + 1e-12
        ]
    assert run["mean_similarity"] == pytest.approx(np.mean(similarities), rel=1e-10)
    assert len(ranks) > 10
    # 27 of 108 are the lowest quarter; a quantile lies between the 27th and the 28th.
    np.testing.assert_allclose(run["late_ranks"], ranks, atol=1e-12)


def test_settings_are_one_variance_from_each_range() -> None:
    assert WEIGHTS.settings["sigma2"] == [0.1, 2.0, 10.0, 300.0]


def test_table_has_one_row_per_known_node(results: PaperResults) -> None:
    assert len(make_table(results, "fig2")) == 1 + 35


def test_efficient_distance_that_does_not_grow_differs(spoiled: dict[str, Any]) -> None:
    assert spoiled["efficient-distance"].verdict == "differs"
