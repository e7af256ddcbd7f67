"""Cora-Con: citations among machine-learning papers that cite at least one of them."""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets.dataset import DatasetInfo, GraphDataset, RemoteFile
from gradraker.datasets.fetch.download import find_files
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
    """Fetch Cora-Con: 2222 papers, the citations between them, and the class of each.

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
        If a file exists, but its counts are not those of the data set.

    Examples
    --------
    >>> from gradraker.datasets import fetch_cora_con
    >>> fetch_cora_con()  # doctest: +SKIP
    GraphDataset('Cora-Con', 2222 nodes, 3749 edges)
    """
    paths = find_files(INFO, data_home=data_home, download=download)
    content, cites = paths["cora.content"], paths["cora.cites"]
    class_of = _read_content(content)
    names, values = list(class_of), np.array(list(class_of.values()))
    INFO.check_facts(content, {"papers": len(names), "classes": len(np.unique(values))})
    citing, cited = _read_cites(cites, names)
    is_citing = np.zeros(len(names), dtype=bool)
    is_citing[citing] = True
    n_citing_none = int((~is_citing).sum())
    INFO.check_facts(cites, {"citations": len(citing), "papers that cite nobody": n_citing_none})
    n = len(names)
    links = sp.coo_array((np.ones(len(citing)), (citing, cited)), shape=(n, n)).tocsr()
    kept = np.flatnonzero(is_citing)
    return GraphDataset(
        links[kept][:, kept],
        values[kept],
        tuple(names[i] for i in kept),
        name="Cora-Con",
        description=INFO.description,
        licence=INFO.terms,
    )


_ARCHIVE = {
    "url": "https://linqs-data.soe.ucsc.edu/public/lbc/cora.tgz",
    "archive_sha256": "0d4ed463d1627bb7f3e8420effe8f5545fd492ae8f88dab44ce86cee7b26d7e8",
}
INFO = DatasetInfo(
    name="cora",
    loader=fetch_cora_con,
    description=(
        "Cora-Con: machine-learning papers that cite at least one paper of the collection; "
        "an edge leads from the citing to the cited paper; the value is the number of the "
        "paper's class, 1 to 7"
    ),
    facts={"papers": 2708, "citations": 5429, "papers that cite nobody": 486, "classes": 7},
    licence="No licence is stated with the data",
    citation=(
        "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad: Collective "
        "classification in network data. AI Magazine 29(3), 2008"
    ),
    files=(
        RemoteFile(
            name="cora.cites",
            member="cora/cora.cites",
            size=69928,
            sha256="ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
            **_ARCHIVE,
        ),
        RemoteFile(
            name="cora.content",
            member="cora/cora.content",
            size=7823427,
            sha256="b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
            **_ARCHIVE,
        ),
    ),
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
