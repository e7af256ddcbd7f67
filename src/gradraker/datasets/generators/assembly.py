"""The last step that all generators share: a matrix of links."""

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

RandomState: TypeAlias = int | np.random.Generator | None
Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


def build_adjacency(
    n_nodes: int, source: Indices, target: Indices, weight: Floats, *, directed: bool
) -> sp.csr_array:
    """Make an adjacency matrix of links; an undirected link is stored in both rows."""
    if not directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        weight = np.concatenate([weight, weight])
    return sp.coo_array((weight, (source, target)), shape=(n_nodes, n_nodes)).tocsr()
