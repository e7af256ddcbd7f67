"""Figure 4: conformity factors."""

from typing import Any

from gradraker.paper import make_table
from gradraker.paper.simulations import PaperResults


def test_table_has_no_alpha_at_the_last_step(results: PaperResults) -> None:
    header, *rows = make_table(results, "fig4")
    assert header == ["time", "alpha"]
    assert rows[-1] == [105, None]  # at the last step F = B whatever α is


def test_averaging_alpha_differs_if_late_weights_do_not_decay(spoiled: dict[str, Any]) -> None:
    assert spoiled["averaging-alpha"].verdict == "differs"
