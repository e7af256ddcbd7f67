"""Graphs: edges, names, values, adjacency vectors, hops, views and filters."""

from gradraker.graph.adjacency import AdjacencyVectors, adjacency_vectors
from gradraker.graph.disk_graph import DiskGraph, open_disk_graph
from gradraker.graph.edges import EdgeList
from gradraker.graph.filters.signals import FilteredSignals, filtered_signals
from gradraker.graph.values import known_values
from gradraker.graph.views import GraphViews, hop_views, layer_views

__all__ = [
    "AdjacencyVectors",
    "DiskGraph",
    "EdgeList",
    "FilteredSignals",
    "GraphViews",
    "adjacency_vectors",
    "filtered_signals",
    "hop_views",
    "known_values",
    "layer_views",
    "open_disk_graph",
]
