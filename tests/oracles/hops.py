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


def compute_commute_times(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean steps from one node to another and back, over the sum of all weights.

    From the equations of hitting times: h_j(j) = 0, and h_j(i) = 1 + sum_k p_ik h_j(k) elsewhere.
    """
    n, walk = len(weights), weights / weights.sum(axis=1, keepdims=True)
    hitting = np.zeros((n, n))
    for end in range(n):
        others = np.delete(np.arange(n), end)
        system = np.eye(n - 1) - walk[np.ix_(others, others)]
        hitting[others, end] = np.linalg.solve(system, np.ones(n - 1))
    return np.asarray((hitting + hitting.T) / weights.sum())
