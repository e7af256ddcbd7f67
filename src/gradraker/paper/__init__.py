"""The paper's simulations, its printed numbers beside ours, and their verdicts."""

from gradraker.paper.claims import Finding, count_verdicts
from gradraker.paper.figures import draw_figure, make_table
from gradraker.paper.paper_data import DATA
from gradraker.paper.reproduction import (
    build_summary,
    redraw_paper,
    reproduce_paper,
    write_reproduction,
)
from gradraker.paper.results import PaperResults, read_results
from gradraker.paper.rules import RULES, VERDICTS
from gradraker.paper.run import PARTS, SIMULATIONS, choose_parts, compare_with_paper, run_paper

__all__ = [
    "DATA",
    "PARTS",
    "RULES",
    "SIMULATIONS",
    "VERDICTS",
    "Finding",
    "PaperResults",
    "build_summary",
    "choose_parts",
    "compare_with_paper",
    "count_verdicts",
    "draw_figure",
    "make_table",
    "read_results",
    "redraw_paper",
    "reproduce_paper",
    "run_paper",
    "write_reproduction",
]
