"""Figure 5: true and predicted temperatures."""

from typing import Any

from gradraker.paper import draw_figure, make_table
from gradraker.paper.simulations import PaperResults


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
