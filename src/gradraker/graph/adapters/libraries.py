"""Edges of graphs of other libraries: networkx, igraph, PyTorch Geometric."""

from typing import Any

import numpy as np

from gradraker._validation import to_numbers
from gradraker.graph.edges import EdgeList, GraphOptions
from gradraker.graph.names import name_numbered_nodes, to_name_array


def from_networkx(graph: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of a networkx graph, directed or not."""
    weight = options.weight
    nodes = to_name_array(list(graph.nodes), argument="graph")
    index = {node: i for i, node in enumerate(nodes.tolist())}
    attribute = "weight" if weight is None else weight
    edges = list(graph.edges(data=None if attribute is False else attribute, default=None))
    source = np.fromiter((index[edge[0]] for edge in edges), np.int64, count=len(edges))
    target = np.fromiter((index[edge[1]] for edge in edges), np.int64, count=len(edges))
    weights = None
    given = [] if attribute is False else [edge[2] for edge in edges]
    if weight is not None and None in given:
        edge = edges[given.index(None)]
        raise ValueError(f"edge {edge[0]!r}, {edge[1]!r} has no attribute {weight!r}")
    if any(entry is not None for entry in given):
        # As in networkx itself, an edge without the attribute "weight" counts 1.
        filled = [1.0 if entry is None else entry for entry in given]
        weights = to_numbers(filled, name=f"attribute {attribute!r}")
    directed = bool(graph.is_directed())
    return EdgeList(source, target, weights, nodes, directed=directed, complete=True)


def from_igraph(graph: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of an igraph graph; nodes are named by the attribute ``name``."""
    weight, names = options.weight, options.names
    if names is None and "name" in graph.vs.attributes():
        names = graph.vs["name"]
    nodes = name_numbered_nodes(names, int(graph.vcount()))
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    attribute = "weight" if weight is None else weight
    weights = None
    if attribute is not False and attribute in graph.es.attributes():
        weights = to_numbers(graph.es[attribute], name=f"attribute {attribute!r}")
    elif weight not in (None, False):
        raise ValueError(f"weight={weight!r} is not an edge attribute: {graph.es.attributes()}")
    directed = bool(graph.is_directed())
    return EdgeList(ends[:, 0], ends[:, 1], weights, nodes, directed=directed, complete=True)


def from_geometric(data: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of a ``Data`` object of PyTorch Geometric."""
    weight, names = options.weight, options.names
    ends = _to_array(data.edge_index).astype(np.int64)
    n = max(int(data.num_nodes), int(ends.max()) + 1 if ends.size else 0)
    attribute = weight
    if weight is None:
        present = [a for a in ("edge_weight", "edge_attr") if getattr(data, a, None) is not None]
        attribute = present[0] if present else False
    weights = None
    if attribute is not False:
        found = getattr(data, str(attribute), None)
        if found is None:
            raise ValueError(f"weight={weight!r} is not an attribute of the graph's edges")
        weights = _to_array(found).astype(np.float64)
        if weights.size != ends.shape[1]:
            raise ValueError(
                f"{attribute} has shape {weights.shape}, but a weight is one number for each of "
                f"{ends.shape[1]} edges: name another attribute, or pass weight=False"
            )
        weights = weights.reshape(-1)
    return EdgeList(ends[0], ends[1], weights, name_numbered_nodes(names, n), complete=True)


def _to_array(tensor: Any) -> Any:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)
