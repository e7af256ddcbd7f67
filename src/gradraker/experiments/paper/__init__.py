"""The paper's simulations, its printed numbers beside ours, and their verdicts."""

from gradraker.experiments.paper.data import DATA
from gradraker.experiments.paper.findings import VERDICTS, counts, findings
from gradraker.experiments.paper.plan import PARTS, SIMULATIONS, chosen_parts
from gradraker.experiments.paper.results import PaperResults, read_results
from gradraker.experiments.paper.rules import RULES, Finding
from gradraker.experiments.paper.run import run_paper
from gradraker.experiments.paper.tables import figure_table

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
    "read_results",
    "run_paper",
]
