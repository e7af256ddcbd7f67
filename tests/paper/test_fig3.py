"""Figure 3: B and F over training time."""

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


def test_claim_4_holds_where_the_sums_are_what_it_says(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    found = changed.simulations["weights"]["results"]
    for run in found["runs"]:
        claimed = 1.0 - (1.0 - run["mean_similarity"]) ** 108
        run["sums_of_weights"] = [claimed for _ in run["sums_of_weights"]]
    assert compare(changed)["claim-4"].verdict == "agrees"
