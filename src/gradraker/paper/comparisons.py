"""Printed numbers beside counts, simulations and the paper's own equations."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.kernels.ranges import compute_noise_ratio
from gradraker.paper import inputs as paper
from gradraker.paper.paper_values import Printed
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import COUNT, EQUATION, SPREAD, Checked, Measured, rounds_to

Check = Callable[[PaperResults, Printed], Checked]

STATIONS = (
    "The list of the paper's 83 stations is not public; ours are the {stations} stations that "
    "are in both tables of norm values today."
)


def count(data: str, fact: str | None = None, *, sampled: bool = False, why: str = "") -> Check:
    """Compare a count of the data set: of nodes, of sampled nodes, or a fact of its files."""

    def check(results: PaperResults, number: Printed) -> Checked:
        facts = results.header["datasets"][data]
        n = facts["nodes"] if fact is None else facts["counts"][fact]
        count = round(0.4 * n) if sampled else n
        ours = Measured(float(count))
        agrees = COUNT.holds(float(number.printed), ours)
        reason = why.format(n=n, part=0.4 * n, stations=facts["counts"].get("stations"))
        return Checked(COUNT, ours, f"{count}", agrees, "" if agrees else reason)

    return check


def spread(
    simulation: str, numbers: Callable[[Mapping[str, Any]], Any], why: str = "", note: str = ""
) -> Check:
    """Compare with what repeats of a simulation gave; ``why`` is told if they differ."""

    def check(results: PaperResults, number: Printed) -> Checked:
        repeats = np.asarray(numbers(results.of(simulation)), dtype=np.float64)
        ours, printed = Measured.over(repeats.tolist()), float(number.printed)
        agrees = SPREAD.holds(printed, ours)
        below, above = int(np.sum(repeats < printed)), int(np.sum(repeats > printed))
        sentences = [f"Of our {ours.n} repeats {below} are below it, {above} above."]
        if note:
            sentences.append(note)
        if why and not agrees:
            facts = results.header["datasets"].get("temperature", {})
            sentences.append(why.format(stations=facts.get("counts", {}).get("stations")))
        return Checked(SPREAD, ours, ours.shown(), agrees, " ".join(sentences))

    return check


def boundary(data: str, which: str) -> Check:
    """Compare a boundary of the ranges with the paper's equation on the paper's own inputs."""

    def check(results: PaperResults, number: Printed) -> Checked:
        D = paper.N_FREQUENCIES[data]
        d2 = float((paper.SMALLEST_DISTANCE if which == "ce" else paper.LARGEST_DISTANCE)[data])
        level = 1.0 - paper.CLOSENESS if which == "da" else compute_noise_ratio(D)
        by_equation = variance_at(d2, level)
        distances = _distances(results, data)[:, 0 if which == "ce" else 1]
        ours = Measured.over(
            [variance_at(distance, level) for distance in distances], value=by_equation
        )
        agrees = rounds_to(number.printed, by_equation)
        reason = "" if agrees else _why_boundary(number.printed, which, d2, D, ours)
        return Checked(EQUATION, ours, ours.shown(), agrees, reason)

    return check


def variance_at(squared_distance: float, level: float) -> float:
    """σ² at which exp(−‖d‖²/2σ²) is ``level``: equations (edthresh), (cethresh), (dathresh).

    Examples
    --------
    >>> round(variance_at(27.0, 0.05), 3), round(variance_at(27.0, 0.1), 3)
    (4.506, 5.863)
    """
    return -squared_distance / (2.0 * math.log(level))


def _why_boundary(printed: str, which: str, d2: float, D: int, ours: Measured) -> str:
    """Look for another formula that gives the print; otherwise say what the print implies."""
    if which == "da":
        other = d2 / (2.0 * paper.CLOSENESS)
        if rounds_to(printed, other):
            return (
                f"The print is ‖d‖²max/(2·closeness) = {other:.4g}: ln(1 − c) was replaced by −c."
            )
    doubled = 2.0 * compute_noise_ratio(D)
    other = variance_at(d2, doubled)
    if rounds_to(printed, other):
        return (
            f"The print is what a noise ratio of √(2/D) = {doubled:.3g} gives, {other:.4g}: two "
            "standard deviations instead of the one of equation (noiseup)."
        )
    cut = math.floor(100.0 * compute_noise_ratio(D)) / 100.0
    other = variance_at(d2, cut)
    if rounds_to(printed, other):
        return (
            f"The print is what the noise ratio {compute_noise_ratio(D):.4g}, cut to {cut:g}, "
            f"gives: {other:.4g}."
        )
    implied = math.exp(-d2 / (2.0 * float(printed)))
    inside = "lies" if SPREAD.holds(float(printed), ours) else "does not lie"
    return (
        f"The print implies a noise ratio of {implied:.4g} where equation (noiseup) gives "
        f"{compute_noise_ratio(D):.4g}, or ‖d‖²max = {float(printed) * math.log(2 * D):.4g}; it "
        f"{inside} within our spread over repeats. We know no reading that gives it."
    )


def _distances(results: PaperResults, data: str) -> NDArray[np.float64]:
    name = f"sweep-{data}" if results.has(f"sweep-{data}") else f"distances-{data}"
    return np.array(results.of(name)["squared_distances"], dtype=np.float64)


def conformity_example(_: PaperResults, number: Printed) -> Checked:
    """Check the arithmetic of the example of conformity factors."""
    given = paper.CONFORMITY_EXAMPLE
    rest = 1.0 - given["alpha_32"] * (1.0 - given["alpha_2"]) - given["alpha_31"]
    ours = Measured(1.0 - math.sqrt(rest))
    agrees = rounds_to(number.printed, ours.value)
    return Checked(EQUATION, ours, f"{ours.value:.4g}", agrees, "")


def approximation(squared_distance: float) -> Check:
    """Check B by equation (eb) with the settings of section V.C."""

    def check(_: PaperResults, number: Printed) -> Checked:
        decay = math.exp(-squared_distance / (2.0 * paper.SIMILARITY["sigma2"]))
        ours = Measured(2.0 * paper.SIMILARITY["learning_rate"] * decay)
        agrees = rounds_to(number.printed, ours.value)
        return Checked(EQUATION, ours, f"{ours.value:.4g}", agrees, "")

    return check
