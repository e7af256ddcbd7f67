"""Figures of the reasons for a prediction: bars of contributors and the neighbourhood."""

from typing import Any

import numpy as np
import pytest

import gradraker
from gradraker.plotting import ContributorsDisplay, NeighbourhoodDisplay
from gradraker.plotting.figure import make_axes


@pytest.fixture(scope="module")
def result() -> Any:
    data = gradraker.load_temperature()
    known = dict(zip(data.node_names[:60], data.values[:60], strict=True))
    return gradraker.predict_nodes(data, known)


def test_bars_are_as_long_as_the_weights(result: Any) -> None:
    explanation = result.explain(["Pilatus"])
    display = explanation.plot()
    assert isinstance(display, ContributorsDisplay)
    order = explanation.find_heaviest(8)[0]
    widths = [patch.get_width() for patch in display.ax_.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, explanation.weights[0, order])
    first = display.ax_.get_yticklabels()[0].get_text()
    assert first.startswith(str(explanation.known_names[order[0]])[:10])


def test_neighbourhood_marks_contributors_and_known_nodes(result: Any) -> None:
    axes = make_axes()
    display = result.plot_neighbourhood("Pilatus", ax=axes)
    assert isinstance(display, NeighbourhoodDisplay)
    assert display.ax_ is axes
    known, predicted, rings = axes.collections
    assert np.shape(known.get_offsets())[0] == int(display.is_known.sum())
    assert np.shape(predicted.get_offsets())[0] == int((~display.is_known).sum())
    assert np.shape(rings.get_offsets())[0] == 8
    assert axes.get_title(loc="left").startswith("Pilatus: -")
    display.plot()  # again, on a figure of its own
    assert display.ax_ is not axes


def test_neighbourhood_of_classes_and_names_with_dollars() -> None:
    edges = [("$a", "b$"), ("b$", "c"), ("c", "$a"), ("c", "d")]
    found = gradraker.predict_nodes(edges, {"$a": "x$", "b$": "y$"})
    display = found.plot_neighbourhood("c")
    display.figure_.draw_without_rendering()  # a name is not taken for mathematics
    assert display.ax_.get_title(loc="left") in ("c: x$", "c: y$")
