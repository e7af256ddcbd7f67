"""The paper's data sets: loaded where they are at hand, otherwise named with how to get them."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets import DatasetInfo, GraphDataset, temperature
from gradraker.datasets.fetch import cora, email, wikipedia
from gradraker.exceptions import DatasetUnavailableError
from gradraker.models import SKGRegressor
from gradraker.sweep.repeat import draw_repeat

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Settings of a simulation that are parameters of the learner.
_NAMES = ("sigma2", "n_frequencies", "learning_rate", "n_epochs")


@dataclass(frozen=True)
class PaperData:
    """One graph of the paper, with the paper's settings and results on it (section V.E)."""

    key: str  # name in the paper room
    title: str  # name in the paper
    info: DatasetInfo
    # Returns the data set, or its graph alone; called with whether to download it.
    load: Callable[[bool], GraphDataset | sp.csr_array]
    n_frequencies: int
    learning_rate: float
    n_repeats: int
    sigma2: tuple[float, float]  # ends of a grid of variances that has all four ranges in it
    # Largest ‖d‖² and σ²_ed, as printed: their last digit says how exact they are.
    largest_distance: str
    sigma2_ed: str
    n_epochs: int = 3
    fraction: float = 0.4

    @property
    def learner_settings(self) -> dict[str, Any]:
        """D, η and E."""
        return {name: getattr(self, name) for name in _NAMES[1:]}


class Split(NamedTuple):
    """Known and unknown nodes of one repeat, a seed, and adjacency vectors to the known nodes."""

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
        given = {name: value for name, value in {**settings, **changes}.items() if name in _NAMES}
        known_values = np.zeros(self.known.size) if y is None else y[self.known]
        return SKGRegressor(**given, random_state=self.seed).fit(self.X[self.known], known_values)


@dataclass(frozen=True, eq=False)
class PaperGraph:
    """A graph that is at hand, its values where they are at hand too, and facts to identify it."""

    adjacency: sp.csr_array
    values: Floats | None
    dataset: GraphDataset | None
    facts: dict[str, Any]

    def draw_split(self, fraction: float, seed: int, repeat: int) -> Split:
        """Draw the split that repeat ``repeat`` of a sweep over the same graph has.

        The known nodes are the referencing nodes too.
        """
        n = self.adjacency.shape[0]
        draw = draw_repeat(n, round_down_fraction(fraction, n), seed, repeat)
        return Split(draw.known, draw.unknown, draw.seed, self.adjacency[:, draw.known])

    def draw_splits(self, settings: Mapping[str, Any], seed: int) -> Iterator[Split]:
        """Draw the splits of all repeats that the settings of a simulation ask for."""
        for repeat in range(settings["n_repeats"]):
            yield self.draw_split(settings["fraction"], seed, repeat)


def round_down_fraction(fraction: float, n: int) -> float:
    """Return the part of n nodes that makes a whole number of nodes, rounded down.

    The paper's 40 % of 83 and of 2222 nodes are 33 and 888: 33.2 and 888.8 rounded down.

    Examples
    --------
    >>> round(2222 * round_down_fraction(0.4, 2222)), round(1005 * round_down_fraction(0.4, 1005))
    (888, 402)
    """
    # The product of 0.4 and a multiple of 5 may lie just below a whole number.
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
    """Load a data set of the paper; None if its files are not at hand."""
    try:
        found = DATA[key].load(download)
    except DatasetUnavailableError:
        return None
    if isinstance(found, GraphDataset):
        adjacency, values, dataset = found.adjacency, found.scale_values(), found
    else:
        adjacency, values, dataset = found, None, None
    info = DATA[key].info
    is_embedded = info is temperature.INFO
    facts = {
        "nodes": int(adjacency.shape[0]),
        "edges": int(adjacency.nnz),
        "values": values is not None,
        # The loader has compared these counts with the files.
        "counts": temperature.count_stations() if is_embedded else dict(info.facts),
        "sha256": compute_checksum(adjacency, values),
        "licence": info.licence,
    }
    return PaperGraph(adjacency, values, dataset, facts)


def compute_checksum(adjacency: sp.csr_array, values: Floats | None) -> str:
    """Compute the SHA-256 of a graph and its values, whatever files they were read from."""
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
    """Say how to get the files of a data set; the text is the same on every machine.

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
