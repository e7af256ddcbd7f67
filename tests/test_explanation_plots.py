"""Displays of explanations, and what all displays have in common, read back from the axes."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from gradraker import SKGRegressor, load_temperature
from gradraker.explain import similarity_transfer
from gradraker.plotting import (
    ConformityDisplay,
    ContributionWeightsDisplay,
    NodeDistancesDisplay,
    SimilarityTransferDisplay,
    plot_nodes,
    plot_transfer,
    plot_weights,
)

B = [0.2, 0.05, 0.1, 0.2]
F = [0.1024, -0.02, 0.08, 0.2]
HOLE = 0.12  # room around the tested node, as part of the largest distance


@pytest.fixture(scope="module")
def temperature():
    data = load_temperature()
    X, y = data.adjacency, data.scaled_values()
    model = SKGRegressor(sigma2=2.0, random_state=0).fit(X[:36], y[:36])
    return model, X[36:]


def lines(display):
    """Lines by label."""
    return {line.get_label(): line for line in display.ax_.get_lines()}


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


# -- B and F against time --------------------------------------------------------


def test_weights_are_drawn_at_their_times():
    display = ContributionWeightsDisplay(B, F, learning_rate=0.1, epoch_ends=[2]).plot()
    drawn = lines(display)
    assert drawn["$B_{i,T+1}$"].get_xydata().tolist() == [[i + 1, b] for i, b in enumerate(B)]
    assert drawn["$F_{i,T+1}$"].get_xydata().tolist() == [[i + 1, f] for i, f in enumerate(F)]
    (stems,) = display.ax_.collections
    assert [s.tolist() for s in stems.get_segments()] == [
        [[i + 1, 0.0], [i + 1, f]] for i, f in enumerate(F)
    ]
    assert drawn[r"$2\eta$"].get_ydata() == [0.2, 0.2]
    assert drawn["End of epoch"].get_xdata() == [2.5, 2.5]  # between the times 2 and 3
    assert legend(display) == [
        "$B_{i,T+1}$", "$F_{i,T+1}$", "Noise range of $F$", r"$2\eta$", "End of epoch",
    ]  # fmt: skip
    assert display.ax_.get_xlabel() == "Training time $i$ (nodes seen)"
    assert display.ax_.get_ylabel() == "$B_{i,T+1}$ and $F_{i,T+1}$"


def test_noise_range_is_shaded():
    display = ContributionWeightsDisplay(B, F, learning_rate=0.1).plot()
    assert display.noise_range == (-0.02, 0.02)
    (shade,) = display.ax_.patches
    assert (shade.get_y(), shade.get_height()) == pytest.approx((-0.02, 0.04))
    assert legend(display)[-1] == r"$2\eta$"  # no epochs, no word of them


def test_weights_of_a_model(temperature):
    model, X = temperature
    explanation = model.explain(X)
    display = ContributionWeightsDisplay.from_estimator(model, X, row=5)
    drawn = lines(display)
    assert np.array_equal(drawn["$B_{i,T+1}$"].get_xdata(), np.arange(1, 109))
    np.testing.assert_allclose(
        drawn["$B_{i,T+1}$"].get_ydata(), explanation.similarities[5][explanation.order]
    )
    np.testing.assert_allclose(drawn["$F_{i,T+1}$"].get_ydata(), explanation.by_time[5])
    assert display.epoch_ends.tolist() == [36, 72]
    assert display.learning_rate == model.learning_rate
    assert display.ax_.get_legend().get_title().get_text() == r"Node 5, $\sigma^2$ = 2"


def test_epochs_are_marked_only_if_training_was_in_epochs(temperature):
    _, X = temperature
    more = SKGRegressor(sigma2=2.0, random_state=0).fit(X[:10], np.arange(10.0))
    more.partial_fit(X[10:12], [1.0, 2.0])
    assert more.explain(X).plot().epoch_ends.size == 0
    once = SKGRegressor(sigma2=2.0, n_epochs=1, random_state=0).fit(X[:10], np.arange(10.0))
    assert once.explain(X).plot().epoch_ends.size == 0
    # Four steps of two nodes, but the first node came three times before the second.
    apart = SKGRegressor(sigma2=2.0, n_epochs=3, random_state=0).fit(X[:1], [1.0])
    apart.partial_fit(X[1:2], [2.0])
    assert apart.explain(X).plot().epoch_ends.size == 0


def test_conformity_is_drawn_where_there_is_one():
    display = ConformityDisplay(B, F, learning_rate=0.1).plot()
    (label,) = [name for name in lines(display) if "alpha" in name]
    assert label == r"$\alpha_{T+1-i}$ (none at 2 of 4 times)"
    np.testing.assert_allclose(lines(display)[label].get_ydata(), [0.2, np.nan, 0.2, np.nan])
    assert display.ax_.get_ylabel() == r"Conformity factor $\alpha_{T+1-i}$"
    assert lines(display)[r"$2\eta$"].get_ydata() == [0.2, 0.2]


# -- nodes by distance -----------------------------------------------------------


def test_nodes_are_placed_by_distance():
    squared = np.array([0.0, 4.0, 16.0, 4.0, 4.0, 1.0])
    weights = np.array([0.5, 0.1, 0.0, 0.3, 0.2, 0.4])
    display = NodeDistancesDisplay(squared, weights, efficient_distance=9.0).plot()
    assert display.radii.tolist() == [0, 2, 4, 2, 2, 1]
    (nodes,) = display.ax_.collections
    drawn = np.hypot(*nodes.get_offsets().T)
    shade = np.asarray(nodes.get_array())
    lightest_first = np.argsort(weights)
    np.testing.assert_allclose(drawn, (display.radii + HOLE * 4.0)[lightest_first])
    np.testing.assert_allclose(shade, weights[lightest_first])
    assert (np.diff(nodes.get_sizes()) > 0).all()
    # Three nodes of equal distance are a third of a turn apart.
    ring = np.sort(display.angles[[1, 3, 4]] % (2 * np.pi))
    np.testing.assert_allclose(np.diff(ring), 2 * np.pi / 3)
    circle = lines(display)["Efficient distance, ‖d‖ = 3.00"].get_xydata()
    np.testing.assert_allclose(np.hypot(*circle.T), 3.0 + HOLE * 4.0)
    assert lines(display)["Tested node"].get_xydata().tolist() == [[0.0, 0.0]]
    assert legend(display) == ["Tested node", "LearnedRows node", "Efficient distance, ‖d‖ = 3.00"]
    assert {text.get_text() for text in display.ax_.texts} == {f"‖d‖ = {i}" for i in range(5)}


def test_heavy_nodes_of_a_ring_are_not_together():
    weights = np.arange(100.0)
    angles = NodeDistancesDisplay(np.ones(100), weights).angles
    np.testing.assert_allclose(np.diff(np.sort(angles % (2 * np.pi))), 2 * np.pi / 100)
    heavy = np.sort(angles[-5:] % (2 * np.pi))
    gaps = np.append(np.diff(heavy), heavy[0] + 2 * np.pi - heavy[-1])
    assert gaps.min() > 2 * np.pi / 10


def test_rings_of_single_nodes_do_not_line_up():
    angles = NodeDistancesDisplay(np.arange(1.0, 9.0), np.ones(8)).angles
    apart = np.abs(np.exp(1j * angles)[:, None] - np.exp(1j * angles)) + 10 * np.eye(8)
    assert apart.min() > 0.4


def test_distances_equal_up_to_rounding_share_a_ring():
    squared = np.array([0.3, 0.1 + 0.2, 1.0])
    assert squared[0] != squared[1]
    angles = NodeDistancesDisplay(squared, [1.0, 0.5, 0.1]).angles
    assert abs(angles[0] - angles[1]) == pytest.approx(np.pi)


@pytest.mark.parametrize(
    ("weights", "limits", "name"),
    [
        ([0.4, 0.1, 0.0], (0.0, 0.4), "Blues"),
        ([0.4, 0.1, -0.02], (0.0, 0.4), "Blues"),
        ([0.4, 0.1, -0.1], (-0.4, 0.4), "RdBu"),
        ([0.1, 0.0, -0.3], (-0.3, 0.3), "RdBu"),
    ],
)
def test_negative_weights_that_matter_have_their_own_colour(weights, limits, name):
    display = NodeDistancesDisplay([1.0, 2.0, 3.0], weights).plot()
    (nodes,) = display.ax_.collections
    assert nodes.get_clim() == limits
    assert nodes.get_cmap().name == name
    (_, bar) = display.figure_.axes
    assert bar.get_ylabel() == "Contribution weight"


@pytest.mark.parametrize(
    ("efficient", "last"),
    [
        (None, "LearnedRows node"),
        (np.nan, "No significant weight"),
        (900.0, "Efficient distance, ‖d‖ = 30.00, farther out"),
    ],
)
def test_no_circle_without_a_distance_that_fits(efficient, last):
    display = NodeDistancesDisplay([1.0, 4.0], [0.5, 0.2], efficient_distance=efficient).plot()
    assert legend(display)[-1] == last
    assert all(len(line.get_xdata()) <= 1 for line in display.ax_.get_lines())
    assert display.ax_.get_xlim()[1] < 3.0


def test_nodes_of_a_model(temperature):
    model, X = temperature
    explanation = model.explain(X)
    display = NodeDistancesDisplay.from_estimator(model, X, row=7)
    np.testing.assert_allclose(display.squared_distances, explanation.squared_distances[7])
    np.testing.assert_allclose(display.weights, explanation.weights[7])
    assert display.efficient_distance == pytest.approx(explanation.efficient_distance(7))
    assert display.ax_.get_title() == r"Node 7, $\sigma^2$ = 2"


def test_all_nodes_equal_to_the_tested_one():
    display = NodeDistancesDisplay([0.0, 0.0], [0.0, 0.0], efficient_distance=0.0).plot()
    FigureCanvasAgg(display.figure_).draw()
    (nodes,) = display.ax_.collections
    np.testing.assert_allclose(np.hypot(*nodes.get_offsets().T), HOLE)


# -- all of them -----------------------------------------------------------------

EMPTY = {
    "weights": lambda: ContributionWeightsDisplay(B, F, learning_rate=0.1, epoch_ends=[2]),
    "conformity": lambda: ConformityDisplay(B, F, learning_rate=0.1),
    "nodes": lambda: NodeDistancesDisplay([0.0, 1.0, 4.0], [0.5, -0.2, 0.1], efficient_distance=2),
    "points": lambda: SimilarityTransferDisplay([0.0, 1.0, 4.0], [0.1, 0.3, 0.2]),
    "cells": lambda: SimilarityTransferDisplay(np.arange(5000) % 7, np.linspace(0, 1, 5000)),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_display_draws_on_given_axes(kind):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = EMPTY[kind]()
    assert not hasattr(display, "ax_")
    assert display.plot(ax=right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()


@pytest.mark.parametrize("kind", EMPTY)
def test_display_on_a_subfigure_gives_the_figure_that_can_be_saved(kind):
    figure = Figure()
    subfigure, _ = figure.subfigures(1, 2)
    assert EMPTY[kind]().plot(ax=subfigure.subplots()).figure_ is figure


@pytest.mark.parametrize("kind", EMPTY)
def test_display_fits_on_the_page(kind):
    display = EMPTY[kind]().plot()
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()
    width, height = canvas.get_width_height()
    for axes in display.figure_.axes:
        box = axes.get_tightbbox(canvas.get_renderer())
        assert -1 <= box.x0 < box.x1 <= width + 1
        assert -1 <= box.y0 < box.y1 <= height + 1


@pytest.mark.parametrize("kind", ["weights", "conformity", "points"])
def test_legend_is_above_the_data(kind):
    display = EMPTY[kind]().plot()
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()
    box = display.ax_.get_legend().get_window_extent(canvas.get_renderer())
    assert box.y0 >= display.ax_.get_window_extent().y1 - 1


@pytest.mark.parametrize("kind", EMPTY)
def test_four_displays_fit_on_a_page(kind):
    # The paper's figure 3 is of this kind. Layout that fails is a warning, hence an error.
    figure = Figure(figsize=(7.0, 5.5), layout="constrained")
    for axes in figure.subplots(2, 2).flat:
        EMPTY[kind]().plot(ax=axes)
    FigureCanvasAgg(figure).draw()
    assert all(axes.bbox.width > 0.15 * figure.bbox.width for axes in figure.axes[:4])


def test_series_differ_in_colour_and_in_shape():
    drawn = lines(ContributionWeightsDisplay(B, F, learning_rate=0.1).plot())
    first, second = drawn["$B_{i,T+1}$"], drawn["$F_{i,T+1}$"]
    assert to_rgba(first.get_color()) != to_rgba(second.get_color())
    assert first.get_marker() != second.get_marker()


def test_explanations_draw_themselves(temperature):
    model, X = temperature
    explanation = model.explain(X, node_names=[f"s{i}" for i in range(X.shape[0])])
    axes = Figure().subplots(1, 2)
    weights = explanation.plot(4, ax=axes[0])
    nodes = explanation.plot_nodes(4, ax=axes[1])
    assert isinstance(weights, ContributionWeightsDisplay)
    assert isinstance(nodes, NodeDistancesDisplay)
    assert (weights.ax_, nodes.ax_) == tuple(axes)
    assert np.array_equal(weights.weights, explanation.by_time_of(4))
    assert np.array_equal(nodes.weights, explanation.weights[4])
    assert nodes.efficient_distance == explanation.efficient_distance(4)
    assert nodes.efficient_distance != explanation.efficient_distance(0)
    assert nodes.ax_.get_title() == r"Node s4, $\sigma^2$ = 2"
    last = explanation.plot(-1)
    assert np.array_equal(last.weights, explanation.by_time_of(-1))
    assert isinstance(last.ax_, Axes)
    assert np.array_equal(plot_weights(explanation, 4).weights, weights.weights)
    assert np.array_equal(plot_nodes(explanation, 4).weights, nodes.weights)


def test_transfer_draws_itself():
    found = similarity_transfer([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0], n_neighbors=1)
    axes = Figure().subplots()
    assert found.plot(ax=axes).ax_ is axes
    assert isinstance(plot_transfer(found), SimilarityTransferDisplay)


@pytest.mark.parametrize("form", ["dense", "list", "coo", "frame"])
def test_estimators_are_drawn_from_any_rows(temperature, form):
    model, X = temperature
    frame = pd.DataFrame(X.toarray(), index=[f"s{i}" for i in range(X.shape[0])])
    rows = {
        "dense": X.toarray(),
        "list": X.toarray().tolist(),
        "coo": X.tocoo(),
        "frame": frame,
    }[form]
    display = NodeDistancesDisplay.from_estimator(model, rows, row=-2)
    np.testing.assert_allclose(display.weights, model.explain(X).weights[-2])
    name = f"s{X.shape[0] - 2}" if form == "frame" else X.shape[0] - 2
    assert display.ax_.get_title().startswith(f"Node {name},")


def test_estimators_that_know_columns_by_name_are_drawn():
    model = SKGRegressor(sigma2=1.0, random_state=0)
    model.learn_one({"a": 1.0}, 1.0)
    model.learn_one({"b": 1.0}, 2.0)
    display = NodeDistancesDisplay.from_estimator(
        model, [[1.0, 0.0], [0.0, 1.0]], row=1, references=["b", "a"]
    )
    np.testing.assert_allclose(display.squared_distances, [0.0, 2.0])
    again = ContributionWeightsDisplay.from_estimator(model, [[1.0]], references=["b"])
    assert again.weights.size == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ContributionWeightsDisplay([], [], learning_rate=0.1), "similarities must have"),
        (
            lambda: ContributionWeightsDisplay(B, F[:2], learning_rate=0.1),
            r"weights must have shape \(4,\), got shape \(2,\)",
        ),
        (lambda: ConformityDisplay(B, F, learning_rate=2.0), "learning_rate must be a number in"),
        (lambda: NodeDistancesDisplay([1.0], [np.nan]), "weights holds NaN or infinity"),
        (lambda: NodeDistancesDisplay([-1.0], [1.0]), "squared_distances must not be negative"),
        (
            lambda: SimilarityTransferDisplay([1.0], [[1.0]]),
            r"value_differences must have shape \(1,\), got shape \(1, 1\)",
        ),
    ],
)
def test_displays_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("row", [53, -54, 1.0, "a"])
def test_rows_that_are_not_there_are_refused(temperature, row):
    model, X = temperature
    message = "row must be the number of one of 53 tested nodes, got"
    with pytest.raises(ValueError, match=message):
        ContributionWeightsDisplay.from_estimator(model, X, row=row)
    with pytest.raises(ValueError, match=message):
        NodeDistancesDisplay.from_explanation(model.explain(X), row=row)


@pytest.mark.parametrize("kind", EMPTY)
def test_display_without_matplotlib_says_how_to_get_it(kind, monkeypatch):
    display = EMPTY[kind]()
    # None in sys.modules is how Python marks a module that must not be imported.
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'gradraker\[plot\]'"):
        display.plot()


def test_drawing_touches_no_global_matplotlib_state():
    program = """
import sys
from gradraker import SKGRegressor, load_temperature
from gradraker.explain import similarity_transfer
from gradraker.plotting import ConformityDisplay
data = load_temperature()
X, y = data.adjacency, data.values
explanation = SKGRegressor(random_state=0).fit(X[:60], y[:60]).explain(X[60:])
transfer = similarity_transfer(X, y)
assert "matplotlib" not in sys.modules, "imported too early"
explanation.plot()
explanation.plot_nodes()
transfer.plot()
ConformityDisplay.from_explanation(explanation)
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules, "pyplot chooses a backend"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
