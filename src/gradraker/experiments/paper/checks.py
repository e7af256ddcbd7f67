"""Which check goes with which printed number."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradraker.experiments.paper import claims, comparisons
from gradraker.experiments.paper import printed as paper
from gradraker.experiments.paper.comparisons import STATIONS, Check, count, spread


def _similarities(summary: Callable[[Any], float], least: int = 1) -> Callable[[Any], list[float]]:
    """A number for each repeat that has enough pairs at this distance."""
    return lambda found: [
        float(summary(np.array(B))) for B in found["similarities"] if len(B) >= least
    ]


def _column(simulation: str, column: int) -> Check:
    return spread(simulation, lambda found: [row[column] for row in found["squared_distances"]])


CHECKS: dict[str, Check] = {
    "conformity-example": comparisons.conformity_example,
    "alpha-bound": claims.alpha_bound("temperature-weighted"),
    "alpha-bound-unweighted": claims.alpha_bound("temperature"),
    "sum-of-weights": claims.sum_of_weights,
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
    "B-smallest": spread("similarity", _similarities(np.min)),
    "B-largest": spread("similarity", _similarities(np.max)),
    "B-mean": spread("similarity", _similarities(np.mean)),
    "B-variance": spread("similarity", _similarities(lambda B: np.var(B, ddof=1), least=5)),
    "B-approximation": comparisons.approximation(paper.SIMILARITY["squared_distance"]),
    "B-upper-end": comparisons.approximation(0.0),
    "d2min-temperature": _column("sweep-temperature", 0),
    "sigma2-ce": comparisons.boundary("temperature", "ce"),
    "sigma2-ed-5.87": comparisons.boundary("temperature", "ed"),
    "sigma2-da": comparisons.boundary("temperature", "da"),
    "four-ranges": claims.four_ranges,
    "extending-F": claims.extending_weights,
    "averaging-F": claims.averaging_weights,
    "chaos-B": claims.chaos_similarity,
    "disturbing-B": claims.smallest_similarity(10.0),
    "averaging-B": claims.smallest_similarity(300.0),
    "largest-error": claims.largest_error,
    "flat-predictions": claims.flat_predictions,
    **{f"d2max-{data}": _column(f"sweep-{data}", 1) for data in paper.SIGMA2_ED},
    "d2max-wikipedia": _column("distances-wikipedia", 1),
    **{f"sigma2-ed-{data}": comparisons.boundary(data, "ed") for data in paper.SIGMA2_ED},
    **{f"best-{data}": claims.best_is_ed(data) for data in ("temperature", "temperature-weighted")},
    **{f"best-{data}": claims.best_is_larger(data) for data in ("cora", "email", "wikipedia")},
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
    "best-without-D": claims.best_without_frequencies,
    "best-with-eta": claims.best_at_smallest("learning-rate", "η"),
    "best-with-E": claims.best_at_smallest("epochs", "E"),
    "gnmse-temperature": claims.level("temperature"),
    "gnmse-cora": claims.level("cora"),
}
