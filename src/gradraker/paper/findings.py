"""Every printed number with its verdict."""

from collections.abc import Mapping

from gradraker.paper.checks import CHECKS
from gradraker.paper.paper_values import PRINTED, Printed
from gradraker.paper.plan import SIMULATIONS
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import Finding

# Numbers that no data at hand can confirm, whatever is downloaded.
NEVER = {
    "stations-1981": (
        "The table of 1981–2010 does not come with gradraker, only a mark on the stations that "
        "are in it too."
    ),
}
VERDICTS = ("agrees", "differs", "cannot be checked")


def findings(results: PaperResults) -> list[Finding]:
    """Compare every printed number with the results.

    Numbers whose simulations were not asked for are left out; those whose data set is not at hand
    cannot be checked.
    """
    found = []
    for number in PRINTED:
        missing = _missing(results, number)
        if missing is None:
            checked = CHECKS[number.key](results, number)
            found.append(
                Finding(
                    number.key,
                    number.place,
                    number.quantity,
                    number.printed,
                    checked.ours,
                    checked.shown,
                    checked.rule.name,
                    "agrees" if checked.agrees else "differs",
                    checked.reason or ("" if checked.agrees else "We know no reason."),
                )
            )
        elif missing:
            found.append(_unchecked(number, missing))
    return found


def _unchecked(number: Printed, reason: str) -> Finding:
    return Finding(
        number.key,
        number.place,
        number.quantity,
        number.printed,
        None,
        "",
        "",
        "cannot be checked",
        reason,
    )


def counts(found: list[Finding]) -> dict[str, int]:
    """How many numbers have each verdict."""
    return {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}


def _missing(results: PaperResults, number: Printed) -> str | None:
    """Why a number cannot be checked, "" if it was not asked for, None if it can."""
    datasets: Mapping[str, Mapping[str, object]] = results.header["datasets"]
    for need in number.needs:
        name = need.removeprefix("data:")
        data = name if need != name else SIMULATIONS[name].data
        if data not in datasets:
            return ""
        facts = datasets[data]
        # Visits alone are missing where only the graph of Wikipedia is at hand.
        needs_values = number.key == "days" or name.startswith("sweep-")
        if "nodes" not in facts or (needs_values and not facts["values"]):
            what = "The values" if "nodes" in facts else "The data"
            return (
                f"{what} of {facts['title']} {facts['problem']}; the list of data sets says more."
            )
        if need == name and not results.has(name):
            return ""
    return NEVER.get(number.key)
