"""Figure 2: known nodes around an unknown node, and the efficient distance (section IV.A.2).

Its simulation is that of figures 3 to 5 too: one split, learned at one variance from each range.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain import Explanation
from gradraker.metrics import gnmse
from gradraker.paper.claims import ClaimList, Measured, Outcome
from gradraker.paper.simulations import (
    DATA,
    Floats,
    PaperFigure,
    PaperGraph,
    Results,
    RunOptions,
    Settings,
    Simulation,
    Table,
    to_rows,
)
from gradraker.plotting import NodeDistancesDisplay

CHAOS, EXTENDING, DISTURBING, AVERAGING = FOUR_SIGMA2 = (0.1, 2.0, 10.0, 300.0)
# The last steps, and the quantile below which B is small (section V.D on figure 3 c).
_N_LATE_STEPS = 5
_SMALL_QUANTILE = 0.25
# Attributes of a run that have other names in the results file.
_ATTRIBUTE_OF = {
    "weights": "contribution_weights",
    "compute_weights_by_node": "contribution_weights_by_node",
}


@dataclass(frozen=True, eq=False)
class RunAtVariance:
    """Results at one variance, of one unknown node at T training steps and of all unknown nodes."""

    sigma2: float
    range: str  # by the boundaries of the split
    similarities: Floats  # [T]: B of the node
    contribution_weights: Floats  # [T]: F of the node
    contribution_weights_by_node: Floats  # [M]: F of the node, summed for each known node
    efficient_distance: float | None  # ‖d‖² of the node, None where all weights are noise
    mean_similarity: float  # mean B of all unknown nodes
    # For weights of late steps with a small B: the share of the node's weights that are smaller.
    late_ranks: Floats
    sums_of_weights: Floats  # [n]: Σ F of all unknown nodes
    predictions: Floats  # [n]: of all unknown nodes


@dataclass(frozen=True, eq=False)
class FourVariances:
    """Results of the simulation of figures 2 to 5."""

    node: str  # the unknown node that figures 2 to 4 show
    squared_distances: Floats  # [M]: ‖d‖² of this node and the known nodes
    order: NDArray[np.int64]  # [T]: known node of each training step
    epoch_ends: list[int]  # steps after which an epoch ended
    altitude_m: Floats  # [n]: of the unknown nodes
    values: Floats  # [n]: of the unknown nodes, scaled
    unit: list[float]  # two values, which are scaled to 0 and 1
    runs: tuple[RunAtVariance, ...]  # one for each variance
    settings: Settings  # of the simulation

    @property
    def learning_rate(self) -> float:
        """η of all runs."""
        return float(self.settings["learning_rate"])

    def get_run(self, sigma2: float) -> RunAtVariance:
        """Return the run at one of the variances."""
        return next(run for run in self.runs if run.sigma2 == sigma2)

    def compute_errors(self) -> dict[float, float]:
        """Compute GNMSE at each variance."""
        return {run.sigma2: gnmse(self.values, run.predictions) for run in self.runs}

    def format_title(self, run: RunAtVariance) -> str:
        """Write the title of a figure that shows the node at one variance."""
        return rf"{self.node}, $\sigma^2$ = {run.sigma2:g} ({run.range} range)"

    def get_display_options(self, run: RunAtVariance) -> dict[str, Any]:
        """Return the arguments of a display of contribution weights over time."""
        return {
            "similarities": run.similarities,
            "weights": run.contribution_weights,
            "learning_rate": self.learning_rate,
            "epoch_ends": self.epoch_ends,
            "title": self.format_title(run),
        }

    def to_celsius(self, values: Floats) -> Floats:
        """Undo the scaling to [0, 1]."""
        low, high = self.unit
        return low + (high - low) * values


def simulate_weights(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Learn one split at some variances: B, F and distances of one node, predictions of all.

    All variances share the split, the frequencies and the order. The split is that of the first
    repeat of a sweep, so that figures 2 to 5 show the first repeat of figure 6 (a).
    """
    data, y = graph.dataset, graph.values
    assert data is not None
    assert data.positions is not None
    assert y is not None
    split = graph.draw_split(settings["fraction"], options.seed, 0)
    row, unknown = settings["tested_node"], split.unknown
    runs = []
    for sigma2 in settings["sigma2"]:
        model = split.fit_learner(y, settings, sigma2=sigma2)
        explanation = model.explain(split.X[unknown])
        runs.append(
            {"sigma2": sigma2, "range": model.ranges_.find_range(sigma2)}
            | _describe_run(explanation, row)
        )
    return {
        "node": data.node_names[unknown[row]],
        "boundaries": list(model.ranges_.boundaries),
        "squared_distances": explanation.squared_distances[row].tolist(),
        "order": explanation.order.tolist(),
        "epoch_ends": [len(split.known) * epoch for epoch in range(1, settings["n_epochs"])],
        "altitude_m": data.positions[unknown, 0].tolist(),
        "values": y[unknown].tolist(),
        "unit": [float(data.values.min()), float(data.values.max())],
        "runs": runs,
    }


