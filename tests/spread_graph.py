"""The graph for tests of fits whose pieces a mapper computes, with copies or on a cluster."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

N = 300


def make_graph() -> tuple[csr_array, Any]:
    """A ring with random shortcuts, and a wave that is known at every third node."""
    rng = np.random.default_rng(0)
    start = np.repeat(np.arange(N), 4)
    ends = (start + rng.geometric(0.2, start.size)) % N
    A = csr_array((np.ones(start.size), (start, ends)), shape=(N, N))
    return A, np.where(np.arange(N) % 3 == 0, np.sin(np.arange(N) / 20), np.nan)
