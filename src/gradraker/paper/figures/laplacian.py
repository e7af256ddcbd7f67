"""Section VI.D: the same rule for a Laplacian kernel, with its own curve over the diversity b."""

import math
from dataclasses import replace

import numpy as np

from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import DATA
from gradraker.paper.paper_sweeps import SWEEPS, make_grid, make_sweep_table
from gradraker.paper.plan import PaperFigure
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import Measured, Outcome
from gradraker.plotting import DrawnDisplay, plot_sweep
from gradraker.sweep import SweepResult

# A diversity is "suitable" if its error is within a tenth of the smallest.
_SUITABLE = 1.1
_GRID = (0.05, 1e5)

SWEEP = replace(
    SWEEPS["temperature"],
    name="sweep-laplacian",
    settings=SWEEPS["temperature"].settings
    | {"kernel": "laplacian", "sigma2": make_grid(*_GRID, 41)},
    fast_settings={"sigma2": make_grid(*_GRID, 16), "n_repeats": 3},
)


def draw(sweep: SweepResult) -> DrawnDisplay:
    """Draw mean GNMSE over σ² = b², with the ranges and the rule's choice."""
    ed = float(sweep.median_boundaries[1])
    display = plot_sweep(sweep, marks={rf"$b_{{ed}}$ = {math.sqrt(ed):.3g}": ed})
    label = r"Squared diversity $b^2$ of the Laplacian kernel ($\sigma^2$ in the code)"
    display.ax_.set_xlabel(label)
    return display


def write_caption(sweep: SweepResult) -> str:
    """Say what the rule chooses and what is best."""
    ed, best = float(sweep.median_boundaries[1]), sweep.best_
    return (
        f"Mean and standard error of {sweep.n_repeats} repeats on Temperature-Jan with the "
        "Laplacian kernel exp(−‖d‖₁/b) and the other settings of figure 6 (a). The rule "
        f"2η exp(−‖d‖₁,max/b) = noise_up gives b = {math.sqrt(ed):.3g} with GNMSE "
        f"{sweep.compute_mean_at(ed):.4f}; the best b is {math.sqrt(best):.3g} with "
        f"{sweep.mean.min():.4f}."
    )


FIGURES = (
    PaperFigure(
        "laplacian",
        "Section VI.D: a Laplacian kernel",
        SWEEP,
        draw,
        make_sweep_table,
        write_caption,
        row=7,
    ),
)
CLAIMS = ClaimList(SWEEP)


def check_suitable_diversity(results: PaperResults, printed: str) -> Outcome:
    """Check that the rule carries over to the Laplacian kernel."""
    sweep = results.get(SWEEP)
    ed = float(sweep.median_boundaries[1])
    ours = Measured(sweep.compute_mean_at(ed) / float(sweep.mean.min()))
    farthest = float(np.median(sweep.squared_distances[:, 1]))
    beside, gaussian = "", SWEEPS["temperature"]
    if results.has(gaussian.name):
        beside = f" The Gaussian kernel's smallest is {results.get(gaussian).mean.min():.4f}."
    reason = (
        f"‖d‖₁,max = {farthest:g} and D = {DATA['temperature'].n_frequencies} give b = "
        f"{math.sqrt(ed):.3g} with GNMSE {sweep.compute_mean_at(ed):.4f}; best is b = "
        f"{math.sqrt(sweep.best_):.3g} with {sweep.mean.min():.4f}. Agrees up to {_SUITABLE:g}."
        f"{beside}"
    )
    return Outcome(ours, ours.value < _SUITABLE, reason, f"{ours.value:.3g}")


CLAIMS.add(
    "laplacian",
    "VI.D",
    "GNMSE at the b of the Laplacian kernel's rule, divided by the smallest, Temperature-Jan",
    "a suitable diversity b",
    check_suitable_diversity,
)
