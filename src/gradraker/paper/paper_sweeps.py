"""Sweeps over σ² on the paper's data sets: figures 1 and 6, and one setting varied for VI.B.2."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gradraker.paper.paper_data import DATA, PaperData, PaperGraph, round_down_fraction
from gradraker.paper.plan import Results, RunOptions, Settings, Simulation, to_json_line, to_rows
from gradraker.sweep import SettingsSweep, SweepResult, sigma2_sweep
from gradraker.sweep.versions import collect_versions

N_SIGMA2 = 41
# For a look in seconds.
FAST_SIGMA2 = 16
FAST_REPEATS = 3
# A best σ² up to this factor of σ²_ed is "slightly larger": two steps of our grid, which has 8 in
# a decade, are 1.8.
SLIGHTLY = 2.0
# From this factor on it is "much larger".
MUCH = 5.0

# Seconds for a sine and cosine, about.
_COST_OF_SINES = 2e-9
_ARRAYS = ("sigma2", "gnmse", "boundaries", "squared_distances")


def make_grid(low: float, high: float, n: int) -> list[float]:
    """Make a logarithmic grid of few digits, so that the variances printed are those that ran."""
    return [float(f"{sigma2:.4g}") for sigma2 in np.geomspace(low, high, n)]


def make_settings(data: PaperData) -> Settings:
    """Make the settings of a sweep over a data set of the paper."""
    return {
        "sigma2": make_grid(*data.sigma2, N_SIGMA2),
        "n_repeats": data.n_repeats,
        "fraction": data.fraction,
        **data.learner_settings,
    }


def _make_fast_settings(data: PaperData) -> Settings:
    return {"sigma2": make_grid(*data.sigma2, FAST_SIGMA2), "n_repeats": FAST_REPEATS}


def make_settings_simulation(
    name: str, setting: str, values: Iterable[float], **changes: Any
) -> Simulation[SettingsSweep]:
    """Make a simulation that varies one setting of figure 6 (a); ``changes`` are other settings."""
    data = DATA["temperature"]
    settings = make_settings(data) | changes | {setting: list(values), "setting": setting}
    return Simulation(
        name,
        data.key,
        settings,
        run_settings_sweep,
        parse_settings_sweep,
        fast_settings=_make_fast_settings(data),
        estimate_cost=estimate_cost,
    )


def run_sweep(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Run one sweep over σ², and return it as JSON can hold it, without its times."""
    assert graph.dataset is not None
    fraction = round_down_fraction(settings["fraction"], graph.adjacency.shape[0])
    sweep = sigma2_sweep(
        graph.dataset,
        **settings | {"fraction": fraction},
        random_state=options.seed,
        n_jobs=options.n_jobs,
        checkpoint=_find_checkpoint(graph, settings, options),
        progress=lambda _, done, n_repeats: options.report(done / n_repeats),
    )
    return {name: getattr(sweep, name).tolist() for name in _ARRAYS}


def run_settings_sweep(graph: PaperGraph, settings: Settings, options: RunOptions) -> Results:
    """Run one sweep for each value of the setting that is varied."""
    others = dict(settings)
    setting = others.pop("setting")
    values = others.pop(setting)
    sweeps = []
    for i, value in enumerate(values):

        def report(part: float, i: int = i) -> None:
            options.report((i + part) / len(values))

        own = replace(options, name=f"{options.name}-{value:g}", report=report)
        sweeps.append(run_sweep(graph, others | {setting: value}, own))
    return {"sweeps": sweeps}


def _find_checkpoint(graph: PaperGraph, settings: Settings, options: RunOptions) -> Path | None:
    if options.checkpoints is None:
        return None
    options.checkpoints.mkdir(parents=True, exist_ok=True)
    # Other settings, data or versions have another file, so that nothing has to be removed.
    identity = {"settings": settings, "seed": options.seed, "versions": collect_versions()}
    line = to_json_line(identity | {"data": graph.facts["sha256"]})
    digest = hashlib.sha256(line.encode()).hexdigest()
    return options.checkpoints / f"{options.name}-{digest[:10]}.jsonl"


def parse_sweep(results: Mapping[str, Any], settings: Settings) -> SweepResult:
    """Read the results of one sweep."""
    arrays = {name: np.array(results[name], dtype=np.float64) for name in _ARRAYS}
    seconds = np.full(len(results["gnmse"]), np.nan)
    return SweepResult(**arrays, seconds=seconds, settings=settings)


def parse_settings_sweep(results: Mapping[str, Any], settings: Settings) -> SettingsSweep:
    """Read the results of sweeps that differ in one setting."""
    sweeps = tuple(parse_sweep(sweep, settings) for sweep in results["sweeps"])
    setting = settings["setting"]
    return SettingsSweep(setting, tuple(settings[setting]), sweeps)


def estimate_cost(graph: PaperGraph, settings: Settings) -> float:
    """Estimate the seconds of sweeps from the number of sines that they take."""
    n_sines = settings["n_repeats"] * len(settings["sigma2"]) * graph.adjacency.shape[0]
    for name in ("n_frequencies", "n_epochs"):
        value = settings[name]
        n_sines *= sum(value) if isinstance(value, list) else value
    return float(n_sines * _COST_OF_SINES)


def make_sweep_table(sweep: SweepResult) -> list[list[Any]]:
    """Make the table of a curve: its mean, its standard error, and every repeat."""
    repeats = [f"repeat_{repeat}" for repeat in range(sweep.n_repeats)]
    columns = [sweep.sigma2, sweep.mean, sweep.standard_error, *sweep.gnmse]
    return [["sigma2", "mean", "standard_error", *repeats], *to_rows(columns)]


def compute_best_by_ed(sweep: SweepResult) -> float:
    """Compute the best variance of the mean curve, divided by the median σ²_ed."""
    return sweep.best_ / float(sweep.median_boundaries[1])


# One sweep for each data set, by its key.
SWEEPS = {
    data.key: Simulation(
        f"sweep-{data.key}",
        data.key,
        make_settings(data),
        run_sweep,
        parse_sweep,
        fast_settings=_make_fast_settings(data),
        estimate_cost=estimate_cost,
    )
    for data in DATA.values()
}
