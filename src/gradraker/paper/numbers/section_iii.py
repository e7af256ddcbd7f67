"""Sections III and IV: the conformity factor and the variance of B, against their equations."""

import math
from functools import partial
from typing import Any

import numpy as np

from gradraker.explain import (
    compute_expected_weight_sum,
    compute_similarity_variance,
    kernel_contribution_weights,
)
from gradraker.linear import contribution_weights
from gradraker.paper.claims import EQUATION, ClaimList, Measured, Outcome, is_rounding_of
from gradraker.paper.simulations import (
    PaperGraph,
    PaperResults,
    Results,
    RunOptions,
    Settings,
    Simulation,
)

# Printed numbers of the example of section III.B.2, which is arithmetic on them.
_ALPHA_2, _ALPHA_31, _ALPHA_32 = 0.08, 0.06, 0.1
# Variance of the simulation of triples.
_SIGMA2 = 2.0
# Approximation (approxj3) is "reasonable" up to this mean error: its sides are near 1.
_MEAN_ERROR = 0.1
# A mean agrees with claim 4 within this many standard errors.
_STANDARD_ERRORS = 4.0


def simulate_triples(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute α₂/2η by the exponential approximation, over all triples of known nodes.

    It is at most 1 where squared distances satisfy the triangle inequality. ``largest_ratio`` has
    the largest of each repeat, ``part_above`` the share of triples above 1.
    """
    largest, above = [], []
    for split in graph.draw_splits(settings, options.seed):
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


def simulate_approximation(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute the error of approximation (approxj3) for consecutive steps, over repeats.

    Its two sides differ by α₂ − α_{3,1}, for each unknown node at time j after three steps.
    """
    found = []
    for split in graph.draw_splits(settings, options.seed):
        rows, unknown = split.X[split.known], split.X[split.unknown]
        model = split.fit_learner(None, settings, n_epochs=1)
        order = np.random.default_rng(split.seed).permutation(split.known.size)
        Z, stars = model.features(rows)[order], model.features(unknown)  # [N, 2D], [m, 2D]
        step = 2.0 * settings["learning_rate"]
        B, B_star = step * Z @ Z.T, step * stars @ Z.T  # [N, N], [m, N]
        first = np.arange(split.known.size - 2)  # time j − 3
        last = B_star[:, first + 2]  # B_{j−1,j}
        alpha_2 = B[first + 1, first + 2] * last / B_star[:, first + 1]
        alpha_31 = B[first, first + 2] * last / B_star[:, first]
        error = np.abs(alpha_2 - alpha_31)
        found.append([float(error.mean()), float(error.max())])
    return {"errors": found}


APPROXIMATION: Simulation[Any] = Simulation(
    "approximation",
    "temperature",
    {"fraction": 0.4, "sigma2": 10.0, "n_repeats": 20, "n_frequencies": 200, "learning_rate": 0.1},
    simulate_approximation,
)


def simulate_claim_4(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Compute Σ F in one epoch of independent rows, by the exact kernel and by few features.

    Rows are corners of a cube, drawn uniformly, so that every row has equally similar others on
    average and b = E[B] has a closed form. The graph is not used.
    """
    T, M, D = settings["n_steps"], settings["n_columns"], settings["n_frequencies"]
    rng = np.random.default_rng(options.seed)
    sums: dict[str, list[float]] = {"exact": [], "features": []}
    for _ in range(settings["n_repeats"]):
        X = (rng.random((T + 1, M)) < 0.5).astype(np.float64)
        exact = kernel_contribution_weights(
            X[:T],
            np.arange(T),
            X[T],
            sigma2=settings["sigma2"],
            learning_rate=settings["learning_rate"],
        )
        angles = X @ rng.normal(scale=1.0 / math.sqrt(settings["sigma2"]), size=(M, D))
        Z = np.hstack([np.sin(angles), np.cos(angles)]) / math.sqrt(D)  # [T + 1, 2D]
        F = contribution_weights(Z[:T], np.arange(T), Z[T], settings["learning_rate"])
        sums["exact"].append(float(exact.sum()))
        sums["features"].append(float(F.sum()))
    return sums


CLAIM_4: Simulation[Any] = Simulation(
    "claim-4",
    "temperature",
    {
        "n_steps": 40,
        "n_columns": 10,
        "sigma2": 1.0,
        "n_frequencies": 20,
        "learning_rate": 0.1,
        "n_repeats": 2000,
    },
    simulate_claim_4,
    fast_settings={"n_repeats": 500},
    needs_values=False,
)


def _make_simulation(data: str) -> Simulation[Any]:
    settings = {"fraction": 0.4, "n_repeats": 50, "sigma2": _SIGMA2}
    return Simulation(f"triples-{data}", data, settings, simulate_triples)


TRIPLES = _make_simulation("temperature")
TRIPLES_WEIGHTED = _make_simulation("temperature-weighted")
SIMULATIONS = (TRIPLES, TRIPLES_WEIGHTED, APPROXIMATION, CLAIM_4)
CLAIMS = ClaimList()


def check_conformity_example(_: PaperResults, printed: str) -> Outcome:
    """Check the arithmetic of the example of conformity factors."""
    rest = 1.0 - _ALPHA_32 * (1.0 - _ALPHA_2) - _ALPHA_31
    ours = Measured(1.0 - math.sqrt(rest))
    agrees = is_rounding_of(printed, ours.value)
    return Outcome(ours, agrees, text=f"{ours.value:.4g}", rule=EQUATION)


CLAIMS.add(
    "conformity-example",
    "III.B.2",
    "α₃ of the example, by equation (alpha3)",
    "0.079",
    check_conformity_example,
)


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
    return Outcome(ours, holds, "" if holds else reason)


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


@CLAIMS.check(
    "approximation-alpha",
    "III.B.2",
    "Error of approximation (approxj3), |α₂ − α₃₁|, at σ² = 10: mean, and largest",
    "reasonable",
    APPROXIMATION,
)
def check_alpha_approximation(found: Any) -> Outcome:
    """Check approximation (approxj3)."""
    errors = np.array(found["errors"])  # [repeats, 2]
    mean, largest = float(errors[:, 0].mean()), float(errors[:, 1].max())
    reason = (
        f"Mean {mean:.3g} and largest {largest:.2g} over unknown nodes and steps, where the "
        f"two sides are near 1. Agrees up to a mean of {_MEAN_ERROR:g}. It holds as a mean, and is "
        "loose for single nodes: both factors lie between 0 and about 2η = 0.2."
    )
    return Outcome(Measured(mean), mean < _MEAN_ERROR, reason, f"{mean:.2g}, {largest:.2g}")


def check_claim_4_in_one_epoch(results: PaperResults, printed: str, *, kind: str) -> Outcome:
    """Check claim 4 in one epoch, in which no node occurs twice."""
    settings = CLAIM_4.settings
    similar = (1.0 + math.exp(-1.0 / (2.0 * settings["sigma2"]))) / 2.0
    b = 2.0 * settings["learning_rate"] * similar ** settings["n_columns"]
    claimed = float(compute_expected_weight_sum(b, settings["n_steps"]))
    sums = np.array(results.get(CLAIM_4)[kind])
    mean, error = float(sums.mean()), float(sums.std(ddof=1) / math.sqrt(sums.size))
    agrees = abs(mean - claimed) < _STANDARD_ERRORS * error
    why = "" if agrees else " Frequencies that all pairs share correlate B and F."
    reason = (
        f"{sums.size} draws of {settings['n_steps']} random 0/1 rows, η = "
        f"{settings['learning_rate']:g}, σ² = {settings['sigma2']:g}: {mean:.3f} ± {error:.3f} "
        f"against {claimed:.3f}. Agrees within {_STANDARD_ERRORS:g} standard errors.{why}"
    )
    return Outcome(Measured(mean), agrees, reason, f"{mean:.3f} ± {error:.3f}")


for _key, _name, _kind in (
    ("claim-4-exact", "the exact kernel", "exact"),
    ("claim-4-features", "D = 20 random features", "features"),
):
    CLAIMS.add(
        _key,
        "III.B.1",
        f"Mean Σ F in one epoch of independent rows with {_name}, against Claim 4",
        "1 − (1 − b)^T",
        partial(check_claim_4_in_one_epoch, kind=_kind),
        CLAIM_4,
    )


@CLAIMS.check("variance-of-B", "IV.B", "Var[B|d] by its equation falls as ‖d‖² grows", "decreasing")
def check_variance_of_similarity() -> Outcome:
    """Check the statement on Var[B|d] against its equation."""
    squared = np.linspace(0.0, 27.0, 28)
    eta, D, sigma2 = 0.1, 200, 10.0
    bound = (2.0 * eta) ** 2 / (2.0 * D)
    variances = compute_similarity_variance(
        np.sqrt(squared)[:, np.newaxis], sigma2=sigma2, n_frequencies=D, learning_rate=eta
    )
    falls = bool(np.all(np.diff(variances) < 0.0))
    grows = bool(np.all(np.diff(variances) > 0.0))
    reason = (
        f"At σ² = 10, D = 200, η = 0.1 it grows from {variances[0]:.3g} at ‖d‖² = 0 to "
        f"{variances[-1]:.3g} at 27. The bound (2η)²/2D = {bound:.3g}, which noise_up is based on, "
        "holds."
    )
    text = "decreasing" if falls else "growing" if grows else "neither"
    return Outcome(Measured(float(falls)), falls, "" if falls else reason, text)
