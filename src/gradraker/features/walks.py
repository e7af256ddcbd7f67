"""Random walks on a graph, applied to vectors: powers of a walk are never formed.

A *reach* says where walks from a node end. With P the walk on A + Aᵀ + I (rows scaled to sum 1), W
that on A + Aᵀ, and O and N those on A and Aᵀ:

================ ===================================================================
``hop1``, …      Pᵏ
``community``    P⁸ less the mean of its rows: what a walk still knows of where it began
``pagerank``     personalised PageRank of P: damping 0.95, 15 steps
``far``          the same with damping 0.99 and 40 steps
``alternating``  PageRank of −W, 0.95, 15: neighbours count against, theirs for a node
``same_targets`` PageRank of O N, 0.95, 8: nodes that link to the same nodes
``same_sources`` PageRank of N O, 0.95, 8: nodes that the same nodes link to
================ ===================================================================

where PageRank of T with damping c is the last R of R ← (1 − c) I + c T R from R = I. Direction
"out" or "in" puts A or Aᵀ in the place of A + Aᵀ.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gradraker._compiled.draws import NORMAL, draw_rows
from gradraker._compiled.sparse_product import sparse_times
from gradraker.features.parallel import over_rows
from gradraker.graph.hops import bound_product_size

# Columns that go through the walk at once: long enough for vector instructions, and n × 64
# numbers of working memory.
_COLUMNS = 64
# Entries of a power of P that row norms may be taken from: 0.6 GB.
_MOST_ENTRIES = 50_000_000
# With fewer draws in a block, a second thread costs more than it saves.
_DRAWS_A_BLOCK = 50_000


class Reach(NamedTuple):
    """How a reach is walked: matrices of one step, steps, damping (None: a plain power).

    If it is ``centred``, the mean of all rows is subtracted from each.
    """

    step: tuple[str, ...]
    n_steps: int
    damping: float | None
    sign: float = 1.0
    centred: bool = False


_NAMED = {
    "community": Reach(("P",), 8, None, centred=True),
    "pagerank": Reach(("P",), 15, 0.95),
    "far": Reach(("P",), 40, 0.99),
    "alternating": Reach(("W",), 15, 0.95, -1.0),
    "same_targets": Reach(("O", "N"), 8, 0.95),
    "same_sources": Reach(("N", "O"), 8, 0.95),
}
REACHES = (*_NAMED, *(f"hop{k}" for k in range(1, 100)))


def reach_of(name: str) -> Reach:
    """The reach of that name.

    Examples
    --------
    >>> from gradraker.features.walks import reach_of
    >>> reach_of("hop3").n_steps, reach_of("far").damping
    (3, 0.99)
    """
    return _NAMED.get(name) or Reach(("P",), int(name.removeprefix("hop")), None)


class WalkMatrices:
    """The walks P, W, O and N of a graph whose row n holds the edges out of n.

    A step goes to a neighbour with a probability that is proportional to the absolute weight
    of the edge; in P each node has a loop of weight 1. A node without neighbours stays where it is
    in P, and leads nowhere in the others. No walk enters a hidden node or stays there; walks may
    start there.

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
    ) -> None:
        self._A, self._direction, self._hidden = A, direction, hidden
        self.n = int(A.shape[0])

    def _seen(self, direction: str) -> csr_array:
        return visible(linked(self._A, direction), self._hidden)

    @cached_property
    def P(self) -> csr_array:  # noqa: N802
        """The walk with loops."""
        seen = self._seen(self._direction)
        loops = np.ones(self.n)
        if self._hidden is not None:  # nobody else walks there, so that it would tell nothing
            loops[self._hidden & (seen.sum(axis=1) > 0.0)] = 0.0
        return row_scaled(csr_array(seen + diags_array(loops)))

    @cached_property
    def W(self) -> csr_array:  # noqa: N802
        """The walk without loops."""
        return row_scaled(self._seen(self._direction))

    @cached_property
    def O(self) -> csr_array:  # noqa: N802, E743
        """The walk along edges."""
        return row_scaled(self._seen("out"))

    @cached_property
    def N(self) -> csr_array:  # noqa: N802
        """The walk against edges."""
        return row_scaled(self._seen("in"))

    def step(self, reach: Reach) -> list[csr_array]:
        """Matrices whose product is one step of a reach."""
        return [getattr(self, name) for name in reach.step]

    def step_back(self, reach: Reach) -> list[csr_array]:
        """Matrices whose product is the transpose of one step."""
        return [csr_array(matrix.T) for matrix in reversed(self.step(reach))]


def row_scaled(W: csr_array) -> csr_array:
    """Rows scaled to sum 1; empty rows stay empty."""
    sums = W.sum(axis=1)
    return csr_array(diags_array(1.0 / np.where(sums > 0.0, sums, 1.0)) @ W)


