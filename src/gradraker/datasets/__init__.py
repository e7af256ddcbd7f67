"""Graphs with a value at every node: one container, and the data sets that come embedded."""

from gradraker.datasets.dataset import GraphDataset, split_nodes
from gradraker.datasets.temperature import load_temperature

__all__ = ["GraphDataset", "load_temperature", "split_nodes"]
