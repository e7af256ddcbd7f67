"""Everything that can be asked for, and running it; finished repeats are not run again."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradraker.exceptions import DatasetFileError, UnknownFigureError
from gradraker.paper.claims import Finding, check_claims
from gradraker.paper.figures import CLAIMS as FIGURE_CLAIMS
from gradraker.paper.figures import FIGURES
from gradraker.paper.figures.fig2 import WEIGHTS
from gradraker.paper.figures.fig7_8 import PAPER_PAIRS, STATION_PAIRS
from gradraker.paper.numbers import CLAIMS as NUMBER_CLAIMS
from gradraker.paper.numbers import SIMULATIONS as NUMBER_SIMULATIONS
from gradraker.paper.numbers.section_v import SIMILARITIES
from gradraker.paper.paper_data import DATA, PaperGraph, describe_source, load_data
from gradraker.paper.simulations import PaperResults, RunOptions, Simulation
from gradraker.sweep.versions import VERSIONS

Progress = Callable[[str, float, float], None]

# The order in which simulations are run and written: quick ones first, then the sweeps.
_ORDER: tuple[Simulation[Any], ...] = (
    WEIGHTS,
    SIMILARITIES,
    STATION_PAIRS,
    PAPER_PAIRS,
    *NUMBER_SIMULATIONS,
    *(figure.simulation for figure in FIGURES.values()),
)
SIMULATIONS: dict[str, Simulation[Any]] = {simulation.name: simulation for simulation in _ORDER}

# Names that ``--only`` takes, with the simulations that they need.
PARTS: dict[str, tuple[str, ...]] = {
    **{name: (figure.simulation.name,) for name, figure in FIGURES.items()},
    "numbers": tuple(simulation.name for simulation in NUMBER_SIMULATIONS),
}

# In the paper's order: the names of sections II to VI are in alphabetical order.
CLAIMS = tuple(
    sorted((*FIGURE_CLAIMS, *NUMBER_CLAIMS), key=lambda claim: claim.place.partition(",")[0])
)


def choose_parts(names: Iterable[str] | None) -> list[str]:
    """Choose parts by name, in the paper's order; "fig3" is all of figure 3, None everything.

    Examples
    --------
    >>> choose_parts(["fig6b", "fig3"])
    ['fig3a', 'fig3b', 'fig3c', 'fig3d', 'fig6b']
    >>> choose_parts(["fig9"])
    Traceback (most recent call last):
    ...
    gradraker.exceptions.UnknownFigureError: only: there is no 'fig9'; it must be some of fig1, ...
    """
    if names is None:
        return list(PARTS)
    wanted: set[str] = set()
    for name in names:
        found = [part for part in PARTS if name in (part, _get_figure_name(part))]
        if not found:
            known = dict.fromkeys(word for part in PARTS for word in (_get_figure_name(part), part))
            raise UnknownFigureError(name, tuple(known))
        wanted.update(found)
    return [part for part in PARTS if part in wanted]


def _get_figure_name(part: str) -> str:
    """Return the name of the figure that a panel is part of, or the part itself."""
    return part.rstrip("abcde") if part.startswith("fig") else part


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
    """Run the simulations of the paper's sections II to VI.

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
        Whether to download data sets that are not at hand.
    checkpoints : path-like, optional
        Folder that keeps repeats of sweeps as they are done; the same call continues from there.
    progress : callable, optional
        Called with the name of a simulation, the cost of the work done, and that of all work.

    Returns
    -------
    PaperResults

    Raises
    ------
    UnknownFigureError
        If a name is not that of a figure.

    Examples
    --------
    >>> from gradraker.paper import run_paper
    >>> run_paper(["fig3", "fig6b"], fast=True)
    PaperResults of weights, sweep-temperature-weighted
    """
    parts = choose_parts(only)
    wanted = {name for part in parts for name in PARTS[part]}
    chosen = [simulation for name, simulation in SIMULATIONS.items() if name in wanted]
    graphs, facts = _load_graphs(chosen, download=download)
    folder = None if checkpoints is None else Path(checkpoints)
    options = RunOptions(random_state, n_jobs=n_jobs, checkpoints=folder)
    simulations = [simulation for simulation in chosen if _can_run(simulation, graphs)]
    header = {
        "parts": parts,
        "fast": fast,
        "random_state": random_state,
        "versions": VERSIONS,
        "datasets": facts,
    }
    return PaperResults(header, _run_all(simulations, graphs, options, fast, progress))


def _run_all(
    simulations: list[Simulation[Any]],
    graphs: dict[str, PaperGraph],
    options: RunOptions,
    fast: bool,
    progress: Progress | None,
) -> dict[str, dict[str, Any]]:
    settings = [simulation.choose_settings(fast=fast) for simulation in simulations]
    costs = [
        simulation.estimate_cost(graphs[simulation.data], own)
        for simulation, own in zip(simulations, settings, strict=True)
    ]
    total, before = sum(costs), 0.0
    found = {}
    for simulation, own, cost in zip(simulations, settings, costs, strict=True):

        def report(
            part: float, name: str = simulation.name, cost: float = cost, before: float = before
        ) -> None:
            if progress is not None:
                progress(name, before + part * cost, total)

        report(0.0)
        found[simulation.name] = {
            "dataset": simulation.data,
            "settings": own | {"random_state": options.seed},
            "results": simulation.run(
                graphs[simulation.data],
                own,
                replace(options, name=simulation.name, report=report),
            ),
        }
        report(1.0)
        before += cost
    return found


def _load_graphs(
    simulations: list[Simulation[Any]], *, download: bool
) -> tuple[dict[str, PaperGraph], dict[str, dict[str, Any]]]:
    """Load the data sets that are at hand, and collect facts on all that are needed."""
    graphs: dict[str, PaperGraph] = {}
    facts: dict[str, dict[str, Any]] = {}
    for key in DATA:
        if all(simulation.data != key for simulation in simulations):
            continue
        facts[key] = {"title": DATA[key].title}
        try:
            graph = load_data(key, download=download)
        except DatasetFileError as error:
            facts[key] |= {"problem": "cannot be read", "missing": str(error)}
            continue
        if graph is not None:
            graphs[key] = graph
            facts[key] |= graph.facts
        if graph is None or graph.values is None:
            problem = "could not be downloaded" if download else "are not at hand"
            facts[key] |= {"problem": problem, "missing": describe_source(key)}
    return graphs, facts


def _can_run(simulation: Simulation[Any], graphs: dict[str, PaperGraph]) -> bool:
    graph = graphs.get(simulation.data)
    return graph is not None and not (simulation.needs_values and graph.values is None)


def compare_with_paper(results: PaperResults) -> list[Finding]:
    """Compare every number and statement of the paper with the results.

    Claims whose simulations were not asked for are left out; those whose data set is not at hand
    cannot be checked.

    Examples
    --------
    >>> from gradraker.paper import compare_with_paper, read_results
    >>> findings = compare_with_paper(read_results("paper/results.jsonl"))  # doctest: +SKIP
    """
    return check_claims(CLAIMS, results)
