"""Data sets that are downloaded once, checked, and kept in a folder of the user's."""

from gradraker.datasets.fetch.cora import fetch_cora_con
from gradraker.datasets.fetch.email import fetch_email_eu_core
from gradraker.datasets.fetch.registry import DatasetInfo, dataset_info, list_datasets
from gradraker.datasets.fetch.wikipedia import fetch_wikipedia_math, fetch_wikipedia_math_graph
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError

__all__ = [
    "DatasetFileError",
    "DatasetInfo",
    "DatasetUnavailableError",
    "dataset_info",
    "fetch_cora_con",
    "fetch_email_eu_core",
    "fetch_wikipedia_math",
    "fetch_wikipedia_math_graph",
    "list_datasets",
]
