"""Rows as neighbours of one node, and an SKG model that learns them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker import SKGRegressor

N, M = 30, 10
NAMES = [f"node {m}" for m in range(M)]
RNG = np.random.default_rng(0)
UNWEIGHTED = (RNG.random((N, M)) < 0.4).astype(float)
WEIGHTED = UNWEIGHTED * RNG.normal(size=(N, M))
Y = RNG.normal(size=(N, 3))


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(
        **{
            "sigma2": 2.0,
            "n_frequencies": 20,
            "learning_rate": 0.3,
            "random_state": 1,
            **parameters,
        }
    )


def neighbours(row: NDArray[np.float64], names: Any = NAMES) -> dict[Any, Any]:
    return {names[m]: row[m] for m in np.flatnonzero(row)}


def started(**parameters: Any) -> SKGRegressor:
    return regressor(**parameters).partial_fit(WEIGHTED, Y[:, 0], references=NAMES)
