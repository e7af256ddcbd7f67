"""Random walks on a graph, applied to vectors; powers of a walk are never formed.

A *reach* is a distribution of the ends of walks from a node. With P the walk on A + Aᵀ + I (rows
scaled to sum 1), W that on A + Aᵀ, and O and N those on A and Aᵀ:

================ ===============================================================================
``hop1``, …      Pᵏ
``community``    P⁸ minus the mean of its rows: how much the end of a walk depends on its start
``pagerank``     personalised PageRank of P: damping 0.95, 15 steps
``far``          the same with damping 0.99 and 40 steps
``wide``         T₃₁(P/c) / T₃₁(1/c), a Chebyshev polynomial that is 2000 at 1/c: near P¹²⁸
``alternating``  PageRank of −W, 0.95, 15: neighbours count negative, their neighbours positive
``same_targets`` PageRank of O N, 0.95, 8: nodes that link to the same nodes
``same_sources`` PageRank of N O, 0.95, 8: nodes that the same nodes link to
================ ===============================================================================

where PageRank of T with damping c is the last R of R ← (1 − c) I + c T R from R = I. Direction
"out" or "in" replaces A + Aᵀ by A or Aᵀ. :func:`compute_commutes` compares nodes by how long walks
take from one to the other and back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csr_array, diags_array

from gradraker._compiled.draws import NORMAL, draw_rows
from gradraker._compiled.sparse_product import multiply_sparse
from gradraker.features.engine import Engine, parallel_for
from gradraker.features.row_blocks import RowBlocks
from gradraker.graph.names import Names, identify_references

# Columns that are multiplied together: enough for vector instructions, with n × 64 numbers of
# working memory.
_COLUMNS_AT_ONCE = 64
# Value at 1 of a Chebyshev polynomial in place of a long walk, divided by its maximum within ±c.
CHEBYSHEV_RATIO = 2000.0
# With fewer draws in a block, a second thread costs more than it saves.
_DRAWS_PER_BLOCK = 50_000
_ORDER_SEED = 0x6F72646572
# Added to the Laplacian so that it can be inverted, in mean degrees over the number of nodes: far
# below its positive eigenvalues, except in long chains of nodes.
_RIDGE = 1e-3


class Reach(NamedTuple):
    """How a reach is computed: matrices of one step, number of steps, damping (None: plain power).

    With ``centred`` the mean of all rows is subtracted from each. With ``is_chebyshev`` the walk is
    a Chebyshev polynomial, which forgets its start as a power of four times as many steps does.
    """

    step: tuple[str, ...]
    n_steps: int
    damping: float | None
    sign: float = 1.0
    centred: bool = False
    is_chebyshev: bool = False

    def list_factors(self) -> list[tuple[float, float]]:
        """(a, b) of each step: R ← a T R + b times the R before, or I with damping."""
        if self.damping is not None:
            return [(self.sign * self.damping, 1.0 - self.damping)] * self.n_steps
        if not self.is_chebyshev:
            return [(1.0, 0.0)] * self.n_steps
        angle = math.acosh(CHEBYSHEV_RATIO) / self.n_steps
        at_one = [math.cosh(j * angle) for j in range(self.n_steps + 1)]  # T_j(1/c)
        return [(1.0, 0.0)] + [
            (2.0 * at_one[1] * at_one[j] / at_one[j + 1], -at_one[j - 1] / at_one[j + 1])
            for j in range(1, self.n_steps)
        ]


_NAMED_REACHES = {
    "community": Reach(("P",), 8, None, centred=True),
    "pagerank": Reach(("P",), 15, 0.95),
    "far": Reach(("P",), 40, 0.99),
    "wide": Reach(("P",), 31, None, is_chebyshev=True),
    "alternating": Reach(("W",), 15, 0.95, -1.0),
    "same_targets": Reach(("O", "N"), 8, 0.95),
    "same_sources": Reach(("N", "O"), 8, 0.95),
}
REACHES = (*_NAMED_REACHES, *(f"hop{k}" for k in range(1, 1000)))


def get_reach(name: str) -> Reach:
    """Return the reach of that name.

    Examples
    --------
    >>> from gradraker.features.walks import get_reach
    >>> get_reach("hop3").n_steps, get_reach("far").damping
    (3, 0.99)
    """
    return _NAMED_REACHES.get(name) or Reach(("P",), int(name.removeprefix("hop")), None)


class WalkMatrices:
    """The walks P, W, O and N of a graph whose row n holds the edges out of n.

    A step goes to a neighbour with a probability proportional to the absolute weight of the
    edge; in P each node has a loop of weight 1. At a node without neighbours, the walk P stays and
    the others end. Hidden nodes are excluded from walks, except as their start.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import WalkMatrices
    >>> WalkMatrices(csr_array([[0.0, 1.0], [0.0, 0.0]])).P.toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        A: csr_array,
        *,
        direction: str = "both",
        hidden: NDArray[np.bool_] | None = None,
        is_oriented: bool = False,
        folder: Path | None = None,
    ) -> None:
        self.A, self.direction, self.hidden = A, direction, hidden
        # Whether A is |E| + |E|ᵀ of edges E already; the folder that its arrays are mapped from.
        self.is_oriented, self.folder = is_oriented, folder
        self.n = int(A.shape[0])

    def get_edges(self, direction: str) -> Any:
        """Absolute weights of the edges that a walk of this direction may take."""
        if self.is_oriented:
            return self.A if self.folder is None else RowBlocks(self.A)
        return drop_hidden(orient_edges(self.A, direction), self.hidden)

    @cached_property
    def P(self) -> csr_array:  # noqa: N802
        """The walk with loops."""
        edges = self.get_edges(self.direction)
        return scale_rows(csr_array(edges + diags_array(self.make_loops(edges))))

    def sum_edges(self, direction: str) -> NDArray[np.float64]:
        """Sum of the weights of each node's edges of a direction."""
        if (
            direction == "in" and self.hidden is None and not self.is_oriented
        ):  # without a transposed copy
            return np.asarray(abs(self.A).sum(axis=0))
        return np.asarray(self.get_edges(direction).sum(axis=1))

    def make_loops(self, edges: csr_array) -> NDArray[np.float64]:
        """Weights of the loops that go with edges: 1, or 0 at a hidden node that has edges."""
        loops = np.ones(self.n)
        if self.hidden is not None:  # no other walk passes a hidden node
            loops[self.hidden & (edges.sum(axis=1) > 0.0)] = 0.0
        return loops

    @cached_property
    def W(self) -> csr_array:  # noqa: N802
        """The walk without loops."""
        return scale_rows(self.get_edges(self.direction))

    @cached_property
    def O(self) -> csr_array:  # noqa: N802, E743
        """The walk along edges."""
        return scale_rows(self.get_edges("out"))

    @cached_property
    def N(self) -> csr_array:  # noqa: N802
        """The walk against edges."""
        return scale_rows(self.get_edges("in"))

    def get_step(self, reach: Reach) -> list[csr_array]:
        """Matrices whose product is one step of a reach."""
        return [getattr(self, name) for name in reach.step]

    def get_step_back(self, reach: Reach) -> list[csr_array]:
        """Matrices whose product is the transpose of one step."""
        return [csr_array(matrix.T) for matrix in reversed(self.get_step(reach))]


