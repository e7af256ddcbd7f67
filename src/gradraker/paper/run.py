"""Run the paper's simulations; what was done before is not done again."""

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gradraker.exceptions import DatasetFileError
from gradraker.paper import simulations
from gradraker.paper.data import DATA, Loaded, how_to_get, load_data
from gradraker.paper.plan import PARTS, SIMULATIONS, Simulation, chosen_parts
from gradraker.paper.records import sweep_record
from gradraker.paper.results import PaperResults, json_line
from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.variance_sweep import sigma2_sweep
from gradraker.sweep.versions import collect_versions

Progress = Callable[[str, float, float], None]

# Cost of a simulation that is no sweep, and of a sine and cosine of one; about seconds.
_COST = 0.5
_COST_OF_SINES = 2e-9


def run_paper(
    only: Iterable[str] | None = None,
    *,
    fast: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    download: bool = False,
    checkpoints: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PaperResults:
    """Run the simulations of the paper's sections III to VI.

    Parameters
    ----------
    only : iterable of str, optional
        Names of figures, such as "fig6a" or "fig3"; by default everything.
    fast : bool, default=False
        Few repeats and variances, for a look in seconds.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        As in :func:`gradraker.sigma2_sweep`; results do not depend on it.
    download : bool, default=False
        Whether data sets that are not at hand are downloaded.
    checkpoints : path-like, optional
        Folder in which repeats of sweeps are kept as they are done; the same call goes on there.
    progress : callable, optional
        Called with what is being done, the cost of what is done, and the cost of everything.

    Returns
    -------
    PaperResults

    Examples
    --------
    >>> from gradraker.paper import run_paper
    >>> run_paper(["fig3", "fig6b"], fast=True)
    PaperResults of weights, sweep-temperature-weighted
    """
    parts = chosen_parts(only)
    wanted = {name for part in parts for name in PARTS[part]}
    chosen = [simulation for name, simulation in SIMULATIONS.items() if name in wanted]
    loaded, facts = _load_all(chosen, download=download)
    possible = [simulation for simulation in chosen if _can_run(simulation, loaded)]
    settings = {simulation.name: simulation.chosen(fast=fast) for simulation in possible}
    costs = {
        simulation.name: _cost(simulation, settings[simulation.name], loaded[simulation.data])
        for simulation in possible
    }
    total, before = sum(costs.values()), 0.0
    found = {}
    for simulation in possible:
        name, cost, start = simulation.name, costs[simulation.name], before

        def report(part: float, name: str = name, cost: float = cost, start: float = start) -> None:
            if progress is not None:
                progress(name, start + part * cost, total)

        report(0.0)
        runner = _Runner(loaded[simulation.data], random_state, n_jobs, checkpoints, report)
        found[name] = {
            "dataset": simulation.data,
            "settings": settings[name] | {"random_state": random_state},
            "results": runner.run(simulation, settings[name]),
        }
        before += cost
        report(1.0)
    header = {
        "parts": parts,
        "fast": fast,
        "random_state": random_state,
        "versions": collect_versions(),
        "datasets": facts,
    }
    return PaperResults(header, found)


class _Runner:
    def __init__(
        self,
        loaded: Loaded,
        seed: int,
        n_jobs: int | None,
        checkpoints: str | os.PathLike[str] | None,
        report: Callable[[float], None],
    ) -> None:
        self.loaded = loaded
        self.seed = seed
        self.n_jobs = n_jobs
        self.checkpoints = None if checkpoints is None else Path(checkpoints)
        self.report = report

    def run(self, simulation: Simulation, settings: dict[str, Any]) -> dict[str, Any]:
        """Results of one simulation."""
        if simulation.kind == "sweep":
            return sweep_record(self.sweep(simulation.name, settings, self.report))
        if simulation.kind == "sweeps":
            return self.sweeps(simulation.name, settings)
        results: dict[str, Any] = getattr(simulations, simulation.kind)(
            self.loaded, settings, self.seed
        )
        return results

    def sweeps(self, name: str, settings: dict[str, Any]) -> dict[str, Any]:
        """One sweep for each value of the setting that is varied."""
        given = dict(settings)
        setting = given.pop("setting")
        values = given.pop(setting)
        found = []
        for i, value in enumerate(values):

            def report(part: float, i: int = i) -> None:
                self.report((i + part) / len(values))

            sweep = self.sweep(f"{name}-{value:g}", given | {setting: value}, report)
            found.append(sweep_record(sweep))
        return {"sweeps": found}

    def sweep(
        self, name: str, settings: dict[str, Any], report: Callable[[float], None]
    ) -> SweepResult:
        assert self.loaded.dataset is not None
        return sigma2_sweep(
            self.loaded.dataset,
            **settings,
            random_state=self.seed,
            n_jobs=self.n_jobs,
            checkpoint=self._checkpoint(name, settings),
            progress=lambda _, done, n_repeats: report(done / n_repeats),
        )

    def _checkpoint(self, name: str, settings: dict[str, Any]) -> Path | None:
        if self.checkpoints is None:
            return None
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        # Other settings, data or versions have another file, so that nothing has to be removed.
        what = {"settings": settings, "seed": self.seed, "versions": collect_versions()}
        line = json_line(what | {"data": self.loaded.facts["sha256"]})
        digest = hashlib.sha256(line.encode()).hexdigest()
        return self.checkpoints / f"{name}-{digest[:10]}.jsonl"


def _load_all(
    chosen: list[Simulation], *, download: bool
) -> tuple[dict[str, Loaded], dict[str, dict[str, Any]]]:
    """Data sets that are at hand, and what is to be told about all that are needed."""
    loaded: dict[str, Loaded] = {}
    facts: dict[str, dict[str, Any]] = {}
    for key in DATA:
        if all(simulation.data != key for simulation in chosen):
            continue
        facts[key] = {"title": DATA[key].title}
        try:
            found = load_data(key, download=download)
        except DatasetFileError as error:
            facts[key] |= {"problem": "cannot be read", "missing": str(error)}
            continue
        if found is not None:
            loaded[key] = found
            facts[key] |= found.facts
        if found is None or found.values is None:
            problem = "could not be downloaded" if download else "are not at hand"
            facts[key] |= {"problem": problem, "missing": how_to_get(key)}
    return loaded, facts


def _can_run(simulation: Simulation, loaded: dict[str, Loaded]) -> bool:
    if simulation.data not in loaded:
        return False
    return simulation.kind == "distances" or loaded[simulation.data].values is not None


def _cost(simulation: Simulation, settings: dict[str, Any], loaded: Loaded) -> float:
    if simulation.kind not in ("sweep", "sweeps"):
        return _COST
    n_sines = settings["n_repeats"] * len(settings["sigma2"]) * loaded.adjacency.shape[0]
    for name in ("n_frequencies", "n_epochs"):
        value = settings[name]
        n_sines *= sum(value) if isinstance(value, list) else value
    return float(n_sines * _COST_OF_SINES)
