"""The display of the weights of a bank."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker import GradrakerRegressor, load_temperature
from gradraker.plotting import KernelWeightsDisplay

pytest.importorskip("matplotlib")

LONG = "2 hops, laplacian, σ² = 0.000282 (extending)"


def test_weights_are_drawn_against_time() -> None:
    data = load_temperature()
    model = GradrakerRegressor(keep_weights=True, n_epochs=2, random_state=0)
    display = model.fit(data.adjacency, data.scale_values()).plot_weights()
    axes = display.ax_
    assert len(axes.lines) == 5
    for line, weights in zip(axes.lines, model.weights_history_.T, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), weights)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 2 * 89 + 1))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[0] == "σ² = 0.167 (extending)"
    assert labels[-1].endswith("(averaging)")
    assert axes.get_xlabel() == "Training step"
    assert display.figure_ is axes.figure


def test_many_members_differ_in_colour_or_dashes() -> None:
    display = KernelWeightsDisplay(np.full((3, 20), 0.05), labels=[f"m{p}" for p in range(20)])
    lines = display.plot().ax_.lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 20


@pytest.mark.parametrize("label", ["m", "σ² = 58.7 (disturbing)", LONG])
@pytest.mark.parametrize("n_members", [1, 5, 20])
def test_the_legend_leaves_room_for_the_weights(label: str, n_members: int) -> None:
    weights = np.full((3, n_members), 1.0 / n_members)
    display = KernelWeightsDisplay(weights, labels=[label] * n_members).plot()
    figure, axes = display.figure_, display.ax_
    figure.draw_without_rendering()
    legend = axes.get_legend().get_window_extent()  # type: ignore[union-attr]
    assert figure.bbox.containsx(legend.x0)
    assert figure.bbox.containsx(legend.x1)
    assert figure.bbox.containsy(legend.y1)
    assert axes.bbox.width > 0.75 * figure.bbox.width
    assert axes.bbox.height > 1.9 * figure.dpi


def test_rows_without_ranges_are_drawn_without_their_names() -> None:
    model = GradrakerRegressor(kernels=[1.0], keep_weights=True, random_state=0)
    model.fit(np.ones((4, 2)), np.arange(4.0))
    text = model.plot_weights().ax_.get_legend().get_texts()[0].get_text()
    assert text == "σ² = 1"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"shape \(T, P\)"),
        (np.ones((0, 2)), r"shape \(T, P\)"),
        (np.ones((2, 0)), r"shape \(T, P\) with T, P > 0"),
        (np.ones((4, 3)), "a label for each of 3 members, got 2"),
        (np.full((4, 2), np.nan), "NaN"),
    ],
)
def test_display_refuses_wrong_shapes_and_numbers(
    weights: NDArray[np.float64], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        KernelWeightsDisplay(weights, labels=["a", "b"])
