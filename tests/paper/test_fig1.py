"""Figure 1: the four ranges."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradraker.paper import draw_figure
from gradraker.paper.simulations import PaperResults


def test_draw_shades_and_marks_the_four_ranges(results: PaperResults) -> None:
    axes = draw_figure(results, "fig1").axes[0]
    names = [text.get_text() for text in axes.texts]
    assert names == ["Chaos", "Extending", "Disturbing", "Averaging"]
    marked = sorted(line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1)  # type: ignore[arg-type, index, type-var]
    sweep = results.simulations["sweep-temperature"]["results"]
    boundaries = np.median(sweep["boundaries"], axis=0)
    assert set(boundaries) <= set(marked)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert any("sigma^2_{ce}" in label for label in labels)
    assert any("sigma^2_{da}" in label for label in labels)


def test_four_levels_agree_only_if_the_curve_falls_and_rises(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    sweep = changed.simulations["sweep-temperature"]["results"]
    n = len(sweep["sigma2"])
    sweep["gnmse"] = [np.linspace(1.0, 0.02, n).tolist()] * 3  # it never gets worse
    assert compare(changed)["four-levels"].verdict == "differs"
    sweep["gnmse"] = [(0.02 + np.abs(np.linspace(-1.0, 1.0, n))).tolist()] * 3
    assert compare(changed)["four-levels"].verdict == "agrees"


def test_largest_distance_differs_if_no_repeat_has_it(
    changed: PaperResults, compare: Callable[..., Any]
) -> None:
    sweep = changed.simulations["sweep-temperature"]["results"]
    sweep["squared_distances"] = [[1.0, 26.0], [1.0, 27.0], [1.0, 28.0]]
    assert compare(changed)["d2max-temperature"].verdict == "agrees"
    sweep["squared_distances"] = [[1.0, 28.0], [1.0, 29.0], [1.0, 30.0]]
    finding = compare(changed)["d2max-temperature"]
    assert finding.verdict == "differs"
    assert finding.shown == "29 (28…30)"
