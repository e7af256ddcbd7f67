"""Simulations and figures of the paper as data, and results from which all is drawn again."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._files import write_bytes
from gradraker.paper.paper_data import DATA, Floats, PaperGraph
from gradraker.plotting.figure import Display

Settings = dict[str, Any]
Table = list[list[Any]]
Results = dict[str, Any]  # as JSON can hold them
T = TypeVar("T")
# Cost of a simulation that takes a moment; about seconds.
_QUICK = 0.5
FORMAT = "gradraker reproduction 1"
_HEADER = {"parts", "fast", "random_state", "versions", "datasets", "simulations"}
_SIMULATION = {"dataset", "settings", "results"}


@dataclass(frozen=True)
class RunOptions:
    """How simulations are run; of these only the seed changes results."""

    seed: int = 0  # of splits and frequencies
    name: str = ""  # of the simulation, for file names
    n_jobs: int | None = None  # as in gradraker.sigma2_sweep
    checkpoints: Path | None = None  # folder for repeats of sweeps
    # Called with the part of the simulation that is done, from 0 to 1.
    report: Callable[[float], None] = lambda part: None


@dataclass(frozen=True, eq=False)
class Simulation(Generic[T]):
    """A simulation on one data set of the paper."""

    name: str  # in the results file
    data: str  # key of the data set
    settings: Settings  # the paper's, as JSON can hold them
    run: Callable[[PaperGraph, Settings, RunOptions], Results]
    # Returns the object that figures and claims use; by default the results themselves.
    parse: Callable[[Mapping[str, Any], Settings], T] = lambda results, settings: results  # type: ignore[assignment,return-value]
    fast_settings: Settings = field(default_factory=dict)  # that a quick look changes
    needs_values: bool = True  # whether the graph alone is not enough
    # Returns about how many seconds the simulation takes.
    estimate_cost: Callable[[PaperGraph, Settings], float] = lambda graph, settings: _QUICK

    def choose_settings(self, *, fast: bool) -> Settings:
        """Return the settings, with few repeats and variances if ``fast``."""
        return self.settings | (self.fast_settings if fast else {})


@dataclass(frozen=True, eq=False)
class PaperFigure(Generic[T]):
    """One figure, or one panel of a figure that has several."""

    name: str  # such as "fig6a": the name that --only takes, and that of the figure's files
    title: str  # heading on the page
    simulation: Simulation[T]  # whose results the others take
    draw: Callable[[T], Display]
    make_table: Callable[[T], Table]  # with a header row
    write_caption: Callable[[T], str]  # says what to see
    row: int  # of the page: figures with the same number stand side by side


def compute_pair_distances(
    rows: sp.csr_array,
) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Compute ‖a_i − a_j‖² of all i < j, with i and j; exact for integers, as in these graphs."""
    dense = rows.toarray()
    norms = np.square(dense).sum(axis=1)
    first, second = np.triu_indices(dense.shape[0], k=1)
    squared = norms[first] + norms[second] - 2.0 * (dense @ dense.T)[first, second]
    return squared, first, second


def to_json_line(content: Mapping[str, Any]) -> str:
    """Write one line of JSON; floats have all digits that it takes to read them back exactly."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def to_rows(columns: Sequence[Any]) -> list[list[float]]:
    """Turn columns of numbers into rows of a table."""
    rows: list[list[float]] = np.array(columns, dtype=np.float64).T.tolist()
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class PaperResults:
    """Results of the paper's simulations; not to be changed, since they are parsed once.

    Attributes
    ----------
    header : dict
        Seed, ``fast``, the names of the figures asked for, versions, and for each data set its
        counts and checksum, or how to get it.
    simulations : dict of str to dict
        For each simulation that was run its ``dataset``, ``settings`` and ``results``.

    Examples
    --------
    >>> from gradraker.paper import read_results
    >>> results = read_results("paper/results.jsonl")  # doctest: +SKIP
    """

    header: Mapping[str, Any]
    simulations: Mapping[str, Mapping[str, Any]]
    _parsed: dict[str, Any] = field(default_factory=dict, init=False)

    def has(self, name: str) -> bool:
        """Whether a simulation was run."""
        return name in self.simulations

    def get(self, simulation: Simulation[T]) -> T:
        """Return the results of a simulation as the object that figures and claims use."""
        if simulation.name not in self._parsed:
            found = self.simulations[simulation.name]
            settings = {"data": {"name": DATA[simulation.data].title}, **found["settings"]}
            self._parsed[simulation.name] = simulation.parse(found["results"], settings)
        parsed: T = self._parsed[simulation.name]
        return parsed

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON lines: the header, then one line per simulation; all or nothing."""
        names = list(self.simulations)
        lines = [to_json_line({"format": FORMAT, **self.header, "simulations": names})]
        for name, simulation in self.simulations.items():
            lines.append(to_json_line({"simulation": name, **simulation}))
        return write_bytes(path, "".join(lines).encode())

    def __repr__(self) -> str:
        return f"PaperResults of {', '.join(self.simulations)}"


def read_results(path: str | os.PathLike[str]) -> PaperResults:
    """Read a file that :meth:`PaperResults.save` wrote.

    Examples
    --------
    >>> from gradraker.paper import read_results
    >>> results = read_results("paper/results.jsonl")  # doctest: +SKIP
    """
    content = Path(path).read_bytes()
    try:
        header, *simulations = map(json.loads, content.splitlines())
        if header.pop("format") != FORMAT or not header.keys() >= _HEADER:
            raise KeyError("format")
        found = {simulation.pop("simulation"): simulation for simulation in simulations}
        if not all(simulation.keys() == _SIMULATION for simulation in found.values()):
            raise KeyError("simulation")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{str(path)!r} is not a results file: its first line must be a JSON object with "
            f"the format {FORMAT!r}, and each other line one with a simulation"
        ) from error
    if header.pop("simulations") != list(found):
        raise ValueError(
            f"{str(path)!r} is incomplete: it does not hold the simulations that its first line "
            "names; run 'gradraker reproduce' again"
        )
    return PaperResults(header, found)
