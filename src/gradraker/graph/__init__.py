"""Graphs of every kind, from memory or from files, to rows that a learner can use."""

from gradraker.graph.adjacency import AdjacencyVectors, adjacency_vectors
from gradraker.graph.edges import EdgeList
from gradraker.graph.files import GraphFileError, read_edges, read_values
from gradraker.graph.values import known_values

__all__ = [
    "AdjacencyVectors",
    "EdgeList",
    "GraphFileError",
    "adjacency_vectors",
    "known_values",
    "read_edges",
    "read_values",
]
