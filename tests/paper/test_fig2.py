"""Figure 2: nodes by their distances."""

from typing import Any

from gradraker.paper import make_table
from gradraker.paper.simulations import PaperResults


def test_table_has_one_row_per_known_node(results: PaperResults) -> None:
    assert len(make_table(results, "fig2")) == 1 + 35


def test_efficient_distance_that_does_not_grow_differs(spoiled: dict[str, Any]) -> None:
    assert spoiled["efficient-distance"].verdict == "differs"
