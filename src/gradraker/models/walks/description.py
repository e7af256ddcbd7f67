"""A graph as its random walks: what blocks and operators are made of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.features.walks import WalkMatrices, draw_vectors
from gradraker.graph.names import Names, identify_references

_ORDER_SEED = 0x6F72646572


@dataclass(frozen=True, eq=False)
class Walks:
    """A graph as its random walks: what blocks and operators are made of."""

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
        """Logarithms log(1 + ·) of the degrees of each node (n, 4), standardised over old nodes.

        Sums of the absolute weights of all edges, of the edges out of the node, and of those into
        it; then the mean of the first column over the neighbours (0 without neighbours). Edges to
        hidden nodes do not count, nor do edges of the other direction where one is chosen.
        """
        m = self.matrices
        nothing = np.zeros(m.n)
        out = nothing if m.direction == "in" else m.get_edges("out").sum(axis=1)  # [n]
        into = nothing if m.direction == "out" else m.get_edges("in").sum(axis=1)
        own = np.log1p(out + into)
        links = m.get_edges(m.direction)
        total = links.sum(axis=1)
        mean = np.divide(links @ own, total, out=np.zeros_like(own), where=total > 0.0)
        columns = np.column_stack([own, np.log1p(out), np.log1p(into), mean])  # [n, 4]
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