def _describe_run(explanation: Explanation, row: int) -> dict[str, Any]:
    B = explanation.similarities[:, explanation.order]  # [n, T]
    F = np.array([explanation.compute_row_by_time(node) for node in range(len(B))])  # [n, T]
    efficient = explanation.efficient_distance(row)
    return {
        "similarities": B[row].tolist(),
        "mean_similarity": float(B.mean()),
        "weights": F[row].tolist(),
        "late_ranks": _rank_late_weights(B, F),
        "compute_weights_by_node": explanation.weights[row].tolist(),
        "efficient_distance": efficient if np.isfinite(efficient) else None,
        "sums_of_weights": explanation.weights.sum(axis=1).tolist(),
        "predictions": explanation.prediction.tolist(),
    }


def _rank_late_weights(B: Floats, F: Floats) -> list[float]:
    """Return, for weights of the last steps with a small B, the share of F below each."""
    late = slice(-_N_LATE_STEPS, None)
    small = B[:, late] <= np.quantile(B, _SMALL_QUANTILE, axis=1, keepdims=True)  # [n, late]
    below = np.mean(F[:, np.newaxis] < F[:, late, np.newaxis], axis=2)  # [n, late]
    ranks: list[float] = below[small].tolist()
    return ranks


def parse_weights(results: Mapping[str, Any], settings: Settings) -> FourVariances:
    """Read the results of :func:`simulate_weights`."""
    given = {name: results[name] for name in ("node", "epoch_ends", "unit")}
    arrays = ("squared_distances", "order", "altitude_m", "values")
    given |= {name: np.array(results[name]) for name in arrays}
    return FourVariances(**given, runs=tuple(map(_parse_run, results["runs"])), settings=settings)


def _parse_run(run: Mapping[str, Any]) -> RunAtVariance:
    given: dict[str, Any] = {
        _ATTRIBUTE_OF.get(name, name): np.array(entry) if isinstance(entry, list) else entry
        for name, entry in run.items()
    }
    return RunAtVariance(**given)


WEIGHTS = Simulation(
    "weights",
    "temperature",
    {
        "fraction": 0.4,
        "sigma2": list(FOUR_SIGMA2),
        **DATA["temperature"].learner_settings,
        "tested_node": 0,
    },
    simulate_weights,
    parse_weights,
)


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
    """Describe how contribution weights differ inside and outside the efficient distance."""
    run, squared = found.get_run(SIGMA2), found.squared_distances
    weights, limit = run.contribution_weights_by_node, run.efficient_distance
    inside = squared <= (-1.0 if limit is None else limit)
    return (
        f"The unknown station {found.node} (star) and the {squared.size} known stations by the "
        "distance of their adjacency vectors, at σ² = 2; angles have no meaning. Within the "
        f"efficient distance are {inside.sum()} stations, whose weights sum to "
        f"{weights[inside].sum():.2f}; those of the {np.sum(~inside)} others sum to "
        f"{weights[~inside].sum():.2f}."
    )


FIGURES = (
    PaperFigure(
        "fig2",
        "Figure 2: known nodes around an unknown node",
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
