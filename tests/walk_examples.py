"""A small weighted graph and its walks."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker.features.walks import describe_walks


def make_matrix(seed: Any = 0, n: Any = 23, weighted: Any = True) -> Any:
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < 0.12).astype(np.float64)
    A = A * rng.uniform(0.2, 3.0, (n, n)) if weighted else A
    A[3] = A[:, 3] = 0.0  # without edges
    A[5, 5] = 2.0
    return A


def make_walks(A: Any, direction: Any = "both", hidden: Any = None, seed: Any = 1) -> Any:
    nodes = np.arange(len(A))
    return describe_walks(csr_array(A), nodes, direction=direction, seed=seed, hidden=hidden)


def get_walk(walks: Any) -> Any:
    return walks.matrices.P.toarray()
