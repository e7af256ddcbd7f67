"""The parts of a figure's file: simulations and how they are run, figures and how to draw them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.paper.paper_data import Floats, PaperGraph
from gradraker.plotting.figure import Display

Settings = dict[str, Any]
Table = list[list[Any]]
T = TypeVar("T")

# Cost of a simulation that takes a moment; about seconds.
_QUICK = 0.5


@dataclass(frozen=True)
class RunOptions:
    """How simulations are run; of these only the seed changes results.

    Attributes
    ----------
    seed : int
        Seed of splits and frequencies.
    name : str
        Name of the simulation, for file names.
    n_jobs : int, optional
        As in :func:`gradraker.sigma2_sweep`.
    checkpoints : Path, optional
        Folder for repeats of sweeps.
    report : callable
        Called with the part of the simulation that is done, from 0 to 1.
    """

    seed: int = 0
    name: str = ""
    n_jobs: int | None = None
    checkpoints: Path | None = None
    report: Callable[[float], None] = lambda part: None


@dataclass(frozen=True, eq=False)
class Simulation(Generic[T]):
    """A simulation on one data set of the paper.

    Attributes
    ----------
    name : str
        Name in the results file.
    data : str
        Key of the data set.
    settings : dict
        The paper's settings, as JSON can hold them.
    run : callable
        Takes a graph, settings and options, and returns results that JSON can hold.
    parse : callable
        Takes these results and the settings, and returns the object that figures and claims use;
        by default the results themselves.
    fast_settings : dict
        Settings that a quick look changes.
    needs_values : bool
        Whether the graph alone is not enough.
    estimate_cost : callable
        Takes a graph and settings, and returns about how many seconds the simulation takes.
    """

    name: str
    data: str
    settings: Settings
    run: Callable[[PaperGraph, Settings, RunOptions], dict[str, Any]]
    parse: Callable[[Mapping[str, Any], Settings], T] = lambda results, settings: results  # type: ignore[assignment,return-value]
    fast_settings: Settings = field(default_factory=dict)
    needs_values: bool = True
    estimate_cost: Callable[[PaperGraph, Settings], float] = lambda graph, settings: _QUICK

    def choose_settings(self, *, fast: bool) -> Settings:
        """Return the settings, with few repeats and variances if ``fast``."""
        return self.settings | (self.fast_settings if fast else {})


@dataclass(frozen=True, eq=False)
class PaperFigure(Generic[T]):
    """One figure, or one panel of a figure that has several.

    Attributes
    ----------
    name : str
        Such as "fig6a": the name that ``--only`` takes, and that of the figure's files.
    title : str
        Heading on the page.
    simulation : Simulation
        The simulation whose results it shows.
    draw, make_table, write_caption : callable
        Take these results. The table has a header row; the caption says what to see.
    row : int
        Row of the page: figures with the same number stand side by side.
    """

    name: str
    title: str
    simulation: Simulation[T]
    draw: Callable[[T], Display]
    make_table: Callable[[T], Table]
    write_caption: Callable[[T], str]
    row: int


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
