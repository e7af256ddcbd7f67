"""Figures 7 and 8: differences of values against distances of adjacency vectors (VI.B.1)."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradraker.paper.claims import (
    STATIONS,
    Check,
    ClaimList,
    Measured,
    Outcome,
    compare_spread,
    count_stations,
)
from gradraker.paper.simulations import (
    DATA,
    Floats,
    PaperFigure,
    PaperGraph,
    PaperResults,
    Results,
    RunOptions,
    Settings,
    Simulation,
    Table,
    compute_pair_distances,
)
from gradraker.plotting import SimilarityTransferDisplay

# Smallest share of the pairs that is "nonnegligible", and that is "likely".
_NEGLIGIBLE_SHARE = 0.05
_LIKELY_SHARE = 0.5


class NodePairs(NamedTuple):
    """Pairs of known nodes, counted.

    ``squared_distances``, ``gaps`` = |y_i − y_j| and ``counts`` are the distinct pairs of the
    first repeat. ``differences`` has, for some ‖d‖², one row per repeat: the number of such
    pairs, their largest gap, and the share of them whose gap is above a limit.
    """

    squared_distances: Floats
    gaps: Floats
    counts: Floats
    differences: dict[str, list[list[float]]]


def simulate_pairs(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Count |y_i − y_j| and ‖d‖² of all pairs of known nodes, over repeats."""
    y = graph.values
    assert y is not None
    table: Table = []
    differences: dict[str, list[list[float]]] = {
        f"{d:g}": [] for d in settings["squared_distances"]
    }
    for repeat, split in enumerate(graph.draw_splits(settings, options.seed)):
        distances, first, second = compute_pair_distances(split.X[split.known])
        gaps = np.abs(y[split.known][first] - y[split.known][second])
        if repeat == 0:
            table = _count_distinct(distances, gaps)
        for key, limit in zip(differences, settings["limits"], strict=True):
            chosen = gaps[distances == float(key)]
            if chosen.size:
                above = float(np.mean(chosen > limit))
                differences[key].append([float(chosen.size), float(chosen.max()), above])
    return {"table": table, "differences": differences}


def _count_distinct(distances: Floats, gaps: Floats) -> Table:
    """Count distinct pairs of numbers, which are thousands instead of 400 000."""
    # Equal differences of multiples of 1/6 differ by rounding errors.
    both = np.column_stack([distances, np.round(gaps, 12)])
    found, counts = np.unique(both, axis=0, return_counts=True)
    return [[*pair, int(count)] for pair, count in zip(found.tolist(), counts, strict=True)]


def parse_pairs(results: Mapping[str, Any], settings: Settings) -> NodePairs:
    """Read the results of :func:`simulate_pairs`."""
    squared_distances, gaps, counts = np.array(results["table"]).T
    return NodePairs(squared_distances, gaps, counts, results["differences"])


STATION_PAIRS = Simulation(
    "pairs-temperature",
    "temperature",
    {"fraction": 0.4, "n_repeats": 50, "squared_distances": [5.0, 15.0], "limits": [0.35, 0.3]},
    simulate_pairs,
    parse_pairs,
)
PAPER_PAIRS = Simulation(
    "pairs-cora",
    "cora",
    {"fraction": 0.4, "n_repeats": 10, "squared_distances": [0.0], "limits": [0.5]},
    simulate_pairs,
    parse_pairs,
)


def draw(pairs: NodePairs, *, title: str) -> SimilarityTransferDisplay:
    """Draw all pairs with running quartiles."""
    n = pairs.counts.astype(np.int64)
    display = SimilarityTransferDisplay(
        np.repeat(pairs.squared_distances, n), np.repeat(pairs.gaps, n), title=title
    )
    return display.plot()


def make_table(pairs: NodePairs) -> Table:
    """List the distinct pairs and how often they occur."""
    columns = (pairs.squared_distances, pairs.gaps, pairs.counts.astype(np.int64))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [["squared_distance", "value_difference", "pairs"], *map(list, rows)]


def write_caption(pairs: NodePairs, *, nodes: str, near: float, far: float) -> str:
    """Compare the median difference of near pairs with that of far ones."""
    medians = [
        float(np.median(np.repeat(pairs.gaps[here], pairs.counts[here].astype(np.int64))))
        for here in (pairs.squared_distances <= near, pairs.squared_distances >= far)
        if here.any()
    ]
    return (
        f"All {int(pairs.counts.sum())} pairs of known {nodes}, with values scaled to [0, 1]. "
        f"The median difference is {medians[0]:.2f} for ‖d‖² {'≤' if near else '='} {near:g} and "
        f"{medians[-1]:.2f} for "
        f"‖d‖² ≥ {far:g}: SKG can work where the first is clearly smaller."
    )


FIGURES = (
    PaperFigure(
        "fig7",
        "Figure 7: values against distances, Temperature-Jan",
        STATION_PAIRS,
        partial(draw, title=DATA["temperature"].title),
        make_table,
        partial(write_caption, nodes="stations", near=5.0, far=15.0),
        row=5,
    ),
    PaperFigure(
        "fig8",
        "Figure 8: values against distances, Cora-Con",
        PAPER_PAIRS,
        partial(draw, title=DATA["cora"].title),
        make_table,
        partial(write_caption, nodes="papers", near=0.0, far=3.0),
        row=5,
    ),
)


CLAIMS = ClaimList(STATION_PAIRS)


def _compare_largest_gap(squared_distance: str) -> Check:
    return compare_spread(
        STATION_PAIRS,
        lambda pairs: [largest for _, largest, _ in pairs.differences[squared_distance]],
        why=STATIONS,
    )


CLAIMS.add(
    "differences-at-5",
    "VI.B.1",
    "Largest |y_i − y_j| of pairs with ‖d‖² = 5, Temperature-Jan",
    "0.35",
    _compare_largest_gap("5"),
)


def check_differences_at_15(results: PaperResults, printed: str) -> Outcome:
    """Check that values of distant stations are likely to differ."""
    pairs = results.get(STATION_PAIRS)
    ours = Measured.from_repeats([part for _, _, part in pairs.differences["15"]])
    agrees = ours.value > _LIKELY_SHARE
    reason = f"Agrees above {_LIKELY_SHARE:g}."
    if not agrees:
        reason += f" {STATIONS.format(stations=count_stations(results))}"
    return Outcome(ours, agrees, reason)


CLAIMS.add(
    "differences-at-15",
    "VI.B.1",
    "Share of the pairs with ‖d‖² = 15 that differ by more than 0.3",
    "likely",
    check_differences_at_15,
)
CLAIMS.add(
    "largest-difference-at-15",
    "VI.B.1",
    "Largest |y_i − y_j| of pairs with ‖d‖² = 15, Temperature-Jan",
    "1",
    _compare_largest_gap("15"),
)


@CLAIMS.check(
    "differences-at-0",
    "VI.B.1",
    "Share of the pairs with ‖d‖² = 0 that differ by more than 0.5, Cora-Con",
    "nonnegligible",
    PAPER_PAIRS,
)
def check_differences_at_0(pairs: NodePairs) -> Outcome:
    """Check that papers with the same citations may differ in class."""
    ours = Measured.from_repeats([part for _, _, part in pairs.differences["0"]])
    limit = _NEGLIGIBLE_SHARE
    reason = f"Agrees above {limit:g}; which classes are far apart depends on their numbering."
    return Outcome(ours, ours.value > limit, reason)
