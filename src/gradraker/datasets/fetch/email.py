"""Email-Eu-core: mails between members of a research institution, and their departments."""

import os

import numpy as np
import scipy.sparse as sp

from gradraker.datasets.dataset import DatasetInfo, GraphDataset, RemoteFile
from gradraker.datasets.fetch.download import find_files, read_integers
from gradraker.exceptions import DatasetFileError


def fetch_email_eu_core(
    *, data_home: str | os.PathLike[str] | None = None, download: bool = True
) -> GraphDataset:
    """Fetch Email-Eu-core: 1005 members of an institution, their mails and departments.

    Row n holds the members to whom n sent at least one mail, n itself included if it did
    (642 self loops). Nodes are named by their number, 0 to 1004. Values number the
    42 departments from 1: the label of the file plus 1.

    Parameters
    ----------
    data_home, download
        As in :func:`fetch_cora_con`; the folder is called ``email_eu_core``.

    Returns
    -------
    GraphDataset

    Raises
    ------
    DatasetUnavailableError, DatasetFileError
        As in :func:`fetch_cora_con`.

    Examples
    --------
    >>> from gradraker.datasets import fetch_email_eu_core
    >>> fetch_email_eu_core()  # doctest: +SKIP
    GraphDataset('Email-Eu-core', 1005 nodes, 25571 edges)
    """
    paths = find_files(INFO, data_home=data_home, download=download)
    labels_path = paths["email-Eu-core-department-labels.txt"]
    labels = read_integers(labels_path, n_columns=2)
    n = len(labels)
    found = {"members": n, "departments": len(np.unique(labels[:, 1]))}
    INFO.check_facts(labels_path, found)
    if not np.array_equal(np.sort(labels[:, 0]), np.arange(n)):
        raise DatasetFileError(f"{str(labels_path)!r} must give 0 to {n - 1} one department each")
    edges_path = paths["email-Eu-core.txt"]
    edges = np.unique(read_integers(edges_path, n_columns=2), axis=0)
    INFO.check_facts(edges_path, {"edges": len(edges)})
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
        description=INFO.description,
        licence=INFO.terms,
    )


_SNAP = "https://snap.stanford.edu/data/"
INFO = DatasetInfo(
    name="email_eu_core",
    loader=fetch_email_eu_core,
    description=(
        "Email-Eu-core: members of a European research institution; an edge leads from a "
        "sender to a recipient of at least one mail; the value is the number of the member's "
        "department, 1 to 42"
    ),
    facts={"members": 1005, "departments": 42, "edges": 25571},
    licence="No licence is stated; SNAP asks for the citation",
    citation=(
        "H. Yin, A. R. Benson, J. Leskovec, D. F. Gleich: Local higher-order graph clustering. "
        "KDD 2017; J. Leskovec, J. Kleinberg, C. Faloutsos: Graph evolution: densification and "
        "shrinking diameters. ACM TKDD 1(1), 2007"
    ),
    files=(
        RemoteFile(
            name="email-Eu-core.txt",
            url=f"{_SNAP}email-Eu-core.txt.gz",
            size=192698,
            sha256="23e0ca0bce21a053025e78f7e9691ac9210ae806a0689bd5edff3c3bac572d4c",
        ),
        RemoteFile(
            name="email-Eu-core-department-labels.txt",
            url=f"{_SNAP}email-Eu-core-department-labels.txt.gz",
            size=6537,
            sha256="91a089f21ee35eb224066456fa5322c8ad57c0f07b2da7a58a3220c72b5d54b5",
        ),
    ),
)
