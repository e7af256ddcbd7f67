"""The paper's simulations, its printed numbers beside ours, and their verdicts."""

from gradraker.paper.claims import RULES, VERDICTS, Finding, count_verdicts
from gradraker.paper.paper_data import DATA
from gradraker.paper.reproduction import (
    build_summary,
    draw_figure,
    make_table,
    redraw_paper,
    reproduce_paper,
    write_reproduction,
)
from gradraker.paper.run import PARTS, SIMULATIONS, choose_parts, compare_with_paper, run_paper
from gradraker.paper.simulations import PaperResults, read_results

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
