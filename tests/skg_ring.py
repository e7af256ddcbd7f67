"""A ring of nodes that SKG learns, and how it learns them."""

from typing import Any

import numpy as np

from gradraker import SKGNodeRegressor

LEARNER = SKGNodeRegressor(sigma2=2.0, n_frequencies=300, random_state=0)


def ring(n: Any = 40, *, names: list[int] | None = None) -> tuple[Any, ...]:
    """A ring in which node i points to the next three, and its values, a wave."""
    named = [f"n{i:02d}" for i in range(n)] if names is None else names
    edges = [(named[i], named[(i + k) % n]) for i in range(n) for k in (1, 2, 3)]
    return edges, {name: float(np.sin(2 * np.pi * i / n)) for i, name in enumerate(named)}
