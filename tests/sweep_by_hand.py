"""Results of sweeps made by hand."""

from typing import Any

import numpy as np

from gradraker.sweep import SweepResult

SETTINGS = {
    "data": {"name": "Made by hand", "nodes": 10, "edges": 20},
    "n_repeats": 2,
    "fraction": 0.4,
    "n_frequencies": 50,
    "learning_rate": 0.1,
    "n_epochs": 3,
    "kernel": "gaussian",
    "versions": {"gradraker": "0"},
}


def made(
    gnmse: Any,
    boundaries: tuple[float, float, float] = (0.5, 5.0, 50.0),
    sigma2: tuple[Any, ...] = (0.1, 1.0, 10.0, 100.0),
) -> SweepResult:
    gnmse = np.array(gnmse)
    n = len(gnmse)
    return SweepResult(
        np.array(sigma2),
        gnmse,
        np.tile(boundaries, (n, 1)),
        np.ones((n, 2)),
        np.ones(n),
        SETTINGS | {"n_repeats": n},
    )


def by_hand() -> SweepResult:
    return made([[0.5, 0.3, 0.1, 0.2], [0.7, 0.3, 0.3, 0.2]])
