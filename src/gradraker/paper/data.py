"""The paper's data sets: loaded where they are at hand, else named with how to get them."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets import (
    GraphDataset,
    describe_dataset,
    fetch_cora_con,
    fetch_email_eu_core,
    fetch_wikipedia_math,
    fetch_wikipedia_math_graph,
    load_temperature,
)
from gradraker.datasets.temperature import count_stations
from gradraker.exceptions import DatasetUnavailableError


@dataclass(frozen=True)
class PaperData:
    """One graph of the paper and the paper's settings on it (section V.E).

    ``sigma2`` are the ends of the grid of variances, chosen so that all four ranges are in it.
    """

    key: str
    title: str
    registered: str
    load: Callable[[bool], GraphDataset | sp.csr_array]
    n_frequencies: int
    learning_rate: float
    n_repeats: int
    sigma2: tuple[float, float]
    n_epochs: int = 3
    fraction: float = 0.4


@dataclass(frozen=True, eq=False)
class Loaded:
    """A graph that is at hand, values that may be, and what they are recognised by."""

    adjacency: sp.csr_array
    values: NDArray[np.float64] | None
    dataset: GraphDataset | None
    facts: dict[str, Any]


def _temperature(_: bool) -> GraphDataset:
    return load_temperature("jan")


def _temperature_weighted(_: bool) -> GraphDataset:
    # The largest distance that the paper prints fits a graph without self loops.
    return load_temperature("jan", weighted=True, self_loops=False)


def _cora(download: bool) -> GraphDataset:
    return fetch_cora_con(download=download)


def _email(download: bool) -> GraphDataset:
    return fetch_email_eu_core(download=download)


def _wikipedia(download: bool) -> GraphDataset | sp.csr_array:
    try:
        return fetch_wikipedia_math("2019-03-16", download=download)
    except DatasetUnavailableError:
        return fetch_wikipedia_math_graph(download=download)


DATA = {
    data.key: data
    for data in (
        PaperData(
            "temperature", "Temperature-Jan", "temperature", _temperature, 200, 0.1, 50, (0.02, 2e3)
        ),
        PaperData(
            "temperature-weighted",
            "Temperature-Jan, weighted",
            "temperature",
            _temperature_weighted,
            200,
            0.1,
            50,
            (0.02, 2e3),
        ),
        PaperData("cora", "Cora-Con", "cora", _cora, 888, 0.05, 30, (0.01, 1e3)),
        PaperData("email", "Email-EU-Core", "email_eu_core", _email, 403, 0.05, 50, (0.1, 1e4)),
        PaperData(
            "wikipedia",
            "Wikipedia-Math-Daily",
            "wikipedia_math",
            _wikipedia,
            500,
            0.03,
            50,
            (0.2, 2e4),
        ),
    )
}


def load_data(key: str, *, download: bool) -> Loaded | None:
    """Load a data set of the paper; None where its files are not at hand."""
    try:
        found = DATA[key].load(download)
    except DatasetUnavailableError:
        return None
    if isinstance(found, GraphDataset):
        adjacency, values, dataset = found.adjacency, found.scaled_values(), found
    else:
        adjacency, values, dataset = found, None, None
    info = describe_dataset(DATA[key].registered)
    counts: dict[str, int] = dict(info.facts)
    if DATA[key].registered == "temperature":
        counts = count_stations()
    facts = {
        "nodes": int(adjacency.shape[0]),
        "edges": int(adjacency.nnz),
        "values": values is not None,
        # Counts that the loader has compared with the files.
        "counts": counts,
        "sha256": checksum(adjacency, values),
        "licence": info.licence,
    }
    return Loaded(adjacency, values, dataset, facts)


def checksum(adjacency: sp.csr_array, values: NDArray[np.float64] | None) -> str:
    """SHA-256 of a graph and its values, whatever files they were read from."""
    digest = hashlib.sha256()
    for part, kind in (
        (adjacency.indptr, "<i8"),
        (adjacency.indices, "<i8"),
        (adjacency.data, "<f8"),
        *(() if values is None else ((values, "<f8"),)),
    ):
        digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


def how_to_get(key: str) -> str:
    """Say how the files of a data set are got; the same text on every machine.

    Examples
    --------
    >>> how_to_get("email").split(":")[0]
    "'gradraker reproduce --download' or 'gradraker data fetch email_eu_core' gets it from https"
    """
    info = describe_dataset(DATA[key].registered)
    urls = list(dict.fromkeys(file.url for file in info.files))
    return (
        f"'gradraker reproduce --download' or 'gradraker data fetch {info.name}' gets it from "
        f"{' and '.join(urls)}; or put {' and '.join(file.name for file in info.files)} into "
        f"the folder {info.name} of GRADRAKER_DATA"
    )
