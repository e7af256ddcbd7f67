"""Figure 2: nodes by their distances."""

from gradraker.paper import make_table


def test_table_has_one_row_per_known_node(results):
    assert len(make_table(results, "fig2")) == 1 + 35


def test_efficient_distance_that_does_not_grow_differs(spoiled):
    assert spoiled["efficient-distance"].verdict == "differs"
