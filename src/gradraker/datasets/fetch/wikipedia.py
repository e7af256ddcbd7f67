"""Wikipedia Math: links between pages on mathematics, and their visits by day."""

import datetime
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets.dataset import DatasetInfo, GraphDataset, RemoteFile
from gradraker.datasets.fetch.download import find_files, read_integers
from gradraker.exceptions import ArgumentError, DatasetFileError, DatasetUnavailableError

JSON_FILE = "wikivital_mathematics.json"
EDGES_FILE = "wikivital_mathematics_edges.csv"  # a common form of the links alone
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
    data_home, download
        As in :func:`fetch_cora_con`; the folder is called ``wikipedia_math``.

    Returns
    -------
    GraphDataset

    Raises
    ------
    DatasetUnavailableError, DatasetFileError
        As in :func:`fetch_cora_con`.

    See Also
    --------
    fetch_wikipedia_math_graph : The links without the visits.

    Examples
    --------
    >>> from gradraker.datasets import fetch_wikipedia_math
    >>> fetch_wikipedia_math("2019-03-16")  # doctest: +SKIP
    GraphDataset('Wikipedia-Math 2019-03-16', 1068 nodes, 27079 edges)
    """
    date, place = _check_day(day)
    try:
        path = find_files(INFO, data_home=data_home, download=download)[JSON_FILE]
    except DatasetUnavailableError as error:
        if not (INFO.find_folder(data_home) / EDGES_FILE).is_file():
            raise
        raise DatasetUnavailableError(
            f"{error}. The {EDGES_FILE!r} there has the links but no visits: "
            "fetch_wikipedia_math_graph loads it"
        ) from error
    pages = _read_json(path)
    return GraphDataset(
        pages.adjacency,
        _read_visits(path, pages, place, date),
        pages.titles,
        name=f"Wikipedia-Math {date.isoformat()}",
        description=f"{INFO.description} ({date.isoformat()})",
        licence=INFO.terms,
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
        Whether the JSON file is downloaded if neither exists.

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
    folder = INFO.find_folder(data_home)
    if not (folder / JSON_FILE).is_file() and (folder / EDGES_FILE).is_file():
        return _read_edges(folder / EDGES_FILE)
    path = find_files(INFO, data_home=data_home, download=download)[JSON_FILE]
    return _read_json(path).adjacency


INFO = DatasetInfo(
    name="wikipedia_math",
    loader=fetch_wikipedia_math,
    description=(
        "Wikipedia Math: English Wikipedia pages on mathematics; an edge leads from a page to "
        "one that it links to and weighs the number of links; the value is the number of "
        "visits on one day"
    ),
    facts={"pages": 1068, "edges": 27079, "days": 731},
    licence="MIT, as the repository of PyTorch Geometric Temporal states",
    citation=(
        "B. Rozemberczki et al.: PyTorch Geometric Temporal: spatiotemporal signal processing "
        "with neural machine learning models. CIKM 2021"
    ),
    files=(
        RemoteFile(
            name="wikivital_mathematics.json",
            url=(
                "https://raw.githubusercontent.com/benedekrozemberczki/"
                "pytorch_geometric_temporal/master/dataset/wikivital_mathematics.json"
            ),
            size=4336878,
            sha256="eb2196bd8ff033bc0518bc070301f249438025a60bd4db2463052d63ce323d0a",
        ),
    ),
)


def _build_adjacency(
    path: Path, n_pages: int, edges: NDArray[np.int64], weights: NDArray[np.float64]
) -> sp.csr_array:
    """Weighted links of the pages, which must be distinct and within the pages."""
    where = repr(str(path))
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise DatasetFileError(f"{where}: edges must be pairs of pages")
    if weights.shape != (len(edges),):
        raise DatasetFileError(f"{where}: {len(edges)} edges need as many weights")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise DatasetFileError(f"{where}: weights must be finite and larger than 0")
    n_distinct = len(np.unique(edges, axis=0))
    INFO.check_facts(path, {"pages": n_pages, "edges": n_distinct})
    if len(edges) != n_distinct:
        raise DatasetFileError(f"{where}: an edge occurs more than once")
    if edges.min() < 0 or edges.max() >= n_pages:
        raise DatasetFileError(f"{where}: edges must be between 0 and {n_pages - 1}")
    return sp.coo_array((weights, (edges[:, 0], edges[:, 1])), shape=(n_pages, n_pages)).tocsr()


class _Pages(NamedTuple):
    """The JSON file, with its links and titles checked."""

    adjacency: sp.csr_array
    titles: tuple[str, ...]
    days: dict[str, Any]


def _read_json(path: Path) -> _Pages:
    # The errors of any malformed file, from no JSON to lists in place of numbers.
    wrong = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
    try:
        content = json.loads(path.read_bytes())
        node_ids = {str(title): int(i) for title, i in content["node_ids"].items()}
        edges = np.array(content["edges"], dtype=np.int64)
        weights = np.array(content["weights"], dtype=np.float64)
        n_days = int(content["time_periods"])
    except wrong as error:
        raise DatasetFileError(f"{str(path)!r} cannot be read: {error!r}") from error
    adjacency = _build_adjacency(path, len(node_ids), edges, weights)
    if sorted(node_ids.values()) != list(range(len(node_ids))):
        raise DatasetFileError(f"{str(path)!r}: node_ids must number the pages from 0")
    n_given = sum(str(i) in content for i in range(n_days))
    INFO.check_facts(path, {"days": n_given})
    return _Pages(adjacency, tuple(sorted(node_ids, key=node_ids.__getitem__)), content)


def _read_visits(path: Path, pages: _Pages, place: int, date: datetime.date) -> NDArray[np.float64]:
    """Visits of every page on day number ``place``, which must be ``date``."""
    where = f"{str(path)!r}, day {place}"
    try:
        entry = pages.days[str(place)]
        given = [int(entry[part]) for part in ("year", "month", "day") if part in entry]
        visits = np.array(entry["y"], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetFileError(f"{where} cannot be read: {error!r}") from error
    if len(given) == 3 and given != [date.year, date.month, date.day]:
        raise DatasetFileError(f"{where}: must be {date}; got {'-'.join(map(str, given))}")
    if visits.shape != (len(pages.titles),) or not np.isfinite(visits).all():
        raise DatasetFileError(f"{where}: y must have {len(pages.titles)} finite numbers")
    return visits


def _read_edges(path: Path) -> sp.csr_array:
    table = read_integers(path, n_columns=3, delimiter=",", header="source,target,weight")
    n_pages = int(table[:, :2].max(initial=-1)) + 1  # the last page has a link to it
    return _build_adjacency(path, n_pages, table[:, :2], table[:, 2].astype(np.float64))


def _check_day(day: str | datetime.date) -> tuple[datetime.date, int]:
    """Return the day, and its number in the file."""
    n_days = INFO.facts["days"]
    try:
        date = datetime.date.fromisoformat(day) if isinstance(day, str) else day
        place = (date - FIRST_DAY).days
    except (TypeError, ValueError):
        place = -1
    if not 0 <= place < n_days:
        last = FIRST_DAY + datetime.timedelta(days=n_days - 1)
        raise ArgumentError("day", f"from {FIRST_DAY} to {last}, as YYYY-MM-DD", day)
    return date, place
