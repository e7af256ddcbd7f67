"""Section IV.A: the efficient distance, the circle of figure 2, and F of different nodes."""

from typing import Any

import numpy as np

from gradraker.models import sigma2_ranges
from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import DATA, Floats, PaperGraph
from gradraker.paper.plan import Results, RunOptions, Settings, Simulation
from gradraker.paper.rules import Measured, Outcome

_DISTURBING, _AVERAGING = 10.0, 300.0
# Variances of the extending range at which the efficient distance is measured.
_N_EXTENDING = 6
# "Most, if not all" of the known nodes, and "similar" weights of different nodes.
_MOST = 0.5
_SIMILAR = 0.95


def simulate_circles(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Measure efficient distances through the extending range, and the circle beyond it.

    For each repeat: the mean efficient distance of tested nodes at variances from σ²_ce to σ²_ed;
    the mean part of known nodes inside the circle in the disturbing range; and the mean
    correlation of F over time between tested nodes in the averaging range.
    """
    distances, inside, alike = [], [], []
    for split in graph.draw_splits(settings, options.seed):
        X, tested = split.X[split.known], split.X[split.unknown]
        ranges = sigma2_ranges(X, n_frequencies=settings["n_frequencies"])
        grid = np.geomspace(
            ranges.chaos_extending, ranges.extending_disturbing, settings["n_extending"]
        )
        found: list[float] = []
        for sigma2 in (*grid, _DISTURBING, _AVERAGING):
            explanation = split.fit_learner(None, settings, sigma2=sigma2).explain(tested)
            if sigma2 == _AVERAGING:
                alike.append(_correlate(explanation.by_time))
                continue
            limits = np.array(
                [explanation.efficient_distance(row) for row in range(len(tested.indptr) - 1)]
            )
            if sigma2 == _DISTURBING:
                nodes_inside = explanation.squared_distances <= limits[:, np.newaxis]
                inside.append(float(nodes_inside.mean()))
            else:
                found.append(float(np.nan_to_num(limits).mean()))  # no weight: no circle
        distances.append(found)
    return {"distances": distances, "inside": inside, "alike": alike}


def _correlate(F: Floats) -> float:
    """Mean correlation of the rows of F with each other."""
    correlations = np.asarray(np.corrcoef(F))  # [m, m]
    return float(correlations[np.triu_indices(len(F), k=1)].mean())


CIRCLES: Simulation[Any] = Simulation(
    "circles",
    "temperature",
    {
        "fraction": 0.4,
        "n_extending": _N_EXTENDING,
        "n_repeats": 10,
        **DATA["temperature"].learner_settings,
    },
    simulate_circles,
    fast_settings={"n_repeats": 3},
    estimate_cost=lambda graph, settings: 0.2 * settings["n_repeats"],
)
SIMULATIONS = (CIRCLES,)
CLAIMS = ClaimList(CIRCLES)


@CLAIMS.check(
    "extending-distance",
    "IV.A.2",
    f"Efficient distance at {_N_EXTENDING} variances from σ²_ce to σ²_ed",
    "grows",
)
def check_growing_circle(found: Any) -> Outcome:
    """Check that the efficient distance grows within the extending range."""
    distances = np.mean(found["distances"], axis=0)
    agrees = bool(np.all(np.diff(distances) > 0.0))
    reason = "Mean ‖d‖² of tested nodes over repeats; agrees if each is larger than the one before."
    text = ", ".join(f"{distance:.2g}" for distance in distances)
    return Outcome(Measured(float(distances[-1])), agrees, reason, text)


@CLAIMS.check(
    "disturbing-circle",
    "IV.A.3",
    "Part of the known nodes inside the circle of a tested node, σ² = 10",
    "most, if not all",
)
def check_wide_circle(found: Any) -> Outcome:
    """Check that the circle holds most known nodes in the disturbing range."""
    ours = Measured.from_repeats(found["inside"])
    return Outcome(ours, ours.value > _MOST, f"Agrees above {_MOST:g}.")


@CLAIMS.check(
    "averaging-alike",
    "IV.A.4",
    "Mean correlation of F over time between tested nodes, σ² = 300",
    "similar for different tested nodes",
)
def check_alike_weights(found: Any) -> Outcome:
    """Check that different nodes have similar weights in the averaging range."""
    ours = Measured.from_repeats(found["alike"])
    return Outcome(ours, ours.value > _SIMILAR, f"Agrees above {_SIMILAR:g}.")
