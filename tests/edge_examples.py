"""Edges whose rows are known, and rows as lists."""

from typing import Any

from gradraker import adjacency_vectors

# a → b (2), a → c (½), c → b (1), c → c (3)
EDGES = [("a", "b", 2.0), ("a", "c", 0.5), ("c", "b", 1.0), ("c", "c", 3.0)]


def rows(graph: Any, **arguments: Any) -> Any:
    return adjacency_vectors(graph, **arguments).rows.toarray().tolist()
