"""Section VI: D, η and E varied, and a Laplacian kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker import load_temperature, sigma2_sweep
from gradraker.paper import draw_figure, make_table
from gradraker.paper.figures.section_vi import LAPLACIAN
from gradraker.paper.reproduction import write_caption
from gradraker.paper.simulations import PaperResults


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
