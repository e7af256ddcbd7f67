"""Adapters: one function for each form of graph, from the user's object to an edge list."""

from gradraker.graph.adapters.registry import to_edge_list
from gradraker.graph.edges import GraphOptions

__all__ = ["GraphOptions", "to_edge_list"]
