"""Email-Eu-core: who mails whom in a research institution, and who works where."""

import os

import numpy as np
import scipy.sparse as sp

from gradraker.datasets.dataset import GraphDataset
from gradraker.datasets.fetch.download import find_files
from gradraker.datasets.fetch.facts import check_facts
from gradraker.datasets.fetch.registry import dataset_info
from gradraker.datasets.fetch.tables import read_integers
from gradraker.exceptions import DatasetFileError


def fetch_email_eu_core(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> GraphDataset:
    """Fetch Email-Eu-core: 1005 members of an institution, their mails and departments.

    Row n holds the members to whom n sent at least one mail, n itself included if the data
    say so (642 self loops). Nodes are named by their number, 0 to 1004. Values number the
    42 departments from 1: the label of the file plus 1.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds or gets the folder ``email_eu_core``. If not given, it is the
        environment variable ``GRADRAKER_DATA``, and without that the user's cache folder.
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
        If a file is there but has other members, departments or edges.

    Examples
    --------
    >>> from gradraker.datasets import fetch_email_eu_core
    >>> fetch_email_eu_core()  # doctest: +SKIP
    GraphDataset('Email-Eu-core', 1005 nodes, 25571 edges)
    """
    info = dataset_info("email_eu_core")
    paths = find_files("email_eu_core", data_home=data_home, download=download)
    labels_path = paths["email-Eu-core-department-labels.txt"]
    labels = read_integers(labels_path, n_columns=2)
    n = len(labels)
    found = {"members": n, "departments": len(np.unique(labels[:, 1]))}
    check_facts(labels_path, info.facts, found)
    if not np.array_equal(np.sort(labels[:, 0]), np.arange(n)):
        raise DatasetFileError(f"{str(labels_path)!r} must give 0 to {n - 1} one department each")
    edges_path = paths["email-Eu-core.txt"]
    edges = np.unique(read_integers(edges_path, n_columns=2), axis=0)
    check_facts(edges_path, info.facts, {"edges": len(edges)})
    if edges.min() < 0 or edges.max() >= n:
        raise DatasetFileError(
            f"{str(edges_path)!r} must have members from 0 to {n - 1}; "
            f"got {edges.min()} to {edges.max()}"
        )
    values = np.empty(n)
    values[labels[:, 0]] = labels[:, 1] + 1
    return GraphDataset(
        sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr(),
        values,
        tuple(map(str, range(n))),
        name="Email-Eu-core",
        description=info.description,
        licence=f"{info.licence}. Cite: {info.citation}",
    )
