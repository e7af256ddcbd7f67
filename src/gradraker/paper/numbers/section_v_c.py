"""Section V.C: B of pairs of nodes at one distance, against its exponential approximation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import Floats, PaperGraph
from gradraker.paper.plan import Results, RunOptions, Settings, Simulation, compute_pair_distances
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import (
    EQUATION,
    Check,
    Measured,
    Outcome,
    compare_count,
    compare_spread,
    is_rounding_of,
)

_SIGMA2 = 10.0
_SQUARED_DISTANCE = 15.0
_LEARNING_RATE = 0.1
# Extremes and variances of fewer values say little.
_LEAST_PAIRS = 10


def simulate_similarities(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute B of all pairs of known nodes at one squared distance, over repeats."""
    repeats = []
    for split in graph.draw_splits(settings, options.seed):
        rows = split.X[split.known]
        model = split.fit_learner(None, settings, n_epochs=1)
        Z = model.features(rows)  # [N, 2D]
        distances, first, second = compute_pair_distances(rows)
        here = distances == settings["squared_distance"]
        B = 2.0 * settings["learning_rate"] * np.einsum("pd,pd->p", Z[first[here]], Z[second[here]])
        repeats.append(B.tolist())
    return {"similarities": repeats}


SIMILARITIES = Simulation(
    "similarity",
    "temperature",
    {
        "fraction": 0.4,
        "sigma2": _SIGMA2,
        "squared_distance": _SQUARED_DISTANCE,
        "n_frequencies": 200,
        "learning_rate": _LEARNING_RATE,
        "n_repeats": 150,
    },
    simulate_similarities,
    lambda results, _: [np.array(B, dtype=np.float64) for B in results["similarities"]],
)
SIMULATIONS = (SIMILARITIES,)


def _compare_similarities(summarise: Callable[[Floats], Any]) -> Check:
    """Compare one number from each repeat that has enough pairs at this distance."""
    return compare_spread(
        SIMILARITIES,
        lambda repeats: [float(summarise(B)) for B in repeats if B.size >= _LEAST_PAIRS],
        note=f"They are those with at least {_LEAST_PAIRS} such pairs.",
    )


def check_approximation(_: PaperResults, printed: str, *, squared_distance: float) -> Outcome:
    """Check B by equation (eb)."""
    ours = Measured(2.0 * _LEARNING_RATE * math.exp(-squared_distance / (2.0 * _SIGMA2)))
    agrees = is_rounding_of(printed, ours.value)
    return Outcome(ours, agrees, text=f"{ours.value:.4g}", rule=EQUATION)


CLAIMS = ClaimList()
CLAIMS.add(
    "sampled-temperature",
    "V.C",
    "Sampled stations, 40 %",
    "33",
    compare_count(
        "temperature",
        known=True,
        why="40 % of our {n} stations are {part:.4g}, rounded down as 33.2 of 83.",
    ),
    data="temperature",
)
for _key, _quantity, _printed, _check in (
    (
        "pairs-at-15",
        "Pairs of sampled nodes with ‖d‖² = 15",
        "21",
        compare_spread(SIMILARITIES, lambda repeats: [B.size for B in repeats]),
    ),
    ("B-smallest", "Smallest B of these pairs", "0.085", _compare_similarities(np.min)),
    ("B-largest", "Largest B of these pairs", "0.105", _compare_similarities(np.max)),
    ("B-mean", "Mean of these B", "0.0976", _compare_similarities(np.mean)),
    (
        "B-variance",
        "Variance of these B",
        "5.80e-5",
        _compare_similarities(partial(np.var, ddof=1)),
    ),
):
    CLAIMS.add(_key, "V.C", _quantity, _printed, _check, SIMILARITIES)
CLAIMS.add(
    "B-approximation",
    "V.C",
    "B by the exponential approximation at ‖d‖² = 15",
    "0.094",
    partial(check_approximation, squared_distance=_SQUARED_DISTANCE),
)
CLAIMS.add(
    "B-upper-end",
    "V.C",
    "Upper end 2η of what B can be",
    "0.2",
    partial(check_approximation, squared_distance=0.0),
)
