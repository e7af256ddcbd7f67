"""Results of single simulations in the form in which they were made."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradraker.paper.data import DATA
from gradraker.paper.results import PaperResults
from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.varied_setting import SettingsSweep

_ARRAYS = ("sigma2", "gnmse", "boundaries", "squared_distances")


def sweep_record(sweep: SweepResult) -> dict[str, Any]:
    """A sweep as JSON can hold it, without its times."""
    return {name: getattr(sweep, name).tolist() for name in _ARRAYS}


def sweep_of(results: PaperResults, name: str) -> SweepResult:
    """The sweep of a simulation."""
    return _sweep(results.of(name), _settings(results, name))


def settings_sweep_of(results: PaperResults, name: str) -> SettingsSweep:
    """The sweeps of a simulation that varies a setting."""
    settings = _settings(results, name)
    sweeps = (_sweep(record, settings) for record in results.of(name)["sweeps"])
    setting = settings["setting"]
    return SettingsSweep(setting, tuple(settings[setting]), tuple(sweeps))


def run_at(results: PaperResults, sigma2: float) -> Mapping[str, Any]:
    """What the simulation of figures 2 to 5 gave at one of its variances."""
    runs = results.of("weights")["runs"]
    found: Mapping[str, Any] = next(run for run in runs if run["sigma2"] == sigma2)
    return found


def _sweep(record: Mapping[str, Any], settings: dict[str, Any]) -> SweepResult:
    arrays = {name: np.array(record[name], dtype=np.float64) for name in _ARRAYS}
    seconds = np.full(len(record["gnmse"]), np.nan)
    return SweepResult(**arrays, seconds=seconds, settings=settings)


def _settings(results: PaperResults, name: str) -> dict[str, Any]:
    title = DATA[results.simulations[name]["dataset"]].title
    return {"data": {"name": title}, **results.settings(name)}
