"""Cora-Con: citations among machine-learning papers that cite at least one of them."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.fetch.download import find_files
from gradraker.datasets.fetch.facts import check_facts
from gradraker.datasets.fetch.registry import dataset_info
from gradraker.exceptions import DatasetFileError

# In the order of the data set's own README; numbered from 1.
CLASSES = (
    "Case_Based",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Reinforcement_Learning",
    "Rule_Learning",
    "Theory",
)


def fetch_cora_con(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> GraphDataset:
    """Fetch Cora-Con: 2222 papers, who cites whom, and the class of each.

    Of the 2708 papers of Cora, the 486 that cite no other are left out, as in the paper
    ("connected"). Row n holds the papers that n cites; 319 rows are empty, since those
    papers cite left-out papers only. Nodes are in the order of ``cora.content`` and named
    by their number there.

    Values number the classes from 1 in the order of the data set's README: Case_Based,
    Genetic_Algorithms, Neural_Networks, Probabilistic_Methods, Reinforcement_Learning,
    Rule_Learning, Theory.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds or gets the folder ``cora``. If not given, it is the environment
        variable ``GRADRAKER_DATA``, and without that the user's cache folder.
    download : bool
        Whether missing files are downloaded.

    Returns
    -------
    GraphDataset

    Raises
    ------
    DatasetUnavailableError
        If a file is missing and cannot be downloaded.
    DatasetFileError
        If a file is there but has other papers, citations or classes than Cora.

    Examples
    --------
    >>> from gradraker.datasets import fetch_cora_con
    >>> fetch_cora_con()  # doctest: +SKIP
    GraphDataset('Cora-Con', 2222 nodes, 3749 edges)
    """
    info = dataset_info("cora")
    paths = find_files("cora", data_home=data_home, download=download)
    content, cites = paths["cora.content"], paths["cora.cites"]
    class_of = _read_content(content)
    names, values = list(class_of), np.array(list(class_of.values()))
    check_facts(content, info.facts, {"papers": len(names), "classes": len(np.unique(values))})
    citing, cited = _read_cites(cites, names)
    cites_somebody = np.zeros(len(names), dtype=bool)
    cites_somebody[citing] = True
    n_silent = int((~cites_somebody).sum())
    check_facts(cites, info.facts, {"citations": len(citing), "papers that cite nobody": n_silent})
    n = len(names)
    links = sp.coo_array((np.ones(len(citing)), (citing, cited)), shape=(n, n)).tocsr()
    kept = np.flatnonzero(cites_somebody)
    return GraphDataset(
        links[kept][:, kept],
        values[kept],
        tuple(names[i] for i in kept),
        name="Cora-Con",
        description=info.description,
        licence=f"{info.licence}. Cite: {info.citation}",
    )


def _read_content(path: Path) -> dict[str, float]:
    """Class number of each paper; the 1433 words between name and class are not needed."""
    number = {name.encode(): float(i) for i, name in enumerate(CLASSES, start=1)}
    class_of = {}
    for i, line in enumerate(path.read_bytes().splitlines(), start=1):
        name, _, rest = line.partition(b"\t")
        label = rest.rpartition(b"\t")[2].strip()
        if label not in number:
            raise DatasetFileError(
                f"{str(path)!r}, line {i}: the last column must be one of {', '.join(CLASSES)}; "
                f"got {label[:40].decode(errors='replace')!r}"
            )
        class_of[name.decode(errors="replace")] = number[label]
    return class_of


def _read_cites(path: Path, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places in ``names`` of the citing and the cited papers; a line is "cited citing"."""
    place = {name: i for i, name in enumerate(names)}
    links = set()
    for i, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
        papers = line.split()
        if len(papers) != 2 or not place.keys() >= set(papers):
            raise DatasetFileError(
                f"{str(path)!r}, line {i}: must be two papers of cora.content; got {line[:40]!r}"
            )
        links.add((place[papers[1]], place[papers[0]]))
    citing, cited = np.array(sorted(links), dtype=np.int64).reshape(-1, 2).T
    return citing, cited