def scale_rows(W: csr_array) -> csr_array:
    """Scale rows to sum 1; empty rows stay empty."""
    sums = W.sum(axis=1)
    data = np.repeat(1.0 / np.where(sums > 0.0, sums, 1.0), np.diff(W.indptr))
    data *= W.data
    return csr_array((data, W.indices, W.indptr), shape=W.shape)


def orient_edges(A: csr_array, direction: str) -> csr_array:
    """Absolute weights of the edges that a walk may take: |A|, |A|ᵀ or their sum."""
    absolute = abs(A)
    if direction == "out":
        return csr_array(absolute)
    return csr_array(absolute.T) if direction == "in" else csr_array(absolute + absolute.T)


def drop_hidden(A: csr_array, hidden: NDArray[np.bool_] | None) -> csr_array:
    """Drop the entries that lead to a hidden node, except loops."""
    if hidden is None or not hidden.any():
        return A
    entries = A.tocoo()
    kept = ~hidden[entries.col] | (entries.row == entries.col)
    return csr_array(
        (entries.data[kept], (entries.row[kept], entries.col[kept])), shape=entries.shape
    )


def propagate(step: Sequence[csr_array], X: NDArray[Any], reach: Reach) -> NDArray[np.float64]:
    """f(T) X for a matrix X of shape (n, k), where T is the product of ``step``.

    A few columns at a time, so little memory is used beyond X and the result.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import propagate, get_reach
    >>> propagate([csr_array([[0.5, 0.5], [0.0, 1.0]])], np.eye(2), get_reach("hop2"))
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    result = np.empty((step[0].shape[0], X.shape[1]))  # [n, k]

    def walk(start: int, stop: int) -> None:
        for first in range(start, stop, _COLUMNS_AT_ONCE):
            columns = slice(first, min(first + _COLUMNS_AT_ONCE, stop))
            origin = np.ascontiguousarray(X[:, columns], dtype=np.float64)
            now = earlier = origin
            free = [np.empty_like(origin) for _ in range(2 + len(step))]
            for factor, kept in reach.list_factors():
                ends = now
                for matrix in reversed(step):
                    start_of_step, ends = ends, free.pop()
                    multiply_sparse(matrix.indptr, matrix.indices, matrix.data, start_of_step, ends)
                    if start_of_step is not now:
                        free.append(start_of_step)
                if kept:
                    ends *= factor
                    ends += kept * (earlier if reach.is_chebyshev else origin)
                if earlier is not origin:
                    free.append(earlier)
                now, earlier = ends, now
            result[:, columns] = now

    parallel_for(walk, X.shape[1], _COLUMNS_AT_ONCE)
    return result


def compute_commutes(matrices: WalkMatrices) -> NDArray[np.float64]:
    """Place nodes so that squared distances are commute times of the walk W; inner products (n, n).

    The inverse of the Laplacian: ‖a − b‖² is the effective resistance between two nodes, which is
    the mean number of steps from one to the other and back over the sum of all weights. Inner
    products are 0 for nodes that no walk connects. A hidden node is the mean of its neighbours,
    with 1/degree of its own.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import WalkMatrices, compute_commutes
    >>> G = compute_commutes(WalkMatrices(csr_array([[0, 2.0, 0], [0, 0, 2.0], [0, 0, 0]])))
    >>> (G[0, 0] + G[2, 2] - 2 * G[0, 2]).round(2)  # two edges of weight 2 in a row
    np.float64(1.0)
    """
    edges = matrices.get_edges("both")
    hidden = np.zeros(matrices.n, np.bool_) if matrices.hidden is None else matrices.hidden
    visible = np.flatnonzero(~hidden)
    links = edges[visible][:, visible]
    degrees = np.asarray(links.sum(axis=1))
    ridge = _RIDGE * float(degrees.mean() or 1.0) / visible.size if visible.size else _RIDGE
    laplacian = (diags_array(degrees + ridge) - links).toarray(order="F")
    factor, _ = lapack.dpotrf(laplacian, lower=1, overwrite_a=1)
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    inverse = np.tril(inverse)  # [visible, visible]
    inverse += np.tril(inverse, -1).T
    if not hidden.any():
        return np.asarray(inverse)
    around = csr_array(edges[:, visible])
    sums = np.asarray(around.sum(axis=1))
    own = np.where(hidden, 1.0 / np.where(sums > 0.0, sums, ridge), 0.0)
    itself = csr_array((np.ones(visible.size), (visible, range(visible.size))), around.shape)
    mean = itself + diags_array(own) @ around  # [n, visible]
    return np.asarray(mean @ (mean @ inverse).T + np.diag(own))


class Walker:
    """Walks of one graph; arguments and results are arrays of the engine.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.engine import CpuEngine
    >>> from gradraker.features.walks import Walker, WalkMatrices, get_reach
    >>> walker = Walker(WalkMatrices(csr_array([[0.0, 1.0], [0.0, 0.0]])), CpuEngine())
    >>> walker.compute_rows(np.array([0]), get_reach("hop1"))
    array([[0.5],
           [0.5]])
    """

    def __init__(self, matrices: WalkMatrices, engine: Engine) -> None:
        self.matrices, self.engine = matrices, engine
        self._loaded: dict[tuple[str, bool], Any] = {}

    def walk(self, reach: Reach, X: Any, *, back: bool = False) -> Any:
        """f(T) X, or f(T)ᵀ X with ``back``, for X (n, k)."""
        if self.engine.name == "cpu":
            m = self.matrices
            return propagate(m.get_step_back(reach) if back else m.get_step(reach), X, reach)
        names = reach.step[::-1] if back else reach.step
        step = [self._load(name, back) for name in names]
        now, other, free = X, self.engine.xp.empty_like(X), self.engine.xp.empty_like(X)
        for number, (factor, kept) in enumerate(reach.list_factors()):
            for matrix in step[:0:-1]:
                self.engine.multiply(matrix, now, X.shape[1], other)
                now, other, free = other, free, other
            if kept and (number < 2 or not reach.is_chebyshev):  # later it holds the previous R
                other[...] = X
            self.engine.multiply(step[0], now, X.shape[1], other, factor, kept)
            now, other, free = other, free, other
        return now

    def _load(self, name: str, back: bool) -> Any:
        if (name, back) not in self._loaded:
            matrix = getattr(self.matrices, name)
            matrix = csr_array(matrix.T) if back else matrix
            self._loaded[name, back] = self.engine.load_sparse(matrix, np.float64)
        return self._loaded[name, back]

    def compute_rows(self, rows: NDArray[np.int64], reach: Reach) -> Any:
        """Rows of f(T), as columns: shape (n, len(rows))."""
        load_rows = self.engine.load_rows
        starts = self.engine.xp.zeros((self.matrices.n, rows.size))  # [n, k]
        starts[load_rows(rows), load_rows(np.arange(rows.size))] = 1.0
        return self.walk(reach, starts, back=True)

    def compute_mean_row(self, reach: Reach, n: int) -> Any:
        """Mean of the rows of f(T) of the first n nodes, shape (number of nodes,)."""
        starts = self.engine.xp.zeros((self.matrices.n, 1))
        starts[:n] = 1.0 / n
        return self.walk(reach, starts, back=True)[:, 0]


def draw_vectors(
    identities: NDArray[np.uint64], n_vectors: int, seed: int, vectors: Any = None
) -> Any:
    """Normal numbers (n, n_vectors), float32; a row depends on seed and node identity only.

    They are written into ``vectors`` if it is given.
    """
    if vectors is None:
        vectors = np.empty((identities.size, n_vectors), dtype=np.float32)
    rows = np.arange(identities.size)

    def draw(start: int, stop: int) -> None:
        draw_rows(np.uint64(seed), identities, rows[start:stop], NORMAL, vectors)

    parallel_for(draw, identities.size, 1 + _DRAWS_PER_BLOCK // n_vectors)
    return vectors


class Structure(NamedTuple):
    """Degrees of the nodes and of their surroundings, which describe nodes by structure alone."""

    own: NDArray[np.float64]  # [n]: log(1 + degree)
    around: NDArray[np.float64]  # [n]: its mean over the neighbours

    def describe(self, links: Any) -> NDArray[np.float64]:
        """Describe nodes whose edges are ``links`` (m, n), shape (m, 4).

        log(1 + degree), its mean and its standard deviation over the neighbours, and the mean of
        those means. The degree is the sum of absolute weights; without neighbours all are 0.
        """
        total = links.sum(axis=1)
        divisors = np.where(total > 0.0, total, 1.0)
        mean, squares, around = (
            (links @ column) / divisors for column in (self.own, self.own**2, self.around)
        )
        variance = np.maximum(squares - mean**2, 0.0)
        return np.column_stack([np.log1p(total), mean, np.sqrt(variance), around])


def measure_structure(links: Any) -> Structure:
    """Measure the degrees of a graph whose row n holds the absolute weights of edges of n."""
    total = links.sum(axis=1)
    own = np.log1p(total)
    return Structure(own, (links @ own) / np.where(total > 0.0, total, 1.0))


@dataclass(frozen=True, eq=False)
class Walks:
    """A graph as its random walks, from which blocks and operators are computed."""

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
        zeros = np.zeros(m.n)
        out = zeros if m.direction == "in" else m.get_edges("out").sum(axis=1)  # [n]
        into = zeros if m.direction == "out" else m.get_edges("in").sum(axis=1)
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
