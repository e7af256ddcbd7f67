"""Rules that hold for all figures, and their table."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import gradraker.paper.figures as figures_room
from gradraker.paper import draw_figure
from gradraker.paper.figures import FIGURES
from gradraker.paper.reproduction import write_caption
from gradraker.paper.simulations import PaperResults
from gradraker.plotting import freeze_layout

# Figures that the embedded data allow.
EMBEDDED = [
    name for name, figure in FIGURES.items() if figure.simulation.data.startswith("temperature")
]
CURVES = ("fig1", "fig6a", "fig6b", "frequencies", "learning-rate", "epochs")


@pytest.fixture(scope="module")
def draw(results: PaperResults) -> Callable[[str], Figure]:
    """A function that draws a figure, once for all tests."""
    return cache(partial(draw_figure, results))


def test_every_file_of_a_figure_is_registered() -> None:
    folder = Path(figures_room.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    registered = {file.__name__.rpartition(".")[2] for file in figures_room.FILES}
    assert registered == files


def test_names_of_figures_are_in_the_order_of_the_paper() -> None:
    names = ["fig1", "fig2", *(f"fig3{letter}" for letter in "abcd"), "fig4", "fig5"]
    names += [*(f"fig6{letter}" for letter in "abcde"), "fig7", "fig8"]
    assert list(FIGURES) == [*names, "frequencies", "learning-rate", "epochs", "laplacian"]


@pytest.mark.parametrize("name", CURVES)
def test_curves_have_a_logarithmic_axis_and_say_how_many_repeats(
    draw: Callable[[str], Figure], name: str
) -> None:
    axes = draw(name).axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == r"Kernel variance $\sigma^2$"
    assert axes.get_ylabel() == "GNMSE"
    assert "mean of 3 repeats ± standard error" in axes.get_legend().get_title().get_text()  # type: ignore[union-attr]
    assert len(axes.collections) >= 1  # the band


@pytest.mark.parametrize("name", EMBEDDED)
def test_nothing_is_cut_off_at_the_edge(draw: Callable[[str], Figure], name: str) -> None:
    figure = draw(name)
    freeze_layout(figure)  # draws it, without a file
    for axes in figure.axes:
        texts = [axes.title, axes.xaxis.label, axes.yaxis.label]
        legend = axes.get_legend()
        for part in [text for text in texts if text.get_text()] + ([legend] if legend else []):
            box = part.get_window_extent()
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("name", EMBEDDED)
def test_captions_have_minus_signs_instead_of_hyphens(results: PaperResults, name: str) -> None:
    caption = write_caption(results, name)
    assert " -" not in caption
    assert "(-" not in caption
