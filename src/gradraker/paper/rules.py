"""The rules by which a printed number agrees with ours or differs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Verdict = Literal["agrees", "differs", "cannot be checked"]


@dataclass(frozen=True)
class Measured:
    """A number of ours, and how it spreads over repeats."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 1

    @classmethod
    def over(cls, repeats: Sequence[float], *, value: float | None = None) -> "Measured":
        """Summarise repeats by their median (unless another value is given) and extremes."""
        numbers = np.asarray(repeats, dtype=np.float64)
        return cls(
            float(np.median(numbers)) if value is None else value,
            float(numbers.min()),
            float(numbers.max()),
            int(numbers.size),
        )

    def shown(self) -> str:
        """The number and its spread as a text.

        Examples
        --------
        >>> Measured.over([1.0, 2.5, 27.0]).shown()
        '2.5 (1…27)'
        """
        if self.low is None or self.high is None:
            return _short(self.value, 4)
        return f"{_short(self.value, 4)} ({_short(self.low, 3)}…{_short(self.high, 3)})"


def _short(number: float, digits: int) -> str:
    return f"{number:.0f}" if abs(number) >= 1000.0 else f"{number:.{digits}g}"


@dataclass(frozen=True)
class Rule:
    """When a printed number agrees with ours."""

    name: str
    text: str
    holds: Callable[[float, Measured], bool] = lambda printed, ours: False


def last_digit(printed: str) -> float:
    """One unit of the last digit that is printed.

    Examples
    --------
    >>> last_digit("5.86"), last_digit("135"), last_digit("5.80e-5")
    (0.01, 1.0, 1e-07)
    """
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - decimals}")


def rounds_to(printed: str, value: float) -> bool:
    """Whether a value, rounded or cut, can give what is printed.

    Examples
    --------
    >>> rounds_to("5.86", 5.863), rounds_to("5.87", 5.863), rounds_to("5.86", 4.506)
    (True, True, False)
    """
    return abs(value - float(printed)) < last_digit(printed) * (1.0 + 1e-9)


def _in_spread(printed: float, ours: Measured) -> bool:
    return (
        ours.low is not None
        and ours.high is not None
        # A number is printed with some digits only.
        and ours.low - 1e-9 * abs(ours.low) <= printed <= ours.high + 1e-9 * abs(ours.high)
    )


COUNT = Rule("count", "Our count is the printed one.", lambda p, ours: ours.value == p)
SPREAD = Rule(
    "spread",
    "The printed number lies between our extremes over n repeats; the note counts those on each "
    "side of it. One more draw of our own would fall outside in 2 of n + 1 cases, in 4 % with 50. "
    "Where the spread is wide this can refute a number, but hardly confirm it.",
    _in_spread,
)
BELOW = Rule("below", "Ours is below the printed number.", lambda p, ours: ours.value < p)
ABOVE = Rule("above", "Ours is above the printed number.", lambda p, ours: ours.value > p)
# For these a check says itself whether they hold: it knows the digits that are printed, or
# what the words mean.
EQUATION = Rule(
    "equation",
    "The paper's equation with the paper's own inputs, which is ours here, gives the printed "
    "number to one unit of its last digit.",
)
CLAIM = Rule("claim", "What the words say, with the limit that the quantity or the note names.")

RULES = {rule.name: rule for rule in (COUNT, SPREAD, BELOW, ABOVE, EQUATION, CLAIM)}


@dataclass(frozen=True)
class Checked:
    """What a check found: the rule, ours, ours as a text, whether they agree, and why."""

    rule: Rule
    ours: Measured
    shown: str
    agrees: bool
    reason: str


@dataclass(frozen=True)
class Finding:
    """A printed number beside ours.

    Attributes
    ----------
    key : str
        Name of the check.
    place : str
        Where the paper prints it.
    quantity : str
        What it is.
    printed : str
        What is printed.
    ours : Measured or None
        Ours, None where it cannot be checked.
    shown : str
        Ours as a text.
    rule : str
        Name of the rule.
    verdict : {"agrees", "differs", "cannot be checked"}
        By the rule.
    reason : str
        Why it differs or cannot be checked, or what is worth knowing where it agrees.
    """

    key: str
    place: str
    quantity: str
    printed: str
    ours: Measured | None
    shown: str
    rule: str
    verdict: Verdict
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON can hold it."""
        ours = None if self.ours is None else vars(self.ours)
        return vars(self) | {"ours": ours}
