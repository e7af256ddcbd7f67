"""The figures: each file holds a figure's simulation, drawing, table, caption and claims.

A new figure is a new file that defines ``FIGURES`` and ``CLAIMS``, and its name in ``FILES``.
"""

from typing import Any

from gradraker.paper.claims import Claim
from gradraker.paper.figures import fig1, fig2, fig3_4_5, fig6, fig7_8, section_vi
from gradraker.paper.simulations import PaperFigure

__all__ = ["CLAIMS", "FIGURES"]

FILES = (fig1, fig2, fig3_4_5, fig6, fig7_8, section_vi)

FIGURES: dict[str, PaperFigure[Any]] = {
    figure.name: figure for file in FILES for figure in file.FIGURES
}
CLAIMS: tuple[Claim, ...] = tuple(claim for file in FILES for claim in file.CLAIMS)
