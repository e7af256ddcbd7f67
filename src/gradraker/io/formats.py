"""Files that other libraries read: Parquet with polars, GraphML with networkx."""

import io
from collections.abc import Hashable
from typing import Any

import numpy as np

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters.registry import graph_edges
from gradraker.graph.edges import EdgeList
from gradraker.graph.graph_options import Asked
from gradraker.io.content import Content
from gradraker.io.lines import as_integers


def parquet_table(content: Content) -> Any:
    """Return a Parquet file as a polars data frame."""
    pl = _imported("polars", "Parquet files", "tables", content.label)
    try:
        return pl.read_parquet(io.BytesIO(content.data))
    except (Exception, pl.exceptions.PanicException) as error:
        raise GraphFileError(
            content.label, f"it is no readable Parquet file ({_first(error)})"
        ) from None


def graphml_edges(content: Content, weight: Hashable) -> EdgeList:
    """Return the edges of a GraphML file, read by networkx."""
    networkx = _imported("networkx", "GraphML files", "networkx", content.label)
    try:
        graph = networkx.read_graphml(io.BytesIO(content.data))
    except Exception as error:
        raise GraphFileError(
            content.label, f"it is no readable GraphML file ({_first(error)})"
        ) from None
    try:
        edges = graph_edges(graph, Asked(weight))
    except (ValueError, TypeError) as error:
        raise GraphFileError(content.label, _first(error)) from None
    names = [str(name) for name in edges.nodes.tolist()]
    whole = as_integers([names]) if all(names) else None
    nodes = np.fromiter(names, dtype=object, count=len(names)) if whole is None else whole[0]
    return EdgeList(
        edges.source, edges.target, edges.weight, nodes, directed=edges.directed, complete=True
    )


def _imported(module: str, what: str, extra: str, label: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        raise GraphFileError(
            label, f"{what} are read with {module}: pip install 'gradraker[{extra}]'"
        ) from None


def _first(error: BaseException) -> str:
    """The first line of a message, since one sentence is promised."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
