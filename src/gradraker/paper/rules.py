"""The rules by which a printed number agrees with ours or differs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from gradraker.kernels.ranges import compute_noise_ratio
from gradraker.paper.paper_data import DATA, Floats
from gradraker.paper.plan import Simulation
from gradraker.paper.results import PaperResults

T = TypeVar("T")
# A number with fewer repeats than this part on one side is at the edge of the spread.
_EDGE = 0.1
Verdict = Literal["agrees", "at the edge", "differs", "cannot be checked"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "at the edge", "differs", "cannot be checked")

# Closeness of B to 2η from which weights are averages (section V.D).
CLOSENESS = 0.1
# Smallest nonzero ‖d‖² of Temperature-Jan, as printed (section V.D).
SMALLEST_DISTANCE = "1"
STATIONS = (
    "The list of the paper's 83 stations is not public; ours are the {stations} stations that "
    "are in both tables of norm values today."
)


@dataclass(frozen=True)
class Measured:
    """A number of ours, and how it spreads over repeats."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 1

    @classmethod
    def from_repeats(cls, repeats: Sequence[float], *, value: float | None = None) -> "Measured":
        """Summarise repeats by their median (unless another value is given) and extremes."""
        numbers = np.asarray(repeats, dtype=np.float64)
        return cls(
            float(np.median(numbers)) if value is None else value,
            float(numbers.min()),
            float(numbers.max()),
            int(numbers.size),
        )

    def to_text(self) -> str:
        """Write the number and its spread.

        Examples
        --------
        >>> Measured.from_repeats([1.0, 2.5, 27.0]).to_text()
        '2.5 (1…27)'
        """
        if self.low is None or self.high is None:
            return _format_number(self.value, 4)
        low, high = _format_number(self.low, 3), _format_number(self.high, 3)
        return f"{_format_number(self.value, 4)} ({low}…{high})"


def _format_number(number: float, digits: int) -> str:
    return f"{number:.0f}" if abs(number) >= 1000.0 else f"{number:.{digits}g}"


def get_last_digit(printed: str) -> float:
    """Return one unit of the last digit that is printed.

    Examples
    --------
    >>> get_last_digit("5.86"), get_last_digit("135"), get_last_digit("5.80e-5")
    (0.01, 1.0, 1e-07)
    """
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - decimals}")


def is_rounding_of(printed: str, value: float) -> bool:
    """Whether the printed number is the value, rounded or cut.

    Examples
    --------
    >>> is_rounding_of("5.86", 5.863), is_rounding_of("5.87", 5.863), is_rounding_of("5.86", 4.506)
    (True, True, False)
    """
    return abs(value - float(printed)) < get_last_digit(printed) * (1.0 + 1e-9)


@dataclass(frozen=True)
class Rule:
    """When a printed number agrees with ours."""

    name: str
    text: str
    holds: Callable[[float, Measured], bool] = lambda printed, ours: False


def _is_in_spread(printed: float, ours: Measured) -> bool:
    return (
        ours.low is not None
        and ours.high is not None
        # Only some digits of a number are printed.
        and ours.low - 1e-9 * abs(ours.low) <= printed <= ours.high + 1e-9 * abs(ours.high)
    )


COUNT = Rule("count", "Our count is the printed one.", lambda p, ours: ours.value == p)
SPREAD = Rule(
    "spread",
    "The printed number lies between our extremes over n repeats; the note counts those on each "
    "side of it. One more draw of our own would fall outside in 2 of n + 1 cases, in 4 % with 50. "
    "With less than 10 % of the repeats on one side it is at the edge. Where the spread is wide "
    "this can refute a number, but hardly confirm it.",
    _is_in_spread,
)
BELOW = Rule("below", "Ours is below the printed number.", lambda p, ours: ours.value < p)
ABOVE = Rule("above", "Ours is above the printed number.", lambda p, ours: ours.value > p)
# The checks decide whether these two hold: they know the printed digits, or the words' meaning.
EQUATION = Rule(
    "equation",
    "The paper's equation with the paper's own inputs, which is ours here, gives the printed "
    "number to one unit of its last digit.",
)
WORDS = Rule("claim", "What the words say, with the limit that the quantity or the note names.")

RULES = {rule.name: rule for rule in (COUNT, SPREAD, BELOW, ABOVE, EQUATION, WORDS)}


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check."""

    ours: Measured
    agrees: bool  # whether the rule holds
    reason: str = ""  # why it differs, or a remark where it agrees
    text: str = ""  # ours; by default that of the number
    at_edge: bool = False  # whether it lies within our spread, with hardly a repeat beyond it
    rule: Rule = WORDS  # that was applied

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows."""
        if self.at_edge:
            return "at the edge"
        return "agrees" if self.agrees else "differs"


