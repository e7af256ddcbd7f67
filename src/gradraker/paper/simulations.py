"""The paper's data sets, simulations and figures, and the results of a run."""

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._files import write_bytes
from gradraker.datasets import DatasetInfo, GraphDataset, temperature
from gradraker.datasets.fetch import cora, email, wikipedia
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError
from gradraker.models import SKGRegressor
from gradraker.plotting.figure import Display
from gradraker.sweep.sweep_result import draw_repeat
from gradraker.sweep.versions import VERSIONS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Settings of a simulation that are parameters of the learner.
_LEARNER_SETTINGS = ("sigma2", "n_frequencies", "learning_rate", "n_epochs")

Settings = dict[str, Any]
Table = list[list[Any]]
Results = dict[str, Any]  # ready for JSON
Progress = Callable[[str, float, float], None]
T = TypeVar("T")
# Cost of a quick simulation, in seconds.
_QUICK_COST = 0.5
FORMAT = "gradraker reproduction 1"
_HEADER = {"parts", "fast", "random_state", "versions", "datasets", "simulations"}
_SIMULATION = {"dataset", "settings", "results"}


@dataclass(frozen=True)
class PaperData:
    """One graph of the paper, with the paper's settings and results on it (section V.E)."""

    key: str  # name in gradraker.paper
    title: str  # name in the paper
    info: DatasetInfo
    # Returns the data set, or its graph alone; called with whether to download it.
    load: Callable[[bool], GraphDataset | sp.csr_array]
    n_frequencies: int
    learning_rate: float
    n_repeats: int
    sigma2: tuple[float, float]  # ends of a grid of variances that covers all four ranges
    # Largest ‖d‖² and σ²_ed, as printed: their digits give their precision.
    largest_distance: str
    sigma2_ed: str
    n_epochs: int = 3
    fraction: float = 0.4

    @property
    def learner_settings(self) -> dict[str, Any]:
        """D, η and E."""
        return {name: getattr(self, name) for name in _LEARNER_SETTINGS[1:]}


class Split(NamedTuple):
    """Known and unknown nodes of one repeat, its seed, and adjacency vectors to the known nodes."""

    known: Integers
    unknown: Integers
    seed: int
    X: sp.csr_array  # [n, M]

    def fit_learner(
        self, y: Floats | None, settings: Mapping[str, Any], **changes: Any
    ) -> SKGRegressor:
        """Train SKG on the known nodes, with the settings of a simulation and ``changes`` to them.

        ``y`` are the values of all nodes; None for a model whose values do not matter.
        """
        options = {n: v for n, v in {**settings, **changes}.items() if n in _LEARNER_SETTINGS}
        known_values = np.zeros(self.known.size) if y is None else y[self.known]
        return SKGRegressor(**options, random_state=self.seed).fit(self.X[self.known], known_values)


@dataclass(frozen=True, eq=False)
class PaperGraph:
    """An available graph, its values if they are available too, and facts to identify it."""

    adjacency: sp.csr_array
    values: Floats | None
    dataset: GraphDataset | None
    facts: dict[str, Any]

    def draw_split(self, fraction: float, seed: int, repeat: int) -> Split:
        """Draw the same split as repeat ``repeat`` of a sweep over the graph.

        The known nodes are the referencing nodes too.
        """
        n = self.adjacency.shape[0]
        draw = draw_repeat(n, round_down_fraction(fraction, n), seed, repeat)
        return Split(draw.known, draw.unknown, draw.seed, self.adjacency[:, draw.known])

    def draw_splits(self, settings: Mapping[str, Any], seed: int) -> Iterator[Split]:
        """Draw the splits of all repeats of a simulation."""
        for repeat in range(settings["n_repeats"]):
            yield self.draw_split(settings["fraction"], seed, repeat)


def round_down_fraction(fraction: float, n: int) -> float:
    """Round a fraction down to a whole number of n nodes.

    The paper's 40 % of 83 and of 2222 nodes are 33 and 888: 33.2 and 888.8 rounded down.

    Examples
    --------
    >>> round(2222 * round_down_fraction(0.4, 2222)), round(1005 * round_down_fraction(0.4, 1005))
    (888, 402)
    """
    # Rounding errors may put 0.4 times a multiple of 5 just below a whole number.
    return math.floor(fraction * n + 1e-9) / n


def _load_wikipedia(download: bool) -> GraphDataset | sp.csr_array:
    try:
        return wikipedia.fetch_wikipedia_math("2019-03-16", download=download)
    except DatasetUnavailableError:
        return wikipedia.fetch_wikipedia_math_graph(download=download)


