"""Adapters: one function per form of graph, from the user's object to an edge list."""

from gradraker.graph.adapters.registry import graph_edges

__all__ = ["graph_edges"]
