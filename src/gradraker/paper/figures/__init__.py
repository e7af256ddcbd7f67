"""The figures: each file has a figure's simulation, drawing, table, caption and claims.

A new figure is a new file that defines ``FIGURES`` and ``CLAIMS``, and its name in ``FILES``.
"""

import re
from typing import TYPE_CHECKING, Any

from gradraker.paper.claims import Claim
from gradraker.paper.figures import (
    fig1,
    fig2,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7_8,
    laplacian,
    settings_figures,
)
from gradraker.paper.plan import PaperFigure, Table
from gradraker.paper.results import PaperResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "FIGURES", "draw_figure", "make_table", "write_caption"]

FILES = (fig1, fig2, fig3, fig4, fig5, fig6, fig7_8, settings_figures, laplacian)

FIGURES: dict[str, PaperFigure[Any]] = {
    figure.name: figure for file in FILES for figure in file.FIGURES
}
CLAIMS: tuple[Claim, ...] = tuple(claim for file in FILES for claim in file.CLAIMS)


def draw_figure(results: PaperResults, name: str) -> "Figure":
    """Draw one figure of the paper, or one of section VI.B.2 that it only describes.

    Parameters
    ----------
    results : PaperResults
        Returned by :func:`gradraker.paper.run_paper`, or read from a file.
    name : str
        Such as "fig6a".

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gradraker.paper import draw_figure, run_paper
    >>> figure = draw_figure(run_paper(["fig4"]), "fig4")
    >>> figure.axes[0].get_xlabel()
    'Training time $i$ (nodes seen)'
    """
    figure = FIGURES[name]
    return figure.draw(results.get(figure.simulation)).figure_


def make_table(results: PaperResults, name: str) -> Table:
    """List the numbers that a figure shows, the header first.

    Examples
    --------
    >>> from gradraker.paper import make_table, run_paper
    >>> make_table(run_paper(["fig6a"], fast=True), "fig6a")[0]
    ['sigma2', 'mean', 'standard_error', 'repeat_0', 'repeat_1', 'repeat_2']
    """
    figure = FIGURES[name]
    return figure.make_table(results.get(figure.simulation))


def write_caption(results: PaperResults, name: str) -> str:
    """Say what a figure shows and what to see in it."""
    figure = FIGURES[name]
    # A minus sign, as on the axes.
    return re.sub(r"(?<=[ (])-(?=\d)", "−", figure.write_caption(results.get(figure.simulation)))
