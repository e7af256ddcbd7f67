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
Results = dict[str, Any]  # as JSON can hold them
T = TypeVar("T")

# Cost of a simulation that takes a moment; about seconds.
_QUICK = 0.5


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
