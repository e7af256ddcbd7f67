"""Sections III and IV: the conformity factor and the variance of B, against their equations."""

import math
from functools import partial
from typing import Any

import numpy as np

from gradraker.paper.claims import ClaimList
from gradraker.paper.paper_data import PaperGraph
from gradraker.paper.plan import RunOptions, Settings, Simulation
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import EQUATION, WORDS, Measured, Outcome, is_rounding_of

# The example of section III.B.2 is arithmetic on numbers that are printed too.
_ALPHA_2, _ALPHA_31, _ALPHA_32 = 0.08, 0.06, 0.1
# Variance at which triples are looked at.
_SIGMA2 = 2.0


def simulate_triples(graph: PaperGraph, settings: Settings, options: RunOptions) -> dict[str, Any]:
    """Compute α₂/2η by the exponential approximation, over all triples of known nodes.

    It is at most 1 where squared distances keep the triangle inequality. ``largest_ratio`` has
    the largest of each repeat, ``part_above`` the part of triples above 1.
    """
    largest, above = [], []
    for repeat in range(settings["n_repeats"]):
        split = graph.draw_split(settings["fraction"], options.seed, repeat)
        rows = split.X[split.known].toarray()
        D = np.square(rows[:, np.newaxis] - rows).sum(axis=2)  # [N, N]
        excess = D[:, :, np.newaxis] + D[np.newaxis] - D[:, np.newaxis]  # [i, k, j]
        different = np.ones(excess.shape, dtype=np.bool_)
        for first, second in ((0, 1), (1, 2), (0, 2)):
            axis = {0, 1, 2} - {first, second}
            different &= ~np.expand_dims(np.eye(split.known.size, dtype=np.bool_), axis.pop())
        exponents = excess[different] / (2.0 * settings["sigma2"])
        largest.append(float(np.exp(-exponents.min())))
        above.append(float(np.mean(exponents < -1e-12)))
    return {"largest_ratio": largest, "part_above": above}


def _make_simulation(data: str) -> Simulation[Any]:
    settings = {"fraction": 0.4, "n_repeats": 50, "sigma2": _SIGMA2}
    return Simulation(f"triples-{data}", data, settings, simulate_triples)


TRIPLES = _make_simulation("temperature")
TRIPLES_WEIGHTED = _make_simulation("temperature-weighted")
SIMULATIONS = (TRIPLES, TRIPLES_WEIGHTED)
CLAIMS = ClaimList()


@CLAIMS.check("conformity-example", "III.B.2", "α₃ of the example, by equation (alpha3)", "0.079")
def check_conformity_example(_: PaperResults, printed: str) -> Outcome:
    """Check the arithmetic of the example of conformity factors."""
    rest = 1.0 - _ALPHA_32 * (1.0 - _ALPHA_2) - _ALPHA_31
    ours = Measured(1.0 - math.sqrt(rest))
    agrees = is_rounding_of(printed, ours.value)
    return Outcome(EQUATION, ours, agrees, text=f"{ours.value:.4g}")


def check_alpha_bound(
    results: PaperResults, printed: str, *, simulation: Simulation[Any]
) -> Outcome:
    """Check α₂ ≤ 2η over triples of nodes."""
    triples = results.get(simulation)
    ours = Measured.from_repeats(triples["largest_ratio"])
    holds = ours.high is not None and ours.high <= 1.0 + 1e-12
    percent = 100 * float(np.median(triples["part_above"]))
    reason = (
        f"σ² = {_SIGMA2:g}. Squared distances of weighted vectors break the triangle inequality: "
        f"for {percent:.1f} % of triples here. It holds for 0/1 vectors."
    )
    return Outcome(WORDS, ours, holds, "" if holds else reason)


for _key, _graph, _triples in (
    ("alpha-bound", "weighted", TRIPLES_WEIGHTED),
    ("alpha-bound-unweighted", "unweighted", TRIPLES),
):
    CLAIMS.add(
        _key,
        "III.B.2",
        f"α₂ ≤ 2η for all nodes: largest α₂/2η on the {_graph} graph",
        "≤ 1",
        partial(check_alpha_bound, simulation=_triples),
        _triples,
    )


@CLAIMS.check("variance-of-B", "IV.B", "Var[B|d] by its equation falls as ‖d‖² grows", "decreasing")
def check_variance_of_similarity(_: PaperResults, printed: str) -> Outcome:
    """Check the words on Var[B|d] against its equation."""
    squared = np.linspace(0.0, 27.0, 28)
    eta, D, sigma2 = 0.1, 200, 10.0
    bound = (2.0 * eta) ** 2 / (2.0 * D)
    variances = bound * np.expm1(-squared / sigma2) ** 2
    falls = bool(np.all(np.diff(variances) < 0.0))
    grows = bool(np.all(np.diff(variances) > 0.0))
    reason = (
        f"At σ² = 10, D = 200, η = 0.1 it grows from {variances[0]:.3g} at ‖d‖² = 0 to "
        f"{variances[-1]:.3g} at 27. The bound (2η)²/2D = {bound:.3g}, which noise_up stands on, "
        "holds."
    )
    text = "decreasing" if falls else "growing" if grows else "neither"
    return Outcome(WORDS, Measured(float(falls)), falls, "" if falls else reason, text)
