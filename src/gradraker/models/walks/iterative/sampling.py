"""A part of a large graph to choose on: nodes around a random one, with all edges between them."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._compiled.breadth_first import find_around
from gradraker.features.walks import WalkMatrices, Walks

Rows = NDArray[np.int64]


def sample_region(walks: Walks, n_nodes: int) -> Rows:
    """Positions of about so many nodes, in order, each found by an edge from those before it.

    Starts at the first node of :attr:`Walks.order`, and again at the next one that was not reached,
    so the sample depends on the graph, the names and the seed only.
    """
    A = walks.matrices.A
    back = A
    if not walks.matrices.is_oriented:
        ones = np.ones(A.nnz, dtype=np.int8)
        back = csr_array(csr_array((ones, A.indices, A.indptr), shape=A.shape).T)
    is_taken = np.zeros(walks.n, dtype=np.bool_)
    parts: list[Rows] = []
    n_taken = 0
    for start in walks.order.tolist():
        if n_taken >= n_nodes:
            break
        if is_taken[start]:
            continue
        room = np.empty(n_nodes - n_taken, dtype=np.int64)
        n_found = find_around(A.indptr, A.indices, back.indptr, back.indices, start, is_taken, room)
        parts.append(room[:n_found])
        n_taken += n_found
    return np.sort(np.concatenate(parts))


def take_region(walks: Walks, nodes: Rows) -> Walks:
    """The walks within a part of the graph."""
    matrices = walks.matrices
    hidden = None if matrices.hidden is None else matrices.hidden[nodes]
    A = csr_array(matrices.A[nodes][:, nodes], dtype=np.float64)
    A.eliminate_zeros()
    is_oriented = matrices.is_oriented
    return Walks(
        WalkMatrices(A, direction=matrices.direction, hidden=hidden, is_oriented=is_oriented),
        walks.identities[nodes],
        walks.seed,
        nodes.size,
    )