DATA = {
    data.key: data
    for data in (
        PaperData(
            "temperature",
            "Temperature-Jan",
            temperature.INFO,
            lambda download: temperature.load_temperature("jan"),
            n_frequencies=200,
            learning_rate=0.1,
            n_repeats=50,
            sigma2=(0.02, 2e3),
            largest_distance="27",
            sigma2_ed="5.86",
        ),
        PaperData(
            "temperature-weighted",
            "Temperature-Jan, weighted",
            temperature.INFO,
            # "The second graph is the same except that weights …": one rule for self loops in both.
            lambda download: temperature.load_temperature("jan", weighted=True),
            n_frequencies=200,
            learning_rate=0.1,
            n_repeats=50,
            sigma2=(0.02, 2e3),
            largest_distance="12.49",
            sigma2_ed="2.08",
        ),
        PaperData(
            "cora",
            "Cora-Con",
            cora.INFO,
            lambda download: cora.fetch_cora_con(download=download),
            n_frequencies=888,
            learning_rate=0.05,
            n_repeats=30,
            sigma2=(0.01, 1e3),
            largest_distance="8",
            sigma2_ed="1.05",
        ),
        PaperData(
            "email",
            "Email-EU-Core",
            email.INFO,
            lambda download: email.fetch_email_eu_core(download=download),
            n_frequencies=403,
            learning_rate=0.05,
            n_repeats=50,
            sigma2=(0.1, 1e4),
            largest_distance="107",
            sigma2_ed="15.29",
        ),
        PaperData(
            "wikipedia",
            "Wikipedia-Math-Daily",
            wikipedia.INFO,
            _load_wikipedia,
            n_frequencies=500,
            learning_rate=0.03,
            n_repeats=50,
            sigma2=(0.2, 2e4),
            largest_distance="671",
            sigma2_ed="95.67",
        ),
    )
}


def load_data(key: str, *, download: bool) -> PaperGraph | None:
    """Load a data set of the paper; None if its files are missing."""
    info = DATA[key].info
    if not download and info.files and not info.find_folder(None).is_dir():
        return None
    try:
        found = DATA[key].load(download)
    except DatasetUnavailableError:
        return None
    if isinstance(found, GraphDataset):
        adjacency, values, dataset = found.adjacency, found.scale_values(), found
    else:
        adjacency, values, dataset = found, None, None
    is_embedded = info is temperature.INFO
    facts = {
        "nodes": int(adjacency.shape[0]),
        "edges": int(adjacency.nnz),
        "values": values is not None,
        # The loader has checked these counts against the files.
        "counts": temperature.count_stations() if is_embedded else dict(info.facts),
        "sha256": compute_checksum(adjacency, values),
        "licence": info.licence,
    }
    return PaperGraph(adjacency, values, dataset, facts)


def compute_checksum(adjacency: sp.csr_array, values: Floats | None) -> str:
    """Compute the SHA-256 of a graph and its values, independent of their file format."""
    digest = hashlib.sha256()
    for part, kind in (
        (adjacency.indptr, "<i8"),
        (adjacency.indices, "<i8"),
        (adjacency.data, "<f8"),
        *(() if values is None else ((values, "<f8"),)),
    ):
        digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


def describe_source(key: str) -> str:
    """Describe how to get the files of a data set; the text is the same on every machine.

    Examples
    --------
    >>> describe_source("email").split(":")[0]
    "'gradraker reproduce --download' or 'gradraker data fetch email_eu_core' gets it from https"
    """
    info = DATA[key].info
    urls = list(dict.fromkeys(file.url for file in info.files))
    return (
        f"'gradraker reproduce --download' or 'gradraker data fetch {info.name}' gets it from "
        f"{' and '.join(urls)}; or put {' and '.join(file.name for file in info.files)} into "
        f"the folder {info.name} of GRADRAKER_DATA"
    )


# -- simulations and figures -----------------------------------------------------------------------


@dataclass(frozen=True)
class RunOptions:
    """How simulations are run; of these only the seed changes results."""

    seed: int = 0  # of splits and frequencies
    name: str = ""  # of the simulation, for file names
    n_jobs: int | None = None  # as in gradraker.sigma2_sweep
    checkpoints: Path | None = None  # folder for repeats of sweeps
    # Called with the finished part of the simulation, from 0 to 1.
    report: Callable[[float], None] = lambda part: None


