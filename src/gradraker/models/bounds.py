"""Bounds of the numbers that a model takes as parameters.

A model file names them, and a file may be forged: an absurd number would fill the memory or keep a
processor busy for years. Every class of models has one table of bounds, ``bounds``, which is
checked when a model starts to learn, when it is saved, and before a file makes one.
"""

import sys
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from gradraker.exceptions import ArgumentError

# Smallest and largest value of a parameter, by its name.
Bounds = Mapping[str, tuple[float, float]]

# For parameters that several classes have.
COUNT_OF_FREQUENCIES = (1, 100_000)
COUNT_OF_EPOCHS = (1, 10_000)
NOT_NEGATIVE = (0.0, sys.float_info.max)


def check_bounds(bounds: Bounds, parameters: Mapping[str, Any]) -> None:
    """Refuse a number that is outside of its bounds, or has none.

    Examples
    --------
    >>> from gradraker.models.bounds import check_bounds
    >>> check_bounds({"n_epochs": (1, 10_000)}, {"n_epochs": 10**12, "sigma2": "cv"})
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: n_epochs must be from 1 to 10000, got 1000000000000
    """
    for name, value in parameters.items():
        if name == "random_state" or isinstance(value, bool) or not isinstance(value, Real):
            continue  # a seed has its own check, make_seed
        if name not in bounds:
            raise ArgumentError(name, "something else than a number", value)
        low, high = bounds[name]
        number = int(value) if isinstance(value, Integral) else float(value)
        if not low <= number <= high:
            raise ArgumentError(name, f"from {_format(low)} to {_format(high)}", value)


def _format(number: float) -> str:
    return str(number) if abs(number) < 1e15 else f"{number:g}"
