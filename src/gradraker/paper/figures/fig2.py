"""Figure 2: known nodes around an unknown one, and the efficient distance (section IV.A.2)."""

import numpy as np

from gradraker.paper.claims import ClaimList
from gradraker.paper.four_variances import CHAOS, DISTURBING, EXTENDING, WEIGHTS, FourVariances
from gradraker.paper.plan import PaperFigure, Table, to_rows
from gradraker.paper.rules import Measured, Outcome
from gradraker.plotting import NodeDistancesDisplay

# The figure is about the extending range.
SIGMA2 = EXTENDING


def draw(found: FourVariances) -> NodeDistancesDisplay:
    """Draw the known nodes by their distances, with their contribution weights."""
    run = found.get_run(SIGMA2)
    efficient = run.efficient_distance
    display = NodeDistancesDisplay(
        found.squared_distances,
        run.contribution_weights_by_node,
        efficient_distance=float("nan") if efficient is None else efficient,
    ).plot()
    display.ax_.set_title(found.format_title(run), fontsize="medium")
    return display


def make_table(found: FourVariances) -> Table:
    """List distances and contribution weights of the known nodes."""
    run = found.get_run(SIGMA2)
    rows = to_rows([found.squared_distances, run.contribution_weights_by_node])
    return [["observed_node", "squared_distance", "weight"], *([i, *r] for i, r in enumerate(rows))]


def write_caption(found: FourVariances) -> str:
    """Say how the contribution weights divide at the efficient distance."""
    run, squared = found.get_run(SIGMA2), found.squared_distances
    weights, limit = run.contribution_weights_by_node, run.efficient_distance
    inside = squared <= (-1.0 if limit is None else limit)
    return (
        f"The tested station {found.node} (star) and the {squared.size} sampled stations by the "
        "distance of their adjacency vectors, at σ² = 2; angles mean nothing. Within the "
        f"efficient distance are {inside.sum()} stations, whose weights sum to "
        f"{weights[inside].sum():.2f}; those of the {np.sum(~inside)} others sum to "
        f"{weights[~inside].sum():.2f}."
    )


FIGURES = (
    PaperFigure(
        "fig2",
        "Figure 2: sampled nodes around a tested node",
        WEIGHTS,
        draw,
        make_table,
        write_caption,
        row=1,
    ),
)


CLAIMS = ClaimList(WEIGHTS)


@CLAIMS.check("efficient-distance", "IV.A.2", "Efficient distance at σ² = 0.1, 2, 10", "grows")
def check_growing_distance(found: FourVariances) -> Outcome:
    """Check that the efficient distance grows up to the disturbing range."""
    runs = map(found.get_run, (CHAOS, EXTENDING, DISTURBING))
    distances = [run.efficient_distance or 0.0 for run in runs]
    agrees = bool(np.all(np.diff(distances) > 0.0))
    reason = "‖d‖² for the node of figure 3, read off its weights."
    text = ", ".join(f"{distance:.3g}" for distance in distances)
    return Outcome(Measured(distances[1]), agrees, reason, text)
