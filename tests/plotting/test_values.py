"""What is drawn, read back from the axes."""

import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gradraker.plotting import PredictedValuesDisplay

POSITION = [400.0, 1600.0, 2500.0, 3500.0]
Y_TRUE = [0.5, -5.0, -8.0, -14.0]
Y_PRED = [0.0, -4.0, -8.5, -12.0]
LABELS: dict[str, Any] = {
    "position_label": "Altitude (m a.s.l.)",
    "value_label": "Temperature (°C)",
}


def drawn(display: Any) -> dict[str, Any]:
    """Points by legend label."""
    return {line.get_label(): line.get_xydata().tolist() for line in display.ax_.get_lines()}


def segments(display: PredictedValuesDisplay) -> list[Any]:
    (lines,) = display.ax_.collections
    return [segment.tolist() for segment in lines.get_segments()]  # type: ignore[attr-defined]


def test_display_draws_true_and_predicted_joined_by_lines() -> None:
    display = PredictedValuesDisplay.from_predictions(POSITION, Y_TRUE, Y_PRED, **LABELS)
    assert drawn(display) == {
        "True": [[400, 0.5], [1600, -5], [2500, -8], [3500, -14]],
        "Predicted": [[400, 0], [1600, -4], [2500, -8.5], [3500, -12]],
    }
    assert segments(display) == [
        [[400, 0.5], [400, 0]],
        [[1600, -5], [1600, -4]],
        [[2500, -8], [2500, -8.5]],
        [[3500, -14], [3500, -12]],
    ]
    assert display.ax_.get_xlabel() == "Altitude (m a.s.l.)"
    assert display.ax_.get_ylabel() == "Temperature (°C)"
    assert display.figure_ is display.ax_.figure


def test_display_shows_known_nodes_without_a_prediction() -> None:
    known = [True, False, True, False]
    y_pred = [np.nan, -4.0, np.nan, -12.0]
    display = PredictedValuesDisplay.from_predictions(
        POSITION, Y_TRUE, y_pred, known=known, **LABELS
    )
    assert drawn(display) == {
        "Known to the learner": [[400, 0.5], [2500, -8]],
        "True": [[1600, -5], [3500, -14]],
        "Predicted": [[1600, -4], [3500, -12]],
    }
    assert segments(display) == [[[1600, -5], [1600, -4]], [[3500, -14], [3500, -12]]]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]  # type: ignore[union-attr]
    assert legend == ["Known to the learner", "True", "Predicted"]


def test_display_series_differ_in_colour_and_in_shape() -> None:
    display = PredictedValuesDisplay.from_predictions(
        POSITION, Y_TRUE, Y_PRED, known=[True, False, False, False], **LABELS
    )
    lines = display.ax_.get_lines()
    assert len({line.get_color() for line in lines}) == 3
    assert len({line.get_marker() for line in lines}) == 3


def test_display_draws_on_given_axes() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = PredictedValuesDisplay(POSITION, Y_TRUE, Y_PRED, **LABELS)
    assert not hasattr(display, "ax_")
    assert display.plot(ax=right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.get_lines()


def test_display_on_a_subfigure_gives_the_figure_that_can_be_saved() -> None:
    figure = Figure()
    subfigure, _ = figure.subfigures(1, 2)  # type: ignore[misc]
    display = PredictedValuesDisplay.from_predictions(
        POSITION, Y_TRUE, Y_PRED, ax=subfigure.subplots(), **LABELS
    )
    assert display.figure_ is figure


def test_display_fits_on_the_page() -> None:
    display = PredictedValuesDisplay.from_predictions(POSITION, Y_TRUE, Y_PRED, **LABELS)
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()  # type: ignore[no-untyped-call]
    box = display.ax_.get_tightbbox(canvas.get_renderer())  # type: ignore[no-untyped-call]
    width, height = display.figure_.canvas.get_width_height()
    assert box is not None
    assert 0 <= box.x0 < box.x1 <= width
    assert box is not None
    assert 0 <= box.y0 < box.y1 <= height


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": []}, r"position must have shape \(n,\) with n > 0, got shape \(0,\)"),
        ({"position": [[1.0]]}, r"position must have shape .* got shape \(1, 1\)"),
        ({"y_true": [1.0]}, r"y_true must have shape \(4,\), got shape \(1,\)"),
        ({"y_pred": [1.0] * 5}, r"y_pred must have shape \(4,\), got shape \(5,\)"),
        ({"y_pred": [1.0, 2.0, np.nan, 3.0]}, "y_pred holds NaN"),
        ({"y_true": [1.0, 2.0, np.inf, 3.0]}, "y_true holds NaN or infinity"),
        ({"known": [0, 2]}, r"known must be an array of 4 bool.*got shape \(2,\) of int"),
        ({"known": [0, 1, 1, 0]}, "known must be an array of 4 bool"),
    ],
)
def test_display_refuses(changes: dict[str, Any], message: str) -> None:
    data = {"position": POSITION, "y_true": Y_TRUE, "y_pred": Y_PRED}
    with pytest.raises(ValueError, match=message):
        PredictedValuesDisplay(**(data | changes), **LABELS)


def test_display_without_matplotlib_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules is how Python marks a module that must not be imported.
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    display = PredictedValuesDisplay(POSITION, Y_TRUE, Y_PRED, **LABELS)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'gradraker\[plot\]'"):
        display.plot()
