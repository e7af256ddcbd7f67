"""Checks of what estimators are given: each error names it, what came, and what would do."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gradraker.exceptions import ArgumentError, ArgumentTypeError

# A tuple that is made once: learn_one checks its learning rate at every node.
_NUMBERS = (float, int, np.integer, np.floating)


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy; booleans are not."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def check_count(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return an integer that is large enough.

    Examples
    --------
    >>> from gradraker._validation import check_count
    >>> check_count("n_epochs", 0)
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: n_epochs must be an integer of at least 1, got 0
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and value >= at_least:
        return int(value)
    error = ArgumentError if whole else ArgumentTypeError
    raise error(name, f"an integer of at least {at_least}", value)


def check_number(
    name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, above: bool = False
) -> float:
    """Return a finite number from ``low`` to ``high``; with ``above`` it is larger than ``low``.

    Examples
    --------
    >>> from gradraker._validation import check_number
    >>> check_number("decay", 1.5, low=0.0, high=1.0)
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: decay must be a finite number of at least 0 and at most 1,
        got 1.5
    """
    number = is_number(value)
    inside = number and (value > low if above else value >= low) and value <= high
    if inside and math.isfinite(value):
        return float(value)
    limits = [f"{'larger than' if above else 'of at least'} {low:g}"] if low > -math.inf else []
    limits += [f"at most {high:g}"] if high < math.inf else []
    error = ArgumentError if number else ArgumentTypeError
    raise error(name, f"a finite number {' and '.join(limits)}".rstrip(), value)


def check_generator(random_state: Any) -> np.random.Generator:
    """Return the generator itself, or a new one seeded with the integer or by the system."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if random_state is None or (whole and random_state >= 0):
        return np.random.default_rng(random_state)
    error = ArgumentError if whole else ArgumentTypeError
    wanted = "an integer of at least 0, a numpy.random.Generator or None"
    raise error("random_state", wanted, random_state)


def check_positive(name: str, value: Any) -> float:
    """Return a positive finite number.

    Examples
    --------
    >>> from gradraker._validation import check_positive
    >>> check_positive("sigma2", -1)
    Traceback (most recent call last):
    ValueError: sigma2 must be a positive number, got -1
    """
    if is_number(value) and 0.0 < value < math.inf:
        return float(value)
    raise ValueError(f"{name} must be a positive number, got {value!r}")


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return one of some words.

    Examples
    --------
    >>> from gradraker._validation import check_choice
    >>> check_choice("direction", "up", ("out", "in"))
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: direction must be one of 'out', 'in', got 'up'
    """
    words = tuple(allowed)
    if isinstance(value, str) and value in words:
        return value
    raise ArgumentError(name, f"one of {', '.join(map(repr, words))}", value)


def check_fraction(name: str, value: Any) -> float:
    """Return a number between 0 and 1, both excluded."""
    if is_number(value) and 0.0 < value < 1.0:
        return float(value)
    raise ArgumentError(name, "a number between 0 and 1", value)


def check_learning_rate(learning_rate: Any) -> float:
    """Return a learning rate for which the update is stable: ‖z‖ = 1, so 0 < η < 1."""
    number = isinstance(learning_rate, _NUMBERS)
    if number and 0.0 < learning_rate < 1.0:
        return float(learning_rate)
    raise ValueError(
        "learning_rate must be a number in (0, 1), where the update is stable, "
        f"got {learning_rate!r}"
    )


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {value!r}")


def refuse_strings(argument: str, values: Any) -> None:
    """Raise if an array, a list or a data frame holds strings, be they ``"1.5"``.

    Examples
    --------
    >>> from gradraker._validation import refuse_strings
    >>> refuse_strings("y", ["1.5", "2"])
    Traceback (most recent call last):
    ValueError: y must hold numbers, got the string '1.5'
    """
    if issparse(values) or hasattr(values, "sparse"):  # a data frame of sparse columns
        return
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal lengths; scikit-learn says so
        return
    if array.dtype.kind in "USO":
        for value in array.flat:
            if isinstance(value, str | bytes):
                raise ValueError(f"{argument} must hold numbers, got the string {str(value)!r}")


def make_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed in [0, 2⁶⁴): an integer is the seed itself, a generator gives 64 bits."""
    if isinstance(random_state, int | np.integer):
        # Not 2³² as in NumPy's generators: what a generator gives is a seed as well.
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be a seed in [0, 2**64), got {random_state!r}")
        return int(random_state)
    from sklearn.utils import check_random_state  # takes a second, and data sets do without

    high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint32)
    return (int(high) << 32) | int(low)


def to_json_number(value: Any) -> float | None:
    """Return a float, or None for a number that JSON does not have (NaN, infinity)."""
    return float(value) if math.isfinite(value) else None


def to_read_only(array: Any) -> Any:
    """Return a view of an array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view
