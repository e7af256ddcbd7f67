"""Checks of what the generators are asked for, and the last step they share."""

import math
from numbers import Integral, Real
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

RandomState: TypeAlias = int | np.random.Generator | None
Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def checked_generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator itself, or a new one seeded with the integer or by the system."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be 0 or larger; got {random_state!r}")
        return np.random.default_rng(int(random_state))
    raise TypeError(
        "random_state must be an int, a numpy.random.Generator or None; "
        f"got {type(random_state).__name__} {random_state!r}"
    )


def checked_count(argument: str, value: object, *, at_least: int) -> int:
    """Return ``value`` as an int that is large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{argument} must be an int; got {type(value).__name__} {value!r}")
    if value < at_least:
        raise ValueError(f"{argument} must be {at_least} or larger; got {value!r}")
    return int(value)


def checked_number(
    argument: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_excluded: bool = False,
) -> float:
    """Return ``value`` as a finite float in [low, high], or (low, high] if asked."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{argument} must be a number; got {type(value).__name__} {value!r}")
    number = float(value)
    too_low = number <= low if low_excluded else number < low
    if too_low or number > high or not math.isfinite(number):
        limits = []
        if low > -math.inf:
            limits.append(f"larger than {low:g}" if low_excluded else f"at least {low:g}")
        if high < math.inf:
            limits.append(f"at most {high:g}")
        raise ValueError(f"{argument} must be {' and '.join(['finite', *limits])}; got {value!r}")
    return number


def number_names(n_nodes: int) -> tuple[str, ...]:
    """Names of generated nodes: "0", "1", ..."""
    return tuple(map(str, range(n_nodes)))


def both_ways(
    n_nodes: int, source: Indices, target: Indices, weight: Floats, *, directed: bool
) -> sp.csr_array:
    """Make an adjacency matrix of links; an undirected link is stored in both rows."""
    if not directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        weight = np.concatenate([weight, weight])
    return sp.coo_array((weight, (source, target)), shape=(n_nodes, n_nodes)).tocsr()
