"""Values of nodes as they are drawn, read back from the axes."""

import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from axes_content import legend, lines
from gradraker import load_temperature
from gradraker.explain import similarity_transfer
from gradraker.plotting import PredictedValuesDisplay, SimilarityTransferDisplay
from gradraker.plotting.values import _choose_edges

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
def test_display_of_values_refuses_arrays_that_do_not_fit(
    changes: dict[str, Any], message: str
) -> None:
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


def test_few_pairs_are_drawn_as_points() -> None:
    x, y = [0.0, 1.0, 1.0, 4.0], [0.1, 0.3, 0.5, 0.2]
    display = SimilarityTransferDisplay(x, y, title="Head").plot()
    drawn = lines(display)
    assert drawn["Pair of nodes"].get_xydata().tolist() == [list(p) for p in zip(x, y, strict=True)]
    assert drawn["Median"].get_xydata().tolist() == [[0.0, 0.1], [1.0, 0.4], [4.0, 0.2]]
    assert drawn["Quartiles"].get_ydata().tolist() == pytest.approx([0.1, 0.35, 0.2])
    assert legend(display) == ["Pair of nodes", "Quartiles", "Median"]
    assert display.ax_.get_legend().get_title().get_text() == "Head"  # type: ignore[union-attr]
    assert display.ax_.get_xlabel() == r"Squared distance of adjacency vectors $\|d_{i,j}\|^2$"


def test_many_pairs_are_counted_in_cells() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 4000), rng.integers(0, 7, 4000) / 6
    display = SimilarityTransferDisplay(x, y).plot()
    (cells,) = display.ax_.collections
    counts = cells.get_array()
    assert counts is not None
    assert counts.shape == (7, 5)  # one cell for each difference and distance
    assert counts is not None
    assert counts[2, 3] == np.sum((x == 3) & (np.round(6 * y) == 2))
    assert counts is not None
    assert counts.sum() == 4000
    assert "Pair of nodes" not in legend(display)
    (_, bar) = display.figure_.axes
    assert bar.get_ylabel() == "Pairs of nodes in a cell"


def test_running_median_keeps_equal_distances_together() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0, 2.0, 9.0], [300, 500, 199, 1])
    y = rng.random(1000)
    display = SimilarityTransferDisplay(x, y)
    # A single pair is no group of its own.
    assert display.distances.tolist() == pytest.approx([0.0, 1.0, (2 * 199 + 9) / 200])
    for i, part in enumerate((slice(300), slice(300, 800), slice(800, 1000))):
        assert display.quartiles[:, i] == pytest.approx(np.quantile(y[part], [0.25, 0.5, 0.75]))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(8.0),
        np.arange(350.0),
        np.array([2.0, 3.0, 7.0]),
        np.abs(np.subtract.outer(np.arange(7) / 6, np.arange(7) / 6)).ravel(),
        np.arange(101) * 0.01,
        np.random.default_rng(0).random(5000),
        np.array([3.0, 3.0]),
        np.array([0.0, 1e-9, 1.0]),
    ],
)
def test_cells_hold_all_values(values: NDArray[np.float64]) -> None:
    edges = _choose_edges(values)
    assert edges.size <= 62
    counts, _ = np.histogram(values, bins=edges)
    assert counts.sum() == values.size


def test_cells_of_integers_have_no_stripes() -> None:
    edges = _choose_edges(np.arange(350.0))
    counts, _ = np.histogram(np.arange(350.0), bins=edges)
    assert set(counts[:-1].tolist()) == {6}


def test_pairs_of_a_data_set_are_those_of_similarity_transfer() -> None:
    data = load_temperature()
    found = similarity_transfer(data.adjacency, data.values)
    display = SimilarityTransferDisplay.from_data(data.adjacency, data.values)
    assert np.array_equal(display.squared_distances, found.squared_distances)
    assert np.array_equal(display.value_differences, found.value_differences)
    head = found.plot().ax_.get_legend().get_title().get_text()
    assert head == "Relative error 0.27, rank correlation 0.41"
    few = SimilarityTransferDisplay.from_data([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    assert few.squared_distances.size == 3


def test_cells_have_the_values_in_the_middle() -> None:
    # Differences of sixths differ from sixths by rounding.
    sixths = np.abs(np.subtract.outer(np.arange(7) / 6, np.arange(7) / 6)).ravel()
    assert np.unique(sixths).size > 7
    np.testing.assert_allclose(_choose_edges(sixths), (np.arange(8) - 0.5) / 6)
