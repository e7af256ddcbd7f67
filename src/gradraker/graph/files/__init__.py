"""Readers of files with edges and with values."""

from gradraker.graph.files.errors import GraphFileError, Place
from gradraker.graph.files.read import read_edges, read_values

__all__ = ["GraphFileError", "Place", "read_edges", "read_values"]
