"""A graph as its random walks: what blocks and operators are made of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.features.identities import identify_references
from gradraker.features.walks import WalkMatrices, compute_degree_columns, draw_vectors
from gradraker.graph.names import Names

_ORDER_SEED = 0x6F72646572


@dataclass(frozen=True, eq=False)
class Walks:
    """A graph as its random walk: what blocks are made of."""

    matrices: WalkMatrices
    identities: NDArray[np.uint64]  # [n]
    seed: int
    n_old: int  # the first nodes, which means are taken over

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.matrices.n

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Degrees (n, 4), standardised over the old nodes; see ``compute_degree_columns``."""
        m = self.matrices
        columns = compute_degree_columns(m.A, direction=m.direction, hidden=m.hidden)
        old = columns[: self.n_old]
        spread = old.std(axis=0)
        varies = spread > 1e-12 * (1.0 + np.abs(old).max(axis=0))
        scale = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
        return np.asarray((columns - old.mean(axis=0)) * scale)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The nodes in a random order that depends on the seed and their names only."""
        keys = draw_vectors(self.identities, 1, self.seed ^ _ORDER_SEED)[:, 0]
        return np.lexsort((self.identities, keys))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Place of each node in :attr:`order`."""
        rank = np.empty(self.n, dtype=np.int64)
        rank[self.order] = np.arange(self.n)
        return rank


def describe_walks(
    A: csr_array,
    nodes: Names,
    *,
    direction: str,
    seed: int,
    hidden: NDArray[np.bool_] | None = None,
    n_old: int | None = None,
) -> Walks:
    """Describe a graph whose row n holds the edges out of n.

    Hidden nodes are excluded from walks. Means are taken over the first ``n_old`` nodes.
    """
    return Walks(
        WalkMatrices(A, direction=direction, hidden=hidden),
        identify_references(nodes if nodes.dtype == np.int64 else nodes.tolist()),
        seed,
        len(nodes) if n_old is None else n_old,
    )
