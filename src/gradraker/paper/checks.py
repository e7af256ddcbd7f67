"""Which check goes with which printed number."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradraker.paper import claims, claims_on_sweeps, claims_on_weights, comparisons
from gradraker.paper import inputs as paper
from gradraker.paper.comparisons import STATIONS, Check, count, spread

# Extremes and variances of fewer values say little.
_LEAST_PAIRS = 10


def _similarities(summary: Callable[[Any], float]) -> Check:
    """Compare a number for each repeat that has enough pairs at this distance."""
    return spread(
        "similarity",
        lambda found: [
            float(summary(np.array(B))) for B in found["similarities"] if len(B) >= _LEAST_PAIRS
        ],
        note=f"They are those with at least {_LEAST_PAIRS} such pairs.",
    )


def _column(simulation: str, column: int, note: str = "") -> Check:
    return spread(
        simulation, lambda found: [row[column] for row in found["squared_distances"]], note=note
    )


CHECKS: dict[str, Check] = {
    "conformity-example": comparisons.conformity_example,
    "alpha-bound": claims.alpha_bound("temperature-weighted"),
    "alpha-bound-unweighted": claims.alpha_bound("temperature"),
    "sum-of-weights": claims_on_weights.sum_of_weights,
    "claim-4": claims_on_weights.expected_sums,
    "efficient-distance": claims_on_weights.growing_distance,
    "averaging-alpha": claims_on_weights.averaging_conformity,
    "four-levels": claims_on_sweeps.four_levels,
    "variance-of-B": claims.variance_of_similarity,
    "stations-1961": count(
        "temperature",
        "stations 1961-1990",
        why="The table of today has {n} stations; a revision with 93 was not found.",
    ),
    "stations": count("temperature", why=STATIONS),
    "papers": count("cora", "papers"),
    "topics": count("cora", "classes"),
    "papers-citing-none": count("cora", "papers that cite nobody"),
    "papers-left": count("cora"),
    "members": count("email"),
    "departments": count("email", "departments"),
    "pages": count("wikipedia"),
    "days": count("wikipedia", "days"),
    "sampled-temperature": count(
        "temperature", sampled=True, why="40 % of our {n} stations are {part:.4g}; of 83, 33.2."
    ),
    "sampled-cora": count(
        "cora", sampled=True, why="40 % of {n} are {part:.5g}, which we round to the nearest."
    ),
    "sampled-email": count("email", sampled=True, why="40 % of {n} are {part:.4g}."),
    "pairs-at-15": spread("similarity", lambda found: [len(B) for B in found["similarities"]]),
    "B-smallest": _similarities(np.min),
    "B-largest": _similarities(np.max),
    "B-mean": _similarities(np.mean),
    "B-variance": _similarities(lambda B: np.var(B, ddof=1)),
    "B-approximation": comparisons.approximation(paper.SIMILARITY["squared_distance"]),
    "B-upper-end": comparisons.approximation(0.0),
    "d2min-temperature": _column("sweep-temperature", 0),
    "sigma2-ce": comparisons.boundary("temperature", "ce"),
    "sigma2-ed-5.87": comparisons.boundary("temperature", "ed"),
    "sigma2-da": comparisons.boundary("temperature", "da"),
    "four-ranges": claims_on_weights.four_ranges,
    "extending-F": claims_on_weights.extending_weights,
    "averaging-F": claims_on_weights.averaging_weights,
    "chaos-B": claims_on_weights.chaos("similarities"),
    "chaos-F": claims_on_weights.chaos("weights"),
    "extending-B": claims_on_weights.extending_balance,
    "late-F": claims_on_weights.late_weights,
    "disturbing-B": claims_on_weights.smallest_similarity(10.0),
    "averaging-B": claims_on_weights.smallest_similarity(300.0),
    "largest-error": claims_on_weights.largest_error,
    "flat-predictions": claims_on_weights.flat_predictions,
    **{f"d2max-{data}": _column(f"sweep-{data}", 1) for data in paper.SIGMA2_ED},
    "d2max-temperature-weighted": _column(
        "sweep-temperature-weighted",
        1,
        note="Without self loops, which fits the print better; the unweighted graph has them.",
    ),
    "d2max-wikipedia": _column("distances-wikipedia", 1),
    **{f"sigma2-ed-{data}": comparisons.boundary(data, "ed") for data in paper.SIGMA2_ED},
    **{
        f"best-{data}": claims_on_sweeps.best_is_ed(data)
        for data in ("temperature", "temperature-weighted")
    },
    **{
        f"best-{data}": claims_on_sweeps.best_is_larger(data)
        for data in ("cora", "email", "wikipedia")
    },
    "differences-at-5": spread(
        "pairs-temperature",
        lambda found: [largest for _, largest, _ in found["differences"]["5"]],
        why=STATIONS,
    ),
    "differences-at-15": claims.differences_at_15,
    "largest-difference-at-15": spread(
        "pairs-temperature",
        lambda found: [largest for _, largest, _ in found["differences"]["15"]],
        why=STATIONS,
    ),
    "differences-at-0": claims.differences_at_0,
    "smooth-cora": claims_on_sweeps.roughness,
    "few-D": claims_on_sweeps.few_frequencies,
    "best-without-D": claims_on_sweeps.best_without_frequencies,
    "best-with-eta": claims_on_sweeps.best_at_smallest("learning-rate", "η"),
    "best-with-E": claims_on_sweeps.best_at_smallest("epochs", "E"),
    "gnmse-temperature": claims_on_sweeps.level("temperature"),
    "gnmse-cora": claims_on_sweeps.level("cora"),
    "levels-differ": claims_on_sweeps.levels_differ,
}
