"""Edges of a graph that tests put on disk."""

from typing import Any

import numpy as np

N_NODES = 400


def make_edges(seed: int = 0, n: int = N_NODES, k: int = 3000) -> Any:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, n, k)
    source[:n] = np.arange(n)  # all nodes have an edge
    return source, (source + rng.integers(0, 20, k)) % n, rng.integers(1, 5, k).astype(float)
