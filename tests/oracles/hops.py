"""Walks of a graph, enumerated one by one."""

from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray


def walk_rows(A: NDArray[np.float64], hops: int, hop_weights: str) -> NDArray[np.float64]:
    """Entries of each pair of nodes from all walks of exactly ``hops`` edges; A is dense."""
    n = len(A)
    rows = np.zeros((n, n))
    for nodes in product(range(n), repeat=hops + 1):
        steps = list(pairwise(nodes))
        if any(A[step] == 0 for step in steps):
            continue  # not a walk
        first, last = nodes[0], nodes[-1]
        if hop_weights == "binary":
            rows[first, last] = 1.0
        elif hop_weights == "count":
            rows[first, last] += np.prod([A[step] for step in steps])
        else:
            rows[first, last] += np.prod([A[step] / A[step[0]].sum() for step in steps])
    return rows
