"""Claims of the paper: numbers and statements with their checks, and the findings."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from gradraker._fields import describe_fields
from gradraker.paper.plan import Simulation
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import VERDICTS, Check, Measured, Outcome, Verdict

# Takes the results of the simulations that a claim needs.
Judge = Callable[..., Outcome]


@dataclass(frozen=True)
class Claim:
    """One number or statement of the paper."""

    key: str  # name in report.json
    place: str  # section
    quantity: str  # in words
    printed: str  # number or words; a number is a text, since its last digit says how exact it is
    check: Check
    simulations: tuple[Simulation[Any], ...] = ()  # that the check needs
    data: str | None = None  # key of the data set whose facts the check needs
    needs_values: bool = False  # whether the graph of this data set alone is not enough


class ClaimList(list[Claim]):
    """The claims of one file; within a section they are in the paper's order.

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
        """Return a decorator: the function below it judges the results of the simulations."""
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
    """A printed number beside ours.

    Examples
    --------
    >>> from gradraker.paper import compare_with_paper, read_results
    >>> findings = compare_with_paper(read_results("paper/results.jsonl"))  # doctest: +SKIP
    """

    key: Annotated[str, "Name of the claim."]
    place: Annotated[str, "Where the paper prints it."]
    quantity: Annotated[str, "The quantity, in words."]
    printed: Annotated[str, "The printed number or words."]
    ours: Annotated[Measured | None, "Ours, None where it cannot be checked."]
    shown: Annotated[str, "Ours as a text."]
    rule: Annotated[str, "Name of the rule."]
    verdict: Annotated[Verdict, "By the rule."]
    reason: Annotated[str, "Why it differs or cannot be checked, or a remark where it agrees."]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON can hold it."""
        ours = None if self.ours is None else vars(self.ours)
        return vars(self) | {"ours": ours}


def check_claims(claims: Iterable[Claim], results: PaperResults) -> list[Finding]:
    """Compare claims with results.

    Claims whose simulations were not asked for are left out; those whose data set is not at hand
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
    """Say why a claim cannot be checked; "" if it was not asked for, None if it can be."""
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
    # Only the visits are missing where the graph of Wikipedia is at hand.
    if "nodes" not in facts or (needs_values and not facts["values"]):
        missing = "The values" if "nodes" in facts else "The data"
        return f"{missing} of {facts['title']} {facts['problem']}; the list of data sets says more."
    return None
