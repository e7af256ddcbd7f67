"""The paper's simulations, its printed numbers beside ours, and their verdicts."""

from gradraker.paper.data import DATA
from gradraker.paper.findings import VERDICTS, counts, findings
from gradraker.paper.plan import PARTS, SIMULATIONS, chosen_parts
from gradraker.paper.reproduction import paper_summary, write_reproduction
from gradraker.paper.results import PaperResults, read_results
from gradraker.paper.rules import RULES, Finding
from gradraker.paper.run import run_paper
from gradraker.paper.tables import figure_table

__all__ = [
    "DATA",
    "PARTS",
    "RULES",
    "SIMULATIONS",
    "VERDICTS",
    "Finding",
    "PaperResults",
    "chosen_parts",
    "counts",
    "figure_table",
    "findings",
    "paper_summary",
    "read_results",
    "run_paper",
    "write_reproduction",
]