@dataclass(frozen=True, eq=False)
class Simulation(Generic[T]):
    """A simulation on one data set of the paper."""

    name: str  # in the results file
    data: str  # key of the data set
    settings: Settings  # the paper's, ready for JSON
    run: Callable[[PaperGraph, Settings, RunOptions], Results]
    # Returns the object that figures and claims use; by default the results themselves.
    parse: Callable[[Mapping[str, Any], Settings], T] = lambda results, settings: results  # type: ignore[assignment,return-value]
    fast_settings: Settings = field(default_factory=dict)  # changes of ``fast``
    needs_values: bool = True  # whether the graph alone is not enough
    # Returns the approximate seconds that the simulation takes.
    estimate_cost: Callable[[PaperGraph, Settings], float] = lambda graph, settings: _QUICK_COST

    def choose_settings(self, *, fast: bool) -> Settings:
        """Return the settings, with few repeats and variances if ``fast``."""
        return self.settings | (self.fast_settings if fast else {})


@dataclass(frozen=True, eq=False)
class PaperFigure(Generic[T]):
    """One figure, or one panel of a figure that has several."""

    name: str  # such as "fig6a": the name that --only takes, and that of the figure's files
    title: str  # heading on the page
    simulation: Simulation[T]  # its results are the argument of the functions below
    draw: Callable[[T], Display]
    make_table: Callable[[T], Table]  # with a header row
    write_caption: Callable[[T], str]
    row: int  # on the page: figures with the same number are side by side


def compute_pair_distances(rows: sp.csr_array) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Compute ‖a_i − a_j‖² of all i < j, with i and j; exact for integers, as in these graphs."""
    dense = rows.toarray()
    norms = np.square(dense).sum(axis=1)
    first, second = np.triu_indices(dense.shape[0], k=1)
    squared = norms[first] + norms[second] - 2.0 * (dense @ dense.T)[first, second]
    return squared, first, second


def to_json_line(content: Mapping[str, Any]) -> str:
    """Write one line of JSON; floats can be read back exactly."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def to_rows(columns: Sequence[Any]) -> list[list[float]]:
    """Turn columns of numbers into rows of a table."""
    rows: list[list[float]] = np.array(columns, dtype=np.float64).T.tolist()
    return rows


def to_csv(table: Table) -> str:
    """Write a table as CSV; missing numbers are empty."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(
        ["" if cell is None or cell != cell else cell for cell in row] for row in table
    )
    return buffer.getvalue()


# -- results ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class PaperResults:
    """Results of the paper's simulations; do not change them, since they are parsed only once.

    Attributes
    ----------
    header : dict
        Seed, ``fast``, the names of the requested figures, versions, and for each data set its
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
        """Write JSON lines atomically: the header, then one line per simulation."""
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


# -- running ---------------------------------------------------------------------------------------


def run_simulations(
    chosen: list[Simulation[Any]],
    options: RunOptions,
    *,
    parts: list[str],
    fast: bool,
    download: bool,
    progress: Progress | None,
) -> PaperResults:
    """Run the simulations whose data are available; ``parts`` are the requested names."""
    graphs, facts = _load_graphs(chosen, download=download)
    simulations = [simulation for simulation in chosen if _can_run(simulation, graphs)]
    settings = [simulation.choose_settings(fast=fast) for simulation in simulations]
    costs = [
        simulation.estimate_cost(graphs[simulation.data], setting)
        for simulation, setting in zip(simulations, settings, strict=True)
    ]
    total, before = sum(costs), 0.0
    found = {}
    for simulation, setting, cost in zip(simulations, settings, costs, strict=True):

        def report(
            part: float, name: str = simulation.name, cost: float = cost, before: float = before
        ) -> None:
            if progress is not None:
                progress(name, before + part * cost, total)

        report(0.0)
        found[simulation.name] = {
            "dataset": simulation.data,
            "settings": setting | {"random_state": options.seed},
            "results": simulation.run(
                graphs[simulation.data],
                setting,
                replace(options, name=simulation.name, report=report),
            ),
        }
        report(1.0)
        before += cost
    header = {
        "parts": parts,
        "fast": fast,
        "random_state": options.seed,
        "versions": VERSIONS,
        "datasets": facts,
    }
    return PaperResults(header, found)


def _load_graphs(
    simulations: list[Simulation[Any]], *, download: bool
) -> tuple[dict[str, PaperGraph], dict[str, dict[str, Any]]]:
    """Load the available data sets, and collect facts about all that are needed."""
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
