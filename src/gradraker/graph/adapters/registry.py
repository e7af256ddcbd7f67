"""The kinds of graphs that are understood, and how the edges of each are found.

A kind is an entry of ``KINDS``: how to recognise it, and a function
``(graph, asked) -> EdgeList``. A new kind is one more entry. Libraries are recognised
by what their objects can do, so none of them is imported here.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gradraker.graph.adapters.matrices import array_edges, matrix_edges, row_edges
from gradraker.graph.adapters.tables import is_table, numbers, table_edges
from gradraker.graph.edges import EdgeList
from gradraker.graph.graph_options import Asked
from gradraker.graph.names import distinct, name_array, numbered_names


class Kind(NamedTuple):
    """A kind of graph: how to recognise it, its edges, and whether it takes ``names``."""

    recognises: Callable[[Any], bool]
    edges: Callable[[Any, Asked], EdgeList]
    numbered: bool = False


def graph_edges(graph: Any, asked: Asked) -> EdgeList:
    """Return the edges of a graph of any kind."""
    if asked.kind not in (None, "matrix", "edges"):
        raise ValueError(f"kind must be 'matrix', 'edges' or None, got {asked.kind!r}")
    if asked.weight is True:
        raise ValueError("weight must be None, False or the name of the weights, got True")
    for what, entry in KINDS.items():
        if entry.recognises(graph):
            if asked.names is not None and not entry.numbered:
                raise ValueError(
                    f"names is given, but {what} names its nodes itself: leave names out"
                )
            return entry.edges(graph, asked)
    raise TypeError(f"graph must be one of {', '.join(KINDS)}; got {type(graph).__name__}")


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda graph: all(hasattr(graph, attribute) for attribute in attributes)


def _unchanged(edges: EdgeList, asked: Asked) -> EdgeList:
    weight = asked.weight
    if weight not in (None, False):
        raise ValueError(
            f"weight={weight!r} asks for a column, but an EdgeList has one weight per edge: "
            "choose the column when reading, read_edges(..., weight=...)"
        )
    return edges if weight is None else replace(edges, weight=None)


def _dataset(data: Any, asked: Asked) -> EdgeList:
    names = list(data.node_names) if asked.names is None else asked.names
    return matrix_edges(data.adjacency, asked._replace(names=names))


def _networkx(graph: Any, asked: Asked) -> EdgeList:
    weight = asked.weight
    nodes = name_array(list(graph.nodes), argument="graph")
    attribute = "weight" if weight is None else weight
    found = list(graph.edges(data=attribute, default=None)) if attribute is not False else []
    given = [entry for *_, entry in found]
    ends = [edge[:2] for edge in found] if found else list(graph.edges())
    index = {node: i for i, node in enumerate(nodes.tolist())}
    source = np.fromiter((index[edge[0]] for edge in ends), np.int64, count=len(ends))
    target = np.fromiter((index[edge[1]] for edge in ends), np.int64, count=len(ends))
    weights = None
    if any(entry is not None for entry in given) or (given and weight is not None):
        if weight is not None and None in given:
            edge = found[given.index(None)]
            raise ValueError(f"edge {edge[0]!r}, {edge[1]!r} has no attribute {weight!r}")
        # As in networkx itself, an edge without the attribute "weight" counts 1.
        filled = [1.0 if entry is None else entry for entry in given]
        weights = numbers(filled, what=f"attribute {attribute!r}")
    directed = bool(graph.is_directed())
    return EdgeList(source, target, weights, nodes, directed=directed, complete=True)


def _igraph(graph: Any, asked: Asked) -> EdgeList:
    weight, names, _ = asked
    n = int(graph.vcount())
    if names is None and "name" in graph.vs.attributes():
        names = graph.vs["name"]
    nodes = numbered_names(names, n)
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    attribute = "weight" if weight is None else weight
    weights = None
    if attribute is not False and attribute in graph.es.attributes():
        weights = numbers(graph.es[attribute], what=f"attribute {attribute!r}")
    elif weight not in (None, False):
        raise ValueError(f"weight={weight!r} is no edge attribute: {graph.es.attributes()}")
    directed = bool(graph.is_directed())
    return EdgeList(ends[:, 0], ends[:, 1], weights, nodes, directed=directed, complete=True)


def _geometric(data: Any, asked: Asked) -> EdgeList:
    weight, names, _ = asked
    ends = _tensor(data.edge_index).astype(np.int64)
    n = max(int(data.num_nodes), int(ends.max()) + 1 if ends.size else 0)
    attribute = weight
    if weight is None:
        present = [a for a in ("edge_weight", "edge_attr") if getattr(data, a, None) is not None]
        attribute = present[0] if present else False
    weights = None
    if attribute is not False:
        found = getattr(data, str(attribute), None)
        if found is None:
            raise ValueError(f"weight={weight!r} is no attribute of the graph's edges")
        weights = _tensor(found).astype(np.float64)
        if weights.size != ends.shape[1]:
            raise ValueError(
                f"{attribute} has shape {weights.shape}, but a weight is one number for each of "
                f"{ends.shape[1]} edges: name another attribute, or pass weight=False"
            )
        weights = weights.reshape(-1)
    return EdgeList(ends[0], ends[1], weights, numbered_names(names, n), complete=True)


def _tensor(values: Any) -> Any:
    values = values.detach().cpu() if hasattr(values, "detach") else values
    return np.asarray(values)


def _mapping(graph: Mapping[Hashable, Any], asked: Asked) -> EdgeList:
    weight = asked.weight
    if weight not in (None, False):
        raise ValueError(f"weight must be None or False for a mapping, got {weight!r}")
    sources: list[Hashable] = []
    targets: list[Hashable] = []
    weights: list[Any] = []
    weighted = False
    for node, neighbours in graph.items():
        if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
            raise TypeError(
                f"neighbours of {node!r} must be a list of nodes or a mapping from nodes to "
                f"weights, got {neighbours!r}"
            )
        found = list(neighbours)
        sources += [node] * len(found)
        targets += found
        if isinstance(neighbours, Mapping):
            weighted = True
            weights += neighbours.values()
        else:
            weights += [1.0] * len(found)
    # The order of the keys, then nodes that are neighbours only.
    listed = list(dict.fromkeys([*graph, *targets]))
    nodes, (places, source, target) = distinct(
        [name_array(part, argument="graph") for part in (listed, sources, targets)]
    )
    back = np.argsort(places)
    given = numbers(weights, what="the weights") if weighted and weight is None else None
    return EdgeList(back[source], back[target], given, nodes[places])


def _is_array(graph: Any) -> bool:
    """Whether it is an array, or lists of numbers that make one; tuples are edges."""
    if hasattr(graph, "__array__"):
        return True
    nested = isinstance(graph, list | tuple) and graph and isinstance(graph[0], list | np.ndarray)
    return bool(nested) and not any(
        isinstance(entry, str | bytes) for row in graph for entry in row
    )


def _is_rows(graph: Any) -> bool:
    return isinstance(graph, Iterable) and not isinstance(graph, str | bytes)


KINDS: dict[str, Kind] = {
    "an EdgeList": Kind(lambda graph: isinstance(graph, EdgeList), _unchanged),
    "a GraphDataset": Kind(_has("adjacency", "node_names"), _dataset, numbered=True),
    "a networkx graph": Kind(_has("adj", "edges", "nodes", "is_multigraph"), _networkx),
    "an igraph graph": Kind(_has("get_edgelist", "vs", "es"), _igraph, numbered=True),
    "a PyTorch Geometric Data": Kind(_has("edge_index", "num_nodes"), _geometric, numbered=True),
    "a sparse matrix": Kind(sp.issparse, matrix_edges, numbered=True),
    "a table (pandas, polars, Arrow)": Kind(is_table, table_edges),
    "a mapping": Kind(lambda graph: isinstance(graph, Mapping), _mapping),
    "an array": Kind(_is_array, array_edges, numbered=True),
    "a list of edges": Kind(_is_rows, row_edges),
}
