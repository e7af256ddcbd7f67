"""Checks of constructor parameters: each error names the parameter, what came, what would do."""

from typing import Any

import numpy as np

from gradraker.kernels import get_kernel


def check_count(name: str, value: Any) -> int:
    """Return an integer of at least 1.

    Examples
    --------
    >>> from gradraker.learners.parameters import check_count
    >>> check_count("n_epochs", 0)
    Traceback (most recent call last):
    ValueError: n_epochs must be an integer of at least 1, got 0
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")


def check_learning_rate(learning_rate: Any) -> float:
    """Return a learning rate for which the update is stable: ‖z‖ = 1, so 0 < η < 1."""
    if isinstance(learning_rate, float | int | np.number) and 0.0 < learning_rate < 1.0:
        return float(learning_rate)
    raise ValueError(
        "learning_rate must be a number in (0, 1), where the update is stable, "
        f"got {learning_rate!r}"
    )


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if value in (True, False):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {value!r}")


def check_kernel(kernel: Any) -> str:
    """Return the name of a kernel."""
    return get_kernel(kernel).name
