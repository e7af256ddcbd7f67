"""Files in: edges and values from text tables, Parquet, Matrix Market and GraphML."""

from gradraker.exceptions import GraphFileError, Place
from gradraker.io.readers import read_edges, read_values

__all__ = ["GraphFileError", "Place", "read_edges", "read_values"]
