"""The table of data sets: a new one is a file with an ``INFO``, and a line here."""

import os

from gradraker._validation import check_choice
from gradraker.datasets import temperature
from gradraker.datasets.dataset import DatasetInfo, GraphDataset
from gradraker.datasets.fetch import cora, email, wikipedia

DATASETS = {info.name: info for info in (cora.INFO, email.INFO, temperature.INFO, wikipedia.INFO)}


def list_datasets() -> tuple[str, ...]:
    """Names of the data sets, embedded and to be fetched.

    Examples
    --------
    >>> from gradraker.datasets import list_datasets
    >>> list_datasets()
    ('cora', 'email_eu_core', 'temperature', 'wikipedia_math')
    """
    return tuple(DATASETS)


def describe_dataset(name: str) -> DatasetInfo:
    """Describe a data set: its terms, the files it needs, and where they come from.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.

    Examples
    --------
    >>> from gradraker.datasets import describe_dataset
    >>> info = describe_dataset("cora")
    >>> info
    DatasetInfo('cora': 2708 papers, 5429 citations, 486 papers that cite nobody, 7 classes)
    >>> [file.name for file in info.files]
    ['cora.cites', 'cora.content']
    """
    return DATASETS[check_choice("name", name, DATASETS)]


def load_dataset(name: str, *, data_home: str | os.PathLike[str] | None = None) -> GraphDataset:
    """Load a data set by its name; files that are missing are downloaded.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`.
    data_home : path, optional
        Folder of the data sets, if this one has files. If not given, it is the environment
        variable ``GRADRAKER_DATA``, and without that the user's cache folder.

    Examples
    --------
    >>> from gradraker.datasets import load_dataset
    >>> load_dataset("temperature")
    GraphDataset('Temperature-Jan', 89 nodes, 2515 edges)
    """
    info = describe_dataset(name)
    return info.loader(data_home=data_home) if info.files else info.loader()
