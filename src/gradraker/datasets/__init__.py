"""Graphs with a value at every node: one container, embedded, fetched and generated data sets."""

from gradraker.datasets.dataset import DatasetInfo, GraphDataset, split_nodes
from gradraker.datasets.fetch.cora import fetch_cora_con
from gradraker.datasets.fetch.email import fetch_email_eu_core
from gradraker.datasets.fetch.wikipedia import fetch_wikipedia_math, fetch_wikipedia_math_graph
from gradraker.datasets.generators.linked import make_block_graph, make_preferential_graph
from gradraker.datasets.generators.spatial import (
    make_arriving_graph,
    make_geometric_graph,
    make_threshold_graph,
)
from gradraker.datasets.generators.traffic import make_traffic_series
from gradraker.datasets.registry import describe_dataset, list_datasets, load_dataset
from gradraker.datasets.temperature import load_temperature, load_temperature_normals
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError

__all__ = [
    "DatasetFileError",
    "DatasetInfo",
    "DatasetUnavailableError",
    "GraphDataset",
    "describe_dataset",
    "fetch_cora_con",
    "fetch_email_eu_core",
    "fetch_wikipedia_math",
    "fetch_wikipedia_math_graph",
    "list_datasets",
    "load_dataset",
    "load_temperature",
    "load_temperature_normals",
    "make_arriving_graph",
    "make_block_graph",
    "make_geometric_graph",
    "make_preferential_graph",
    "make_threshold_graph",
    "make_traffic_series",
    "split_nodes",
]
