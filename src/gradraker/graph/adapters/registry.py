"""The supported forms of graphs: a new one is a function in this folder and an entry of ``FORMS``.

Libraries are recognised by the attributes of their objects, so none of them is imported here.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import scipy.sparse as sp

from gradraker.exceptions import ArgumentError
from gradraker.graph.adapters.libraries import from_geometric, from_igraph, from_networkx
from gradraker.graph.adapters.lists import from_mapping, from_tuples
from gradraker.graph.adapters.matrices import from_array, from_dataset, from_sparse, is_array
from gradraker.graph.adapters.tables import from_table, is_table
from gradraker.graph.edges import EdgeList, GraphOptions


class Form(NamedTuple):
    """A form of graph: how to recognise it, its edges, and whether it takes names and columns."""

    is_form: Callable[[Any], bool]
    to_edges: Callable[[Any, GraphOptions], EdgeList]
    numbered: bool = False
    has_columns: bool = False


def _has_all(*attributes: str) -> Callable[[Any], bool]:
    return lambda graph: all(hasattr(graph, attribute) for attribute in attributes)


def _is_instance(*types: type) -> Callable[[Any], bool]:
    return lambda graph: isinstance(graph, types) and not isinstance(graph, str | bytes)


def from_edge_list(edges: EdgeList, options: GraphOptions) -> EdgeList:
    """Return the edge list itself, without its weights if none are wanted."""
    if options.weight not in (None, False):
        raise ValueError(
            f"weight={options.weight!r} asks for a column, but an EdgeList has one weight per "
            "edge: choose the column when reading, read_edges(..., weight=...)"
        )
    return edges if options.weight is None else replace(edges, weight=None)


# In order: the first form that recognises a graph is taken.
FORMS: dict[str, Form] = {
    "an EdgeList": Form(_is_instance(EdgeList), from_edge_list),
    "a GraphDataset": Form(_has_all("adjacency", "node_names"), from_dataset, numbered=True),
    "a networkx graph": Form(_has_all("adj", "edges", "nodes", "is_multigraph"), from_networkx),
    "an igraph graph": Form(_has_all("get_edgelist", "vs", "es"), from_igraph, numbered=True),
    "a PyTorch Geometric Data": Form(
        _has_all("edge_index", "num_nodes"), from_geometric, numbered=True
    ),
    "a sparse matrix": Form(sp.issparse, from_sparse, numbered=True),
    "a table (pandas, polars, Arrow)": Form(is_table, from_table, has_columns=True),
    "a mapping": Form(_is_instance(Mapping), from_mapping),
    "an array": Form(is_array, from_array, numbered=True),
    "a list of edges": Form(_is_instance(Iterable), from_tuples),
}


def to_edge_list(graph: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of a graph of any form."""
    if options.kind not in (None, "matrix", "edges"):
        raise ArgumentError("kind", "'matrix', 'edges' or None", options.kind)
    if options.weight is True:
        raise ArgumentError("weight", "None, False or the name of the weights", True)
    found = ((name, form) for name, form in FORMS.items() if form.is_form(graph))
    name, form = next(found, ("", None))
    if form is None:
        raise TypeError(f"graph must be one of {', '.join(FORMS)}; got {type(graph).__name__}")
    if options.names is not None and not form.numbered:
        raise ValueError(f"names is given, but {name} names its nodes itself: leave names out")
    for argument in () if form.has_columns else ("source", "target"):
        if getattr(options, argument) is not None:
            more = ": choose the column when reading, read_edges(..., source=...)"
            raise ValueError(
                f"{argument} names a column of a table, but the graph is {name}"
                f"{more if name == 'an EdgeList' else ''}"
            )
    edges = form.to_edges(graph, options)
    if options.directed not in (None, True, False):
        raise ArgumentError("directed", "True, False or None", options.directed)
    if options.directed is True and not edges.directed:
        raise ArgumentError("directed", f"None or False for {name} that is undirected", True)
    if options.directed is False and edges.references is not None:
        raise ArgumentError("directed", "None or True for a rectangular graph", False)
    return edges
