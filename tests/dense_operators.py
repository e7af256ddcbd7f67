"""A graph with signed weights, and the random vectors of its operators."""

from typing import Any

import numpy as np

from gradraker.features.walks import draw_vectors
from gradraker.models.walks.operators.operators import N_PROBES

N = 29


def make_matrix(seed: Any = 0) -> Any:
    """Weighted and directed, with negative weights and a node without edges."""
    rng = np.random.default_rng(seed)
    A = (rng.random((N, N)) < 0.12) * rng.uniform(0.2, 3.0, (N, N))
    A *= rng.choice([-1.0, 1.0], A.shape)
    A[3] = A[:, 3] = 0.0
    return A


def get_probes(operators: Any) -> Any:
    """The random vectors of the operators: drawn from the seed and the names of nodes."""
    walks = operators.walks
    return draw_vectors(walks.identities, N_PROBES, walks.seed ^ 0x70726F6265)
