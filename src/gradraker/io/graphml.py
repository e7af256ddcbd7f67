"""Graphs in GraphML files, read by networkx."""

import io
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.edges import EdgeList
from gradraker.graph.names import to_integers
from gradraker.io.content import Content, Progress, take_first_line


def read_graphml(content: Content, weight: Hashable, progress: Progress) -> EdgeList:
    """Return the edges of a GraphML file; names become integers by the rule of text tables."""
    import polars as pl

    try:
        import networkx
    except ImportError:
        raise GraphFileError(
            content.label, "GraphML files are read with networkx: pip install 'gradraker[networkx]'"
        ) from None
    try:
        graph = networkx.read_graphml(io.BytesIO(content.data))
    except Exception as error:
        raise GraphFileError(
            content.label, f"this is not a readable GraphML file ({take_first_line(error)})"
        ) from None
    try:
        edges = to_edge_list(graph, GraphOptions(weight))
    except (ValueError, TypeError) as error:
        raise GraphFileError(content.label, take_first_line(error)) from None
    names = pl.Series([str(name) for name in edges.nodes.tolist()], dtype=pl.String)
    integers = to_integers([names])
    nodes = np.array(names.to_list(), dtype=object) if integers is None else integers[0].to_numpy()
    return replace(edges, nodes=nodes)
