"""Figures 3 to 5: B and F over training time, conformity factors and predictions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker.paper import draw_figure, make_table
from gradraker.paper.simulations import PaperResults


@pytest.mark.parametrize(("letter", "sigma2"), [("a", 0.1), ("b", 2), ("c", 10), ("d", 300)])
def test_panels_show_the_weights_of_their_variance(
    results: PaperResults, letter: str, sigma2: Any
) -> None:
    axes = draw_figure(results, f"fig3{letter}").axes[0]
    assert rf"$\sigma^2$ = {sigma2:g}" in axes.get_legend().get_title().get_text()  # type: ignore[union-attr]
    points = {line.get_label(): line.get_ydata() for line in axes.lines}
    header, *rows = make_table(results, f"fig3{letter}")
    table = dict(zip(header, zip(*rows, strict=True), strict=True))
    np.testing.assert_array_equal(points["$B_{i,T+1}$"], table["B"])
    np.testing.assert_array_equal(points["$F_{i,T+1}$"], table["F"])
    assert list(table["time"]) == list(range(1, 106))


@pytest.mark.parametrize(
    "key",
    [
        "disturbing-B",
        "averaging-B",
        "sum-of-weights",
        "late-F",
        "extending-B",
        "chaos-F",
        "four-ranges",
        "extending-F",
        "averaging-F",
    ],
)
def test_claims_differ_if_the_weights_contradict_them(spoiled: dict[str, Any], key: str) -> None:
    assert spoiled[key].verdict == "differs"


def test_claim_4_agrees_if_the_sums_equal_its_equation(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    found = changed.simulations["weights"]["results"]
    for run in found["runs"]:
        claimed = 1.0 - (1.0 - run["mean_similarity"]) ** 108
        run["sums_of_weights"] = [claimed for _ in run["sums_of_weights"]]
    assert compare(changed)["claim-4"].verdict == "agrees"


def test_table_has_no_alpha_at_the_last_step(results: PaperResults) -> None:
    header, *rows = make_table(results, "fig4")
    assert header == ["time", "alpha"]
    assert rows[-1] == [105, None]  # at the last step F = B whatever α is


def test_averaging_alpha_differs_if_late_weights_do_not_decay(spoiled: dict[str, Any]) -> None:
    assert spoiled["averaging-alpha"].verdict == "differs"


def test_one_panel_per_variance_in_degrees(results: PaperResults) -> None:
    figure = draw_figure(results, "fig5")
    assert len(figure.axes) == 4
    titles = [axes.get_title() for axes in figure.axes]
    assert [title.split("(")[1] for title in titles] == [
        "chaos)",
        "extending)",
        "disturbing)",
        "averaging)",
    ]
    assert figure.axes[0].get_ylabel() == "January mean temperature (°C)"
    assert figure.axes[2].get_xlabel() == "Altitude (m a.s.l.)"
    header, *rows = make_table(results, "fig5")
    assert header[:3] == ["altitude_m", "true_c", "sigma2_0.1_c"]
    assert min(row[1] for row in rows) >= -14.0  # Jungfraujoch
    assert max(row[1] for row in rows) <= 2.7


def test_claims_on_predictions_differ_if_predictions_contradict_them(
    spoiled: dict[str, Any],
) -> None:
    assert spoiled["flat-predictions"].verdict == "differs"
    assert spoiled["largest-error"].verdict == "differs"
    assert spoiled["largest-error"].shown == "2"