def linked(A: csr_array, direction: str) -> csr_array:
    """Absolute weights of the edges that a walk may take: |A|, |A|ᵀ or their sum."""
    absolute = abs(A)
    if direction == "out":
        return csr_array(absolute)
    return csr_array(absolute.T) if direction == "in" else csr_array(absolute + absolute.T)


def visible(A: csr_array, hidden: NDArray[np.bool_] | None) -> csr_array:
    """Entries that do not lead to a hidden node, but for a node's loop to itself."""
    if hidden is None or not hidden.any():
        return A
    entries = A.tocoo()
    kept = ~hidden[entries.col] | (entries.row == entries.col)
    return csr_array(
        (entries.data[kept], (entries.row[kept], entries.col[kept])), shape=entries.shape
    )


def propagated(step: Sequence[csr_array], X: NDArray[Any], reach: Reach) -> NDArray[np.float64]:
    """f(T) X for a matrix X of shape (n, k), where T is the product of ``step``.

    A few columns at a time, so that beside X and the result little memory is used.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import propagated, reach_of
    >>> propagated([csr_array([[0.5, 0.5], [0.0, 1.0]])], np.eye(2), reach_of("hop2"))
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    result = np.empty((step[0].shape[0], X.shape[1]))  # [n, k]

    def walk(start: int, stop: int) -> None:
        for first in range(start, stop, _COLUMNS):
            columns = slice(first, min(first + _COLUMNS, stop))
            origin = np.ascontiguousarray(X[:, columns], dtype=np.float64)
            now, other, free = origin, np.empty_like(origin), np.empty_like(origin)
            for _ in range(reach.n_steps):
                for matrix in reversed(step):
                    sparse_times(matrix.indptr, matrix.indices, matrix.data, now, other)
                    now, other, free = other, free, other
                if reach.damping is not None:
                    now *= reach.sign * reach.damping
                    now += (1.0 - reach.damping) * origin
            result[:, columns] = now

    over_rows(walk, X.shape[1], _COLUMNS)
    return result


def reach_rows(
    matrices: WalkMatrices, rows: NDArray[np.int64], reach: Reach
) -> NDArray[np.float64]:
    """Rows of f(T), as columns: shape (n, len(rows))."""
    starts = np.zeros((matrices.n, rows.size))  # [n, k]
    starts[rows, np.arange(rows.size)] = 1.0
    return propagated(matrices.step_back(reach), starts, reach)


def mean_row(matrices: WalkMatrices, reach: Reach, n: int) -> NDArray[np.float64]:
    """Mean of the rows of f(T) of the first n nodes, shape (number of nodes,)."""
    starts = np.zeros((matrices.n, 1))
    starts[:n] = 1.0 / n
    return propagated(matrices.step_back(reach), starts, reach)[:, 0]


def squared_norms(matrices: WalkMatrices, reach: Reach) -> NDArray[np.float64] | None:
    """Squared length of each row of a power from sparse products; None where they do not fit."""
    if reach.damping is not None or reach.centred:
        return None
    (P,) = matrices.step(reach)
    power = P
    for _ in range(reach.n_steps - 1):
        if bound_product_size(power, P) > _MOST_ENTRIES:
            return None
        power = power @ P
    return np.asarray(power.multiply(power).sum(axis=1))


def random_vectors(identities: NDArray[np.uint64], n_vectors: int, seed: int) -> Any:
    """Normal numbers (n, n_vectors), float32; a row depends on seed and node identity only."""
    vectors = np.empty((identities.size, n_vectors), dtype=np.float32)
    rows = np.arange(identities.size)

    def draw(start: int, stop: int) -> None:
        draw_rows(np.uint64(seed), identities, rows[start:stop], NORMAL, vectors)

    over_rows(draw, identities.size, 1 + _DRAWS_A_BLOCK // n_vectors)
    return vectors


def degree_columns(
    A: csr_array, *, direction: str = "both", hidden: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Logarithms log(1 + ·) of the degrees of each node, shape (n, 4).

    Sums of absolute weights: of all its edges, of those out of it, of those into it; and the
    mean over its neighbours of the logarithm of the first (0 without neighbours). Edges to hidden
    nodes are not counted, nor those of the other direction where one is chosen.
    """
    nothing = np.zeros(A.shape[0])
    out = nothing if direction == "in" else visible(linked(A, "out"), hidden).sum(axis=1)  # [n]
    into = nothing if direction == "out" else visible(linked(A, "in"), hidden).sum(axis=1)
    own = np.log1p(out + into)
    links = visible(linked(A, direction), hidden)
    total = links.sum(axis=1)
    mean = np.divide(links @ own, total, out=np.zeros_like(own), where=total > 0.0)
    return np.column_stack([own, np.log1p(out), np.log1p(into), mean])  # [n, 4]
