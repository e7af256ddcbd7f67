"""Wikipedia Math: links between pages on mathematics, and their visits by day."""

import datetime
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.fetch.download import data_folder, find_files
from gradraker.datasets.fetch.facts import check_facts
from gradraker.datasets.fetch.registry import dataset_info
from gradraker.datasets.fetch.tables import read_integers
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError

NAME = "wikipedia_math"
JSON_FILE = "wikivital_mathematics.json"
EDGES_FILE = "wikivital_mathematics_edges.csv"  # the links alone, as some keep them
FIRST_DAY = datetime.date(2019, 3, 16)


def fetch_wikipedia_math(
    day: str | datetime.date = "2019-03-16",
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> GraphDataset:
    """Fetch Wikipedia Math: 1068 pages, the links between them, and visits on one day.

    Row n holds the pages that n links to, with the number of links as weight. Nodes are
    named by the titles of the pages. In this data every edge leads to a page with a larger
    number, so no two pages link to each other.

    Parameters
    ----------
    day : str or datetime.date
        Day of the visits, from 2019-03-16 to 2021-03-15.
    data_home : path, optional
        Folder that holds or gets the folder ``wikipedia_math``. If not given, it is the
        environment variable ``GRADRAKER_DATA``, and without that the user's cache folder.
    download : bool
        Whether a missing file is downloaded.

    Returns
    -------
    GraphDataset

    Raises
    ------
    DatasetUnavailableError
        If the file is missing and cannot be downloaded.
    DatasetFileError
        If the file is there but has other pages, edges or days.

    See Also
    --------
    fetch_wikipedia_math_graph : The links without the visits.

    Examples
    --------
    >>> from gradraker.datasets import fetch_wikipedia_math
    >>> fetch_wikipedia_math("2019-03-16")  # doctest: +SKIP
    GraphDataset('Wikipedia-Math 2019-03-16', 1068 nodes, 27079 edges)
    """
    info = dataset_info(NAME)
    date, place = _checked_day(day, info.facts["days"])
    try:
        path = find_files(NAME, data_home=data_home, download=download)[JSON_FILE]
    except DatasetUnavailableError as error:
        if not (data_folder(NAME, data_home) / EDGES_FILE).is_file():
            raise
        raise DatasetUnavailableError(
            f"{error}. The {EDGES_FILE!r} there has the links but no visits: "
            "fetch_wikipedia_math_graph loads it"
        ) from error
    content = _read_json(path)
    return GraphDataset(
        content.links.adjacency(),
        content.visits(place, date),
        content.titles,
        name=f"Wikipedia-Math {date.isoformat()}",
        description=f"{info.description} ({date.isoformat()})",
        licence=f"{info.licence}. Cite: {info.citation}",
    )


def fetch_wikipedia_math_graph(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> sp.csr_array:
    """Fetch the links of Wikipedia Math alone, for which no visits are needed.

    Parameters
    ----------
    data_home : path, optional
        As for :func:`fetch_wikipedia_math`. If the folder has no
        ``wikivital_mathematics.json`` but a ``wikivital_mathematics_edges.csv`` with the
        columns source, target and weight, the links are read from that.
    download : bool
        Whether the JSON file is downloaded if neither is there.

    Returns
    -------
    csr_array of shape (1068, 1068)
        Row n holds the pages that n links to, with the number of links as weight.

    Examples
    --------
    >>> from gradraker.datasets import fetch_wikipedia_math_graph
    >>> fetch_wikipedia_math_graph().nnz  # doctest: +SKIP
    27079
    """
    folder = data_folder(NAME, data_home)
    if not (folder / JSON_FILE).is_file() and (folder / EDGES_FILE).is_file():
        return _read_edges(folder / EDGES_FILE).adjacency()
    path = find_files(NAME, data_home=data_home, download=download)[JSON_FILE]
    return _read_json(path).links.adjacency()


@dataclass(frozen=True)
class _Links:
    """Weighted links of n pages, checked to be distinct and within the pages."""

    path: Path
    n_pages: int
    edges: NDArray[np.int64]  # [e, 2]
    weights: NDArray[np.float64]  # [e]

    def __post_init__(self) -> None:
        where = repr(str(self.path))
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise DatasetFileError(f"{where}: edges must be pairs of pages")
        if self.weights.shape != (len(self.edges),):
            raise DatasetFileError(f"{where}: {len(self.edges)} edges need as many weights")
        if not (np.isfinite(self.weights).all() and (self.weights > 0).all()):
            raise DatasetFileError(f"{where}: weights must be finite and larger than 0")
        facts = dataset_info(NAME).facts
        n_distinct = len(np.unique(self.edges, axis=0))
        check_facts(self.path, facts, {"pages": self.n_pages, "edges": n_distinct})
        if len(self.edges) != n_distinct:
            raise DatasetFileError(f"{where}: an edge is there more than once")
        if self.edges.min() < 0 or self.edges.max() >= self.n_pages:
            raise DatasetFileError(f"{where}: edges must be between 0 and {self.n_pages - 1}")

    def adjacency(self) -> sp.csr_array:
        places = (self.edges[:, 0], self.edges[:, 1])
        return sp.coo_array((self.weights, places), shape=(self.n_pages, self.n_pages)).tocsr()


@dataclass(frozen=True)
class _Content:
    links: _Links
    titles: tuple[str, ...]
    days: dict[str, Any]

    def visits(self, place: int, date: datetime.date) -> NDArray[np.float64]:
        """Visits of every page on day number ``place``, which must be ``date``."""
        where = f"{str(self.links.path)!r}, day {place}"
        try:
            entry = self.days[str(place)]
            given = [int(entry[part]) for part in ("year", "month", "day") if part in entry]
            visits = np.array(entry["y"], dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetFileError(f"{where} cannot be read: {error!r}") from error
        if len(given) == 3 and given != [date.year, date.month, date.day]:
            raise DatasetFileError(f"{where}: must be {date}; got {'-'.join(map(str, given))}")
        if visits.shape != (len(self.titles),) or not np.isfinite(visits).all():
            raise DatasetFileError(f"{where}: y must have {len(self.titles)} finite numbers")
        return visits


def _read_json(path: Path) -> _Content:
    try:
        content = json.loads(path.read_bytes())
        node_ids = {str(title): int(i) for title, i in content["node_ids"].items()}
        edges = np.array(content["edges"], dtype=np.int64)
        weights = np.array(content["weights"], dtype=np.float64)
        n_days = int(content["time_periods"])
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise DatasetFileError(f"{str(path)!r} cannot be read: {error!r}") from error
    links = _Links(path, len(node_ids), edges, weights)
    if sorted(node_ids.values()) != list(range(len(node_ids))):
        raise DatasetFileError(f"{str(path)!r}: node_ids must number the pages from 0")
    n_given = sum(str(i) in content for i in range(n_days))
    check_facts(path, dataset_info(NAME).facts, {"days": n_given})
    return _Content(links, tuple(sorted(node_ids, key=node_ids.__getitem__)), content)


def _read_edges(path: Path) -> _Links:
    table = read_integers(path, n_columns=3, delimiter=",", header="source,target,weight")
    n_pages = int(table[:, :2].max(initial=-1)) + 1  # the last page has a link to it
    return _Links(path, n_pages, table[:, :2], table[:, 2].astype(np.float64))


def _checked_day(day: str | datetime.date, n_days: int) -> tuple[datetime.date, int]:
    last = FIRST_DAY + datetime.timedelta(days=n_days - 1)
    try:
        date = datetime.date.fromisoformat(day) if isinstance(day, str) else day
        place = (date - FIRST_DAY).days
    except (TypeError, ValueError):
        place = -1
    if not 0 <= place < n_days:
        raise ValueError(f"day must be from {FIRST_DAY} to {last}, as YYYY-MM-DD; got {day!r}")
    return date, place
