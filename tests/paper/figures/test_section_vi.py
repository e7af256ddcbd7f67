"""Section VI: D, η and E varied, a Laplacian kernel, a regulariser, and errors beyond σ²_ed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, load_temperature, sigma2_ranges, sigma2_sweep
from gradraker.paper import draw_figure, make_table
from gradraker.paper.figures.section_vi import (
    LAPLACIAN,
    simulate_regulariser,
    simulate_sorted_errors,
)
from gradraker.paper.reproduction import write_caption
from gradraker.paper.simulations import PaperResults, RunOptions


def test_table_has_the_setting_as_a_column(results: PaperResults) -> None:
    header, *rows = make_table(results, "epochs")
    assert header == ["n_epochs", "sigma2", "mean", "standard_error"]
    assert sorted({row[0] for row in rows}) == [1, 3, 10, 30]


@pytest.mark.parametrize("key", ["best-without-D", "best-with-eta", "best-with-E", "few-D"])
def test_claims_differ_if_the_curves_contradict_them(
    changed: PaperResults, compare: Callable[..., Any], key: str
) -> None:
    for name in ("frequencies", "learning-rate", "epochs"):
        for i, sweep in enumerate(changed.simulations[name]["results"]["sweeps"]):
            n = len(sweep["sigma2"])
            best = 0 if i < 3 else n - 1
            row = [1.0] * n
            row[best] = 0.5
            sweep["gnmse"] = [row for _ in sweep["gnmse"]]
    assert compare(changed)[key].verdict == "differs"


def test_the_sweep_is_one_of_the_laplacian_kernel(results: Any) -> None:
    sweep = results.get(LAPLACIAN)
    expected = sigma2_sweep(
        load_temperature(),
        **LAPLACIAN.choose_settings(fast=True) | {"fraction": 35 / 89},
        random_state=0,
    )
    np.testing.assert_array_equal(sweep.gnmse, expected.gnmse)
    # The paper's requirement: 2η e^(−‖d‖₁,max/b) = noise_up, so b = ‖d‖₁,max / ln √(2D).
    b = sweep.squared_distances[:, 1] / np.log(np.sqrt(400))
    np.testing.assert_allclose(sweep.boundaries[:, 1], b**2, rtol=1e-12)


def test_the_figure_names_b(results: Any) -> None:
    axes = draw_figure(results, "laplacian").axes[0]
    assert "b^2" in axes.get_xlabel()
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert any(label.startswith("$b_{ed}$") for label in labels)
    assert "gives b = " in write_caption(results, "laplacian")


@pytest.mark.parametrize(("error", "verdict"), [(0.054, "agrees"), (0.056, "differs")])
def test_the_diversity_is_suitable_if_its_error_is_near_the_smallest(
    changed: Any, compare: Any, error: Any, verdict: Any
) -> None:
    sweep = changed.simulations["sweep-laplacian"]["results"]
    n = len(sweep["sigma2"])
    sweep["gnmse"] = [[0.05] + [error] * (n - 1)] * 3
    assert compare(changed)["laplacian"].verdict == verdict


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
