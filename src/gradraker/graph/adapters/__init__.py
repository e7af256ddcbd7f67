"""Adapters: one function for each form of graph, from the user's object to an edge list."""

from gradraker.graph.adapters.graph_options import GraphOptions
from gradraker.graph.adapters.registry import to_edge_list

__all__ = ["GraphOptions", "to_edge_list"]
