"""Statements of the paper on variances, triples and pairs of nodes, and how they are checked."""

import numpy as np

from gradraker.paper.comparisons import STATIONS, Check
from gradraker.paper.paper_values import Printed
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import CLAIM, Checked, Measured

# Part of the pairs that is not negligible, and that is likely.
_NEGLIGIBLE = 0.05
_LIKELY = 0.5


def variance_of_similarity(_: PaperResults, number: Printed) -> Checked:
    """Check the words on Var[B|d] against its equation."""
    squared = np.linspace(0.0, 27.0, 28)
    eta, D, sigma2 = 0.1, 200, 10.0
    variances = (2.0 * eta) ** 2 / (2.0 * D) * np.expm1(-squared / sigma2) ** 2
    falls = bool(np.all(np.diff(variances) < 0.0))
    bound = (2.0 * eta) ** 2 / (2.0 * D)
    reason = (
        f"At σ² = 10, D = 200, η = 0.1 it grows from {variances[0]:.3g} at ‖d‖² = 0 to "
        f"{variances[-1]:.3g} at 27. The bound (2η)²/2D = {bound:.3g}, which noise_up stands on, "
        "holds."
    )
    shown = "growing" if np.all(np.diff(variances) > 0.0) else "neither"
    return Checked(
        CLAIM,
        Measured(float(falls)),
        "decreasing" if falls else shown,
        falls,
        "" if falls else reason,
    )


def alpha_bound(data: str) -> Check:
    """Check α₂ ≤ 2η over triples of nodes."""

    def check(results: PaperResults, number: Printed) -> Checked:
        found = results.of(f"triples-{data}")
        ours = Measured.over(found["largest_ratio"])
        holds = ours.high is not None and ours.high <= 1.0 + 1e-12
        reason = (
            f"σ² = {results.settings(f'triples-{data}')['sigma2']:g}. Squared distances of "
            "weighted vectors break the triangle inequality: for "
            f"{100 * float(np.median(found['part_above'])):.1f} % of triples here. It holds for "
            "0/1 vectors."
        )
        return Checked(CLAIM, ours, ours.shown(), holds, "" if holds else reason)

    return check


def differences_at_15(results: PaperResults, number: Printed) -> Checked:
    """Check that values of distant stations are likely to differ."""
    parts = [part for _, _, part in results.of("pairs-temperature")["differences"]["15"]]
    ours = Measured.over(parts)
    agrees = ours.value > _LIKELY
    reason = f"Agrees above {_LIKELY:g}."
    if not agrees:
        stations = results.header["datasets"]["temperature"]["counts"]["stations"]
        reason += f" {STATIONS.format(stations=stations)}"
    return Checked(CLAIM, ours, ours.shown(), agrees, reason)


def differences_at_0(results: PaperResults, number: Printed) -> Checked:
    """Check that papers with the same citations may differ in class."""
    parts = [part for _, _, part in results.of("pairs-cora")["differences"]["0"]]
    ours = Measured.over(parts)
    reason = (
        f"Agrees above {_NEGLIGIBLE:g}; which classes are far apart depends on their numbering."
    )
    return Checked(CLAIM, ours, ours.shown(), ours.value > _NEGLIGIBLE, reason)
