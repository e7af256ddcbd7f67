"""Parameters of node models that are given or "auto"."""

import math
from typing import Any, NamedTuple

from gradraker._validation import is_number
from gradraker.models.walks.terms import check_blocks


class FixedParameters(NamedTuple):
    """Parameters that are given; None is to be chosen."""

    blocks: tuple[str, ...] | None
    width: float | None
    alpha: float | None

    @property
    def are_complete(self) -> bool:
        """Whether nothing is left to choose."""
        return None not in self


def check_parameters(blocks: Any, width: Any, alpha: Any) -> FixedParameters:
    """Return parameters as a user gave them, "auto" or not, checked."""
    return FixedParameters(
        check_blocks(blocks), _check_number("width", width), _check_number("alpha", alpha)
    )


def _check_number(name: str, value: Any) -> float | None:
    if isinstance(value, str) and value == "auto":
        return None
    if not is_number(value) or not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be 'auto' or a positive number, got {value!r}")
    return float(value)


def check_tolerance(name: str, value: Any) -> float:
    """Return a relative residual in [10⁻¹², 0.1]."""
    if not is_number(value) or not 1e-12 <= value <= 0.1:
        raise ValueError(f"{name} must be a number from 1e-12 to 0.1, got {value!r}")
    return float(value)
