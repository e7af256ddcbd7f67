"""Small graphs that tests of several rooms share."""

from typing import Any

import numpy as np

from gradraker.graph.edges import EdgeList


def random_graph(seed: int = 0, n: Any = 31) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < 0.1) * rng.uniform(0.5, 2.0, (n, n))
    y = rng.normal(size=n)
    known = rng.permutation(n)[:13]
    values = np.full(n, np.nan)
    values[known] = y[known]
    return A, values, np.sort(known)


def list_edges(edges: EdgeList) -> list[Any]:
    """Edges of an EdgeList as a list of (source, target, weight), by name."""
    names = edges.nodes.tolist()
    weights = [None] * len(edges) if edges.weight is None else edges.weight.tolist()
    pairs = zip(edges.source.tolist(), edges.target.tolist(), weights, strict=True)
    return [(names[s], names[t], w) for s, t, w in pairs]
