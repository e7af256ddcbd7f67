"""The paper's figures, drawn from the results of its simulations."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradraker.paper.data import DATA
from gradraker.paper.inputs import SIGMA2_ED
from gradraker.paper.records import run_at, settings_sweep_of, sweep_of
from gradraker.paper.results import PaperResults
from gradraker.plotting.figure import make_axes
from gradraker.plotting.nodes import NodeDistancesDisplay
from gradraker.plotting.sweep import plot_settings_sweep, plot_sweep
from gradraker.plotting.transfer import SimilarityTransferDisplay
from gradraker.plotting.values import PredictedValuesDisplay
from gradraker.plotting.weights import ConformityDisplay, ContributionWeightsDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Figure 2 is about the extending range.
SIGMA2_OF_FIGURE_2 = 2.0
SIGMA2_OF_FIGURE_4 = 10.0


def draw_paper_figure(results: PaperResults, name: str) -> "Figure":
    """Draw one figure of the paper, or one of section VI.B.2 that it only describes.

    Parameters
    ----------
    results : PaperResults
        What :func:`gradraker.paper.run_paper` returned, or a file of it.
    name : str
        Such as "fig6a".

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gradraker.paper import run_paper
    >>> from gradraker.paper.drawing import draw_paper_figure
    >>> figure = draw_paper_figure(run_paper(["fig4"]), "fig4")
    >>> figure.axes[0].get_xlabel()
    'Training time $i$ (nodes seen)'
    """
    return _DRAWINGS[name](results)


def _figure_1(results: PaperResults) -> "Figure":
    sweep = sweep_of(results, "sweep-temperature")
    ce, _, da = sweep.median_boundaries
    marks = {rf"$\sigma^2_{{ce}}$ = {ce:.3g}": ce, rf"$\sigma^2_{{da}}$ = {da:.3g}": da}
    return plot_sweep(sweep, marks=marks).figure.figure


def _figure_2(results: PaperResults) -> "Figure":
    found, run = results.of("weights"), run_at(results, SIGMA2_OF_FIGURE_2)
    efficient = run["efficient_distance"]
    display = NodeDistancesDisplay(
        found["squared_distances"],
        run["weights_by_node"],
        efficient_distance=float("nan") if efficient is None else efficient,
    )
    axes = display.plot().ax_
    axes.set_title(_title(found, run), fontsize="medium")
    return axes.figure.figure


def _figure_3(number: int) -> Callable[[PaperResults], "Figure"]:
    def draw(results: PaperResults) -> "Figure":
        found = results.of("weights")
        return ContributionWeightsDisplay(**_times(results, found["runs"][number])).plot().figure_

    return draw


def _figure_4(results: PaperResults) -> "Figure":
    run = run_at(results, SIGMA2_OF_FIGURE_4)
    return ConformityDisplay(**_times(results, run)).plot().figure_


def _figure_5(results: PaperResults) -> "Figure":
    found = results.of("weights")
    low, high = found["unit"]
    figure = make_axes(7.6, 5.6).figure.figure
    figure.clear()
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    for i, (axes, run) in enumerate(zip(grid.flat, found["runs"], strict=True)):
        PredictedValuesDisplay.from_predictions(
            found["altitude_m"],
            low + (high - low) * np.array(found["values"]),
            low + (high - low) * np.array(run["predictions"]),
            position_label="Altitude (m a.s.l.)" if i >= 2 else "",
            value_label="January mean temperature (°C)" if i % 2 == 0 else "",
            ax=axes,
        )
        axes.set_title(rf"$\sigma^2$ = {run['sigma2']:g} ({run['range']})", fontsize="medium")
        if i > 0:
            axes.get_legend().remove()
    return figure


def _figure_6(data: str) -> Callable[[PaperResults], "Figure"]:
    def draw(results: PaperResults) -> "Figure":
        sweep = sweep_of(results, f"sweep-{data}")
        printed = SIGMA2_ED[data]
        marks = {rf"$\sigma^2_{{ed}}$ in the paper: {printed}": float(printed)}
        axes = plot_sweep(sweep, ranges=False, marks=marks)
        axes.set_ylim(bottom=0.0)  # data sets are compared by how high their curves are
        return axes.figure.figure

    return draw


def _pairs(data: str) -> Callable[[PaperResults], "Figure"]:
    def draw(results: PaperResults) -> "Figure":
        distances, gaps, counts = np.array(results.of(f"pairs-{data}")["table"]).T
        n = counts.astype(np.int64)
        display = SimilarityTransferDisplay(
            np.repeat(distances, n), np.repeat(gaps, n), title=DATA[data].title
        )
        return display.plot().figure_

    return draw


def _settings(name: str) -> Callable[[PaperResults], "Figure"]:
    return lambda results: plot_settings_sweep(settings_sweep_of(results, name)).figure.figure


_DRAWINGS: dict[str, Callable[[PaperResults], "Figure"]] = {
    "fig1": _figure_1,
    "fig2": _figure_2,
    **{f"fig3{letter}": _figure_3(i) for i, letter in enumerate("abcd")},
    "fig4": _figure_4,
    "fig5": _figure_5,
    **{f"fig6{letter}": _figure_6(data) for letter, data in zip("abcde", DATA, strict=True)},
    "fig7": _pairs("temperature"),
    "fig8": _pairs("cora"),
    **{name: _settings(name) for name in ("frequencies", "learning-rate", "epochs")},
}


def _times(results: PaperResults, run: Mapping[str, Any]) -> dict[str, Any]:
    found = results.of("weights")
    return {
        "similarities": run["similarities"],
        "weights": run["weights"],
        "learning_rate": results.settings("weights")["learning_rate"],
        "epoch_ends": found["epoch_ends"],
        "title": _title(found, run),
    }


def _title(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    return rf"{found['node']}, $\sigma^2$ = {run['sigma2']:g} ({run['range']} range)"
