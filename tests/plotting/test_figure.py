"""Behaviour of all displays: axes, figures, legends, refused arguments."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from axes_content import lines
from gradraker.explain import similarity_transfer
from gradraker.plotting import (
    ConformityDisplay,
    ContributionWeightsDisplay,
    NodeDistancesDisplay,
    SimilarityTransferDisplay,
    freeze_layout,
    plot_held_out,
    render_figure,
    render_inline_svg,
    write_figure,
)
from gradraker.plotting.figure import make_axes

B = [0.2, 0.05, 0.1, 0.2]
F = [0.1024, -0.02, 0.08, 0.2]
EMPTY: dict[Any, Callable[..., Any]] = {
    "weights": lambda: ContributionWeightsDisplay(B, F, learning_rate=0.1, epoch_ends=[2]),
    "conformity": lambda: ConformityDisplay(B, F, learning_rate=0.1),
    "nodes": lambda: NodeDistancesDisplay([0.0, 1.0, 4.0], [0.5, -0.2, 0.1], efficient_distance=2),
    "points": lambda: SimilarityTransferDisplay([0.0, 1.0, 4.0], [0.1, 0.3, 0.2]),
    "cells": lambda: SimilarityTransferDisplay(np.arange(5000) % 7, np.linspace(0, 1, 5000)),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_display_draws_on_given_axes(kind: str) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = EMPTY[kind]()
    assert not hasattr(display, "ax_")
    assert display.plot(ax=right) is display
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()


@pytest.mark.parametrize("kind", EMPTY)
def test_display_on_a_subfigure_gives_the_figure_that_can_be_saved(kind: str) -> None:
    figure = Figure()
    subfigure, _ = figure.subfigures(1, 2)  # type: ignore[misc]
    assert EMPTY[kind]().plot(ax=subfigure.subplots()).figure_ is figure


@pytest.mark.parametrize("kind", EMPTY)
def test_display_fits_on_the_page(kind: str) -> None:
    display = EMPTY[kind]().plot()
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()  # type: ignore[no-untyped-call]
    width, height = canvas.get_width_height()
    for axes in display.figure_.axes:
        box = axes.get_tightbbox(canvas.get_renderer())  # type: ignore[no-untyped-call]
        assert -1 <= box.x0 < box.x1 <= width + 1
        assert -1 <= box.y0 < box.y1 <= height + 1


@pytest.mark.parametrize("kind", ["weights", "conformity", "points"])
def test_legend_is_above_the_data(kind: str) -> None:
    display = EMPTY[kind]().plot()
    canvas = FigureCanvasAgg(display.figure_)
    canvas.draw()  # type: ignore[no-untyped-call]
    box = display.ax_.get_legend().get_window_extent(canvas.get_renderer())  # type: ignore[no-untyped-call]
    assert box.y0 >= display.ax_.get_window_extent().y1 - 1


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in ("weights", "cells") else pytest.param(kind, marks=pytest.mark.slow)
        for kind in EMPTY
    ],
)
def test_four_displays_fit_on_a_page(kind: str) -> None:
    # The paper's figure 3 is of this kind. Layout that fails is a warning, hence an error.
    figure = Figure(figsize=(7.0, 5.5), layout="constrained")
    for axes in figure.subplots(2, 2).flat:
        EMPTY[kind]().plot(ax=axes)
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    assert all(axes.bbox.width > 0.15 * figure.bbox.width for axes in figure.axes[:4])


def test_series_differ_in_colour_and_in_shape() -> None:
    drawn = lines(ContributionWeightsDisplay(B, F, learning_rate=0.1).plot())
    first, second = drawn["$B_{i,T+1}$"], drawn["$F_{i,T+1}$"]
    assert to_rgba(first.get_color()) != to_rgba(second.get_color())
    assert first.get_marker() != second.get_marker()


def test_transfer_draws_itself() -> None:
    found = similarity_transfer([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0], n_neighbors=1)
    axes = Figure().subplots()
    assert found.plot(ax=axes).ax_ is axes
    assert isinstance(SimilarityTransferDisplay.from_transfer(found), SimilarityTransferDisplay)


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
def test_displays_refuse_arrays_that_do_not_fit(make: Callable[..., Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kind", EMPTY)
def test_display_without_matplotlib_says_how_to_get_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    display = EMPTY[kind]()
    # None in sys.modules is how Python marks a module that must not be imported.
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"needs matplotlib: pip install 'gradraker\[plot\]'"):
        display.plot()


@pytest.mark.process
def test_models_load_no_plotting_and_drawing_touches_no_global_state() -> None:
    program = """
