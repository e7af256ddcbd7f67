"""Claims of the paper: numbers and statements, the rules by which they agree, and the findings."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import numpy as np

from gradraker._fields import describe_fields
from gradraker.paper.simulations import PaperResults, Simulation

T = TypeVar("T")
# A number with a smaller share of repeats on one side is at the edge of the spread.
_EDGE_SHARE = 0.1
Verdict = Literal["agrees", "at the edge", "differs", "cannot be checked"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "at the edge", "differs", "cannot be checked")
# Closeness of B to 2η from which weights are averages (section V.D).
CLOSENESS = 0.1
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
        """Format the number and its spread.

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
    """Return one unit of the last printed digit.

    Examples
    --------
    >>> get_last_digit("5.86"), get_last_digit("135"), get_last_digit("5.80e-5")
    (0.01, 1.0, 1e-07)
    """
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - decimals}")


def is_rounding_of(printed: str, value: float) -> bool:
    """Whether the printed number is the value, rounded or truncated.

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
        # Printed numbers are rounded.
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
# Whether these two hold is decided by the checks: it depends on the printed digits or words.
EQUATION = Rule(
    "equation",
    "The paper's equation with the paper's own inputs (shown as ours) gives the printed number to "
    "one unit of its last digit.",
)
WORDS = Rule("claim", "The statement holds, with the limit that the quantity or the note names.")

RULES = {rule.name: rule for rule in (COUNT, SPREAD, BELOW, ABOVE, EQUATION, WORDS)}


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check."""

    ours: Measured
    agrees: bool  # whether the rule holds
    reason: str = ""  # why it differs, or a remark where it agrees
    text: str = ""  # our number as text; by default ``ours.to_text()``
    at_edge: bool = False  # whether it lies within our spread, with few repeats beyond it
    rule: Rule = WORDS  # the applied rule

    @property
    def verdict(self) -> Verdict:
        """The verdict of the check."""
        if self.at_edge:
            return "at the edge"
        return "agrees" if self.agrees else "differs"


Check = Callable[[PaperResults, str], Outcome]
# Takes the results of the simulations that a claim needs.
Judge = Callable[..., Outcome]


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
    simulation: Simulation[T], select_numbers: Callable[[T], Any], *, why: str = "", note: str = ""
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
        fewest = min(repeats.size - below, repeats.size - above)  # ties count on both sides
        at_edge = agrees and fewest < _EDGE_SHARE * repeats.size
        return Outcome(ours, agrees, " ".join(sentences), at_edge=at_edge, rule=SPREAD)

    return check


def count_stations(results: PaperResults) -> int | None:
    """Return the number of our stations, or None if the temperatures were not loaded."""
    facts = results.header["datasets"].get("temperature", {})
    count: int | None = facts.get("counts", {}).get("stations")
    return count


@dataclass(frozen=True)
class Claim:
    """One number or statement of the paper."""

    key: str  # name in report.json
    place: str  # section
    quantity: str  # in words
    printed: str  # number or words; a number is a text, since its digits give its precision
    check: Check
    simulations: tuple[Simulation[Any], ...] = ()  # needed by the check
    data: str | None = None  # key of the data set whose facts the check needs
    needs_values: bool = False  # whether the graph of this data set alone is not enough


class ClaimList(list[Claim]):
    """The claims of one file, in the paper's order within each section.

    Parameters
    ----------
    *simulations : Simulation
        Simulations that the checks need unless a claim names others.
    """

    def __init__(self, *simulations: Simulation[Any]) -> None:
        super().__init__()
        self._simulations = simulations

    def add(
        self,
        key: str,
        place: str,
        quantity: str,
        printed: str,
        check: Check,
        *simulations: Simulation[Any],
        data: str | None = None,
        needs_values: bool = False,
    ) -> None:
        """Add a claim; the arguments are those of :class:`Claim`."""
        needed = () if data else simulations or self._simulations
        self.append(Claim(key, place, quantity, printed, check, needed, data, needs_values))

    def check(
        self, key: str, place: str, quantity: str, printed: str, *simulations: Simulation[Any]
    ) -> Callable[[Judge], Judge]:
        """Return a decorator for a function that judges the results of the simulations."""
        needed = simulations or self._simulations

        def decorate(judge: Judge) -> Judge:
            def check(results: PaperResults, printed: str) -> Outcome:
                return judge(*map(results.get, needed))

            self.add(key, place, quantity, printed, check, *simulations)
            return judge

        return decorate


@describe_fields
@dataclass(frozen=True)
class Finding:
    """A printed number compared with ours.

    Examples
    --------
    >>> from gradraker.paper import compare_with_paper, read_results
    >>> findings = compare_with_paper(read_results("paper/results.jsonl"))  # doctest: +SKIP
    """

    key: Annotated[str, "Name of the claim."]
    place: Annotated[str, "Where the paper prints it."]
    quantity: Annotated[str, "The quantity, in words."]
    printed: Annotated[str, "The printed number or words."]
    ours: Annotated[Measured | None, "Our number, None if the claim cannot be checked."]
    shown: Annotated[str, "Our number as a text."]
    rule: Annotated[str, "Name of the rule."]
    verdict: Annotated[Verdict, "Verdict by the rule."]
    reason: Annotated[str, "Why it differs or cannot be checked, or a remark where it agrees."]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a dict ready for JSON."""
        ours = None if self.ours is None else vars(self.ours)
        return vars(self) | {"ours": ours}


def check_claims(claims: Iterable[Claim], results: PaperResults) -> list[Finding]:
    """Compare claims with results.

    Claims whose simulations were not requested are skipped; those whose data set is missing
    cannot be checked.
    """
    findings = []
    for claim in claims:
        head = (claim.key, claim.place, claim.quantity, claim.printed)
        obstacle = _find_obstacle(claim, results)
        if obstacle is None:
            found = claim.check(results, claim.printed)
            shown = found.text or found.ours.to_text()
            reason = found.reason or ("" if found.agrees else "We know no reason.")
            verdict = found.verdict
            findings.append(Finding(*head, found.ours, shown, found.rule.name, verdict, reason))
        elif obstacle:
            findings.append(Finding(*head, None, "", "", "cannot be checked", obstacle))
    return findings


def count_verdicts(findings: Iterable[Finding]) -> dict[str, int]:
    """Count the findings with each verdict.

    Examples
    --------
    >>> from gradraker.paper import count_verdicts
    >>> sum(count_verdicts([]).values())
    0
    """
    verdicts = [finding.verdict for finding in findings]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def _find_obstacle(claim: Claim, results: PaperResults) -> str | None:
    """Return why a claim cannot be checked; "" if it was not requested, None if it can be."""
    if claim.data is not None:
        return _find_data_problem(results, claim.data, needs_values=claim.needs_values)
    for simulation in claim.simulations:
        problem = _find_data_problem(results, simulation.data, needs_values=simulation.needs_values)
        if problem is not None:
            return problem
        if not results.has(simulation.name):
            return ""
    return None


def _find_data_problem(results: PaperResults, data: str, *, needs_values: bool) -> str | None:
    datasets: Mapping[str, Mapping[str, object]] = results.header["datasets"]
    if data not in datasets:
        return ""
    facts = datasets[data]
    # Of Wikipedia, the graph may be available without the visits.
    if "nodes" not in facts or (needs_values and not facts["values"]):
        missing = "The values" if "nodes" in facts else "The data"
        return f"{missing} of {facts['title']} {facts['problem']}; the list of data sets says more."
    return None
