"""What is simulated for which figure, with the paper's settings and with few repeats."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradraker.paper.data import DATA, PaperData
from gradraker.paper.inputs import FOUR_SIGMA2, SIMILARITY

N_SIGMA2 = 41
# For a look in seconds.
FAST_SIGMA2 = 16
FAST_REPEATS = 3
# Kinds of simulations that take more than a moment.
_SLOW = ("sweep", "sweeps", "numberings")

# What the extra sweeps change, around the settings of figure 6a (section VI.B.2).
FREQUENCIES = (10, 30, 100, 300, 1000)
LEARNING_RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
EPOCHS = (1, 3, 10, 30)
SMALL_LEARNING_RATE = 0.01


@dataclass(frozen=True)
class Simulation:
    """A simulation: its data set, what it does, and its settings.

    ``kind`` is the name of a function of :mod:`gradraker.paper.simulations`, or
    ``"sweep"``, or ``"sweeps"`` for one sweep for each value of one setting.
    """

    name: str
    data: str
    kind: str
    settings: dict[str, Any]

    def chosen(self, *, fast: bool) -> dict[str, Any]:
        """The settings, with few repeats and variances if ``fast``."""
        settings = dict(self.settings)
        if fast and self.kind in _SLOW:
            settings["n_repeats"] = min(settings["n_repeats"], FAST_REPEATS)
        if fast and self.kind in ("sweep", "sweeps"):
            sigma2 = settings["sigma2"]
            settings["sigma2"] = _grid(sigma2[0], sigma2[-1], FAST_SIGMA2)
        return settings


def _grid(low: float, high: float, n: int) -> list[float]:
    # Few digits, so that what is printed is what was run.
    return [float(f"{sigma2:.4g}") for sigma2 in np.geomspace(low, high, n)]


def _sweep_settings(data: PaperData) -> dict[str, Any]:
    return {
        "sigma2": _grid(*data.sigma2, N_SIGMA2),
        "n_repeats": data.n_repeats,
        "fraction": data.fraction,
        "n_frequencies": data.n_frequencies,
        "learning_rate": data.learning_rate,
        "n_epochs": data.n_epochs,
    }


def _sweeps(name: str, setting: str, values: Iterable[float], **changes: Any) -> Simulation:
    settings = _sweep_settings(DATA["temperature"]) | changes | {setting: list(values)}
    return Simulation(name, "temperature", "sweeps", settings | {"setting": setting})


_SPLIT = {"fraction": 0.4}

SIMULATIONS = {
    simulation.name: simulation
    for simulation in (
        Simulation(
            "weights",
            "temperature",
            "weights",
            _SPLIT
            | {
                "sigma2": list(FOUR_SIGMA2),
                "n_frequencies": 200,
                "learning_rate": 0.1,
                "n_epochs": 3,
                "tested_node": 0,
            },
        ),
        Simulation(
            "similarity", "temperature", "similarity", _SPLIT | SIMILARITY | {"n_repeats": 150}
        ),
        Simulation(
            "pairs-temperature",
            "temperature",
            "pairs",
            _SPLIT | {"n_repeats": 50, "squared_distances": [5.0, 15.0], "limits": [0.35, 0.3]},
        ),
        Simulation(
            "pairs-cora",
            "cora",
            "pairs",
            _SPLIT | {"n_repeats": 10, "squared_distances": [0.0], "limits": [0.5]},
        ),
        *(
            Simulation(
                f"triples-{data}", data, "triples", _SPLIT | {"n_repeats": 50, "sigma2": 2.0}
            )
            for data in ("temperature", "temperature-weighted")
        ),
        Simulation(
            "numberings-cora",
            "cora",
            "numberings",
            _SPLIT
            | {
                "sigma2": [0.5, 1.0, 2.0, 3.0, 5.0, 10.0],
                "n_repeats": 3,
                "n_frequencies": 888,
                "learning_rate": 0.05,
                "n_epochs": 3,
                "limit": 0.35,
            },
        ),
        Simulation("distances-wikipedia", "wikipedia", "distances", _SPLIT | {"n_repeats": 50}),
        *(
            Simulation(f"sweep-{data.key}", data.key, "sweep", _sweep_settings(data))
            for data in DATA.values()
        ),
        _sweeps("frequencies", "n_frequencies", FREQUENCIES),
        _sweeps("learning-rate", "learning_rate", LEARNING_RATES),
        _sweeps("epochs", "n_epochs", EPOCHS, learning_rate=SMALL_LEARNING_RATE),
    )
}

# What can be asked for, with the simulations that it takes.
PARTS: dict[str, tuple[str, ...]] = {
    "fig1": ("sweep-temperature",),
    "fig2": ("weights",),
    **{f"fig3{letter}": ("weights",) for letter in "abcd"},
    "fig4": ("weights",),
    "fig5": ("weights",),
    **{f"fig6{letter}": (f"sweep-{data}",) for letter, data in zip("abcde", DATA, strict=True)},
    "fig7": ("pairs-temperature",),
    "fig8": ("pairs-cora",),
    "frequencies": ("frequencies",),
    "learning-rate": ("learning-rate",),
    "epochs": ("epochs",),
    "numbers": (
        "similarity",
        "triples-temperature",
        "triples-temperature-weighted",
        "numberings-cora",
        "distances-wikipedia",
    ),
}


def chosen_parts(names: Iterable[str] | None) -> list[str]:
    """Parts by name, in the paper's order; "fig3" stands for all of figure 3; None for all.

    Examples
    --------
    >>> chosen_parts(["fig6b", "fig3"])
    ['fig3a', 'fig3b', 'fig3c', 'fig3d', 'fig6b']
    >>> chosen_parts(["fig9"])
    Traceback (most recent call last):
    ...
    ValueError: only: there is no 'fig9'; it must be some of fig1, fig2, fig3, ...
    """
    if names is None:
        return list(PARTS)
    wanted: set[str] = set()
    for name in names:
        found = [part for part in PARTS if name in (part, _group(part))]
        if not found:
            known = ", ".join(
                dict.fromkeys(word for part in PARTS for word in (_group(part), part))
            )
            raise ValueError(f"only: there is no {name!r}; it must be some of {known}")
        wanted.update(found)
    return [part for part in PARTS if part in wanted]


def _group(part: str) -> str:
    return part.rstrip("abcde") if part.startswith("fig") else part