import sys
import gradraker
gradraker.SKGRegressor
assert not {"matplotlib", "click", "rich"} & set(sys.modules), "imported too early"
assert {"numba", "sklearn", "numpy"} <= set(sys.modules)
from gradraker import SKGRegressor, load_temperature
from gradraker.explain import similarity_transfer
from gradraker.plotting import ConformityDisplay, PredictedValuesDisplay
data = load_temperature()
X, y = data.adjacency, data.values
explanation = SKGRegressor(random_state=0).fit(X[:60], y[:60]).explain(X[60:])
transfer = similarity_transfer(X, y)
assert "matplotlib" not in sys.modules, "imported too early"
explanation.plot()
explanation.plot_nodes()
transfer.plot()
ConformityDisplay.from_explanation(explanation)
labels = {"position_label": "Altitude", "value_label": "Temperature"}
PredictedValuesDisplay.from_predictions([1.0, 2.0], [0.5, -5.0], [0.0, -4.0], **labels)
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules, "pyplot chooses a backend"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_files_leave_the_figure_as_it_was() -> None:
    axes = make_axes()
    axes.plot([1.0, 2.0])
    figure = axes.figure
    canvas = figure.canvas
    first = {kind: render_figure(figure, kind) for kind in ("svg", "pdf", "png")}  # type: ignore[arg-type]
    assert figure.dpi == 200
    assert figure.canvas is canvas
    again = {kind: render_figure(figure, kind) for kind in ("png", "pdf", "svg")}  # type: ignore[arg-type]
    assert again == first
    width, height = (int.from_bytes(first["png"][i : i + 4]) for i in (16, 20))
    assert (width, height) == (1100, 720)  # 5.5 by 3.6 inches


def test_a_frozen_layout_draws_the_same_picture() -> None:
    figures = []
    for frozen in (False, True):
        axes = make_axes()
        axes.plot([1.0, 2.0])
        axes.set_xlabel("x")
        if frozen:
            freeze_layout(axes.figure)  # type: ignore[arg-type]
        figures.append(render_figure(axes.figure, "png"))  # type: ignore[arg-type]
    assert figures[0] == figures[1]


def test_the_suffix_of_a_figure_file_chooses_its_format(tmp_path: Path) -> None:
    figure = make_axes().figure
    assert write_figure(figure, tmp_path / "a.PDF").read_bytes().startswith(b"%PDF")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf, got '.*a\.jpg'"):
        write_figure(figure, tmp_path / "a.jpg")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind must be one of 'svg', 'png', 'pdf', got 'gif'"):
        render_figure(figure, "gif")  # type: ignore[arg-type]


def test_svg_has_no_date_no_random_ids_and_a_description() -> None:
    texts = [
        render_inline_svg(
            plot_held_out([1.0, 2.0], [1.5, 1.8]).figure_, prefix="p", description='a "b" <c>'
        )
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert texts[0].startswith("<svg ")
    assert 'role="img" aria-label="a &quot;b&quot; &lt;c&gt;"' in texts[0]
    assert "<metadata" not in texts[0]
    assert not re.search(r"<svg[^>]*\s(width|height)=", texts[0])
    assert re.search(r"<svg[^>]*viewBox=", texts[0])
