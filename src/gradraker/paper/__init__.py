"""The paper's simulations, its printed numbers compared with ours, and verdicts."""

from gradraker.paper.claims import RULES, VERDICTS, Finding, count_verdicts
from gradraker.paper.reproduction import (
    PARTS,
    SIMULATIONS,
    build_summary,
    choose_parts,
    compare_with_paper,
    draw_figure,
    make_table,
    redraw_paper,
    reproduce_paper,
    run_paper,
    write_reproduction,
)
from gradraker.paper.simulations import DATA, PaperResults, read_results

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