Check = Callable[[PaperResults, str], Outcome]


def compare_count(
    data: str, fact: str | None = None, *, known: bool = False, why: str = ""
) -> Check:
    """Compare a count of a data set: its nodes, 40 % of them as known nodes, or another fact.

    ``why`` is the reason given if they differ.
    """

    def check(results: PaperResults, printed: str) -> Outcome:
        facts = results.header["datasets"][data]
        n = facts["nodes"] if fact is None else facts["counts"][fact]
        count = math.floor(0.4 * n + 1e-9) if known else n
        ours = Measured(float(count))
        agrees = COUNT.holds(float(printed), ours)
        reason = why.format(n=n, part=0.4 * n, stations=facts["counts"].get("stations"))
        return Outcome(ours, agrees, "" if agrees else reason, f"{count}", rule=COUNT)

    return check


def compare_spread(
    simulation: Simulation[T],
    select_numbers: Callable[[T], Any],
    *,
    why: str = "",
    note: str = "",
) -> Check:
    """Compare with one number from each repeat; ``why`` is the reason given if they differ."""

    def check(results: PaperResults, printed: str) -> Outcome:
        repeats = np.asarray(select_numbers(results.get(simulation)), dtype=np.float64)
        ours, number = Measured.from_repeats(repeats.tolist()), float(printed)
        agrees = SPREAD.holds(number, ours)
        below, above = int(np.sum(repeats < number)), int(np.sum(repeats > number))
        sentences = [f"Of our {ours.n} repeats {below} are below it, {above} above."]
        if note:
            sentences.append(note)
        if why and not agrees:
            sentences.append(why.format(stations=count_stations(results)))
        fewest = min(repeats.size - below, repeats.size - above)  # equal ones are on both sides
        at_edge = agrees and fewest < _EDGE * repeats.size
        return Outcome(ours, agrees, " ".join(sentences), at_edge=at_edge, rule=SPREAD)

    return check


def compare_boundary(
    data: str, which: str, select_distances: Callable[[PaperResults], Floats]
) -> Check:
    """Compare a boundary of the ranges with the paper's equation on the paper's own inputs.

    ``select_distances`` returns the smallest nonzero and the largest ‖d‖² of each repeat, from
    which our spread is computed.
    """

    def check(results: PaperResults, printed: str) -> Outcome:
        D = DATA[data].n_frequencies
        d2 = float(SMALLEST_DISTANCE if which == "ce" else DATA[data].largest_distance)
        level = 1.0 - CLOSENESS if which == "da" else compute_noise_ratio(D)
        by_equation = compute_variance(d2, level)
        distances = select_distances(results)[:, 0 if which == "ce" else 1]
        ours = Measured.from_repeats(
            [compute_variance(distance, level) for distance in distances], value=by_equation
        )
        agrees = is_rounding_of(printed, by_equation)
        reason = "" if agrees else _explain_boundary(printed, which, d2, D, ours)
        if reason and (data, which) == ("temperature", "ed"):
            reason += (
                " Algorithm 2 with the smallest weight over all tested nodes gives about as much "
                "(claim noise-ratio-5.86), but the text refers to equation (noiseup)."
            )
        return Outcome(ours, agrees, reason, rule=EQUATION)

    return check


def compute_variance(squared_distance: float, level: float) -> float:
    """σ² at which exp(−‖d‖²/2σ²) is ``level``: equations (edthresh), (cethresh), (dathresh).

    Examples
    --------
    >>> round(compute_variance(27.0, 0.05), 3), round(compute_variance(27.0, 0.1), 3)
    (4.506, 5.863)
    """
    return -squared_distance / (2.0 * math.log(level))


def count_stations(results: PaperResults) -> int | None:
    """Count our stations, where the temperatures were loaded."""
    facts = results.header["datasets"].get("temperature", {})
    count: int | None = facts.get("counts", {}).get("stations")
    return count


def _explain_boundary(printed: str, which: str, d2: float, D: int, ours: Measured) -> str:
    """Look for another formula that gives the print; otherwise say what follows from the print."""
    if which == "da":
        other = d2 / (2.0 * CLOSENESS)
        if is_rounding_of(printed, other):
            return (
                f"The print is ‖d‖²max/(2·closeness) = {other:.4g}: ln(1 − c) was replaced by −c."
            )
    doubled = 2.0 * compute_noise_ratio(D)
    other = compute_variance(d2, doubled)
    if is_rounding_of(printed, other):
        return (
            f"The print is what a noise ratio of √(2/D) = {doubled:.3g} gives, {other:.4g}: two "
            "standard deviations instead of the one of equation (noiseup)."
        )
    cut = math.floor(100.0 * compute_noise_ratio(D)) / 100.0
    other = compute_variance(d2, cut)
    if is_rounding_of(printed, other):
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
