"""Graphs of every kind, from memory or from files, to rows that a learner can use."""

from gradraker.graph.adjacency import AdjacencyVectors, adjacency_vectors
from gradraker.graph.edges import EdgeList
from gradraker.graph.files import GraphFileError, read_edges, read_values
from gradraker.graph.filters import FilteredSignals, filtered_signals
from gradraker.graph.values import known_values
from gradraker.graph.views import GraphViews, hop_views, layer_views

__all__ = [
    "AdjacencyVectors",
    "EdgeList",
    "FilteredSignals",
    "GraphFileError",
    "GraphViews",
    "adjacency_vectors",
    "filtered_signals",
    "hop_views",
    "known_values",
    "layer_views",
    "read_edges",
    "read_values",
]
