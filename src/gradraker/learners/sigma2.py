"""Turn the parameter ``sigma2`` of an estimator, a number or a rule's name, into a variance."""

from typing import Any

import numpy as np

from gradraker.bandwidth.rules import theory_sigma2

SIGMA2_RULES = {"theory": theory_sigma2}


def check_sigma2(sigma2: Any) -> float | str:
    """Return a positive finite number or the name of a rule; the error lists the rules.

    Examples
    --------
    >>> from gradraker.learners.sigma2 import check_sigma2
    >>> check_sigma2("magic")
    Traceback (most recent call last):
    ValueError: sigma2 must be a positive number or one of the rules 'theory', got 'magic'
    """
    if isinstance(sigma2, str) and sigma2 in SIGMA2_RULES:
        return sigma2
    number = isinstance(sigma2, float | int | np.number) and not isinstance(sigma2, bool)
    if number and 0.0 < sigma2 < np.inf:
        return float(sigma2)
    rules = ", ".join(map(repr, SIGMA2_RULES))
    raise ValueError(
        f"sigma2 must be a positive number or one of the rules {rules}, got {sigma2!r}"
    )


def choose_sigma2(sigma2: float | str, X: Any, *, n_frequencies: int, kernel: str) -> float:
    """Return the variance that a number or a rule gives for the rows of X."""
    checked = check_sigma2(sigma2)
    if isinstance(checked, float):
        return checked
    if kernel != "gaussian":
        raise ValueError(
            f"sigma2={checked!r} is a rule for the gaussian kernel; "
            f"with kernel={kernel!r} give sigma2 as a number"
        )
    return SIGMA2_RULES[checked](X, n_frequencies=n_frequencies)
