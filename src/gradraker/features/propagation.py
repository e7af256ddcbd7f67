"""Random walks on a graph, applied to vectors: powers of the walk are never formed.

The walk is P, the rows of W = A + Aᵀ + I (or A + I, or Aᵀ + I) scaled to sum 1. A *reach* is a
polynomial f(P): ``hop3`` is P³, ``pagerank`` is 15 steps of R ← (1 − c) I + c P R from R = I, with
c = 0.95. Row n of f(P) says where walks from node n end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from gradraker._compiled.draws import NORMAL, draw_rows
from gradraker.features.threads import over_rows
from gradraker.graph.hops import largest_size

DAMPING = 0.95
PAGERANK_STEPS = 15
# Columns that go through the walk at once: long enough for vector instructions, and n × 64
# numbers of working memory.
_COLUMNS = 64
# Entries of a power of P that row norms may be taken from: 0.6 GB.
_MOST_ENTRIES = 50_000_000
# With fewer draws in a block, a second thread costs more than it saves.
_DRAWS_A_BLOCK = 50_000


def walk_matrix(
    A: csr_array, *, direction: str = "both", hidden: NDArray[np.bool_] | None = None
) -> csr_array:
    """The random walk P on a graph whose row n holds the edges out of n, each node with a loop.

    A step goes to a neighbour with a probability that is proportional to the absolute weight
    of the edge, where staying has weight 1. No walk enters a hidden node; walks may start there.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.propagation import walk_matrix
    >>> walk_matrix(csr_array([[0.0, 1.0], [0.0, 0.0]])).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    W = visible(linked(A, direction), hidden) + eye_array(A.shape[0])
    return csr_array(diags_array(1.0 / W.sum(axis=1)) @ W)


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


def reach_steps(reach: str) -> int:
    """Products with P that a reach takes.

    Examples
    --------
    >>> from gradraker.features.propagation import reach_steps
    >>> reach_steps("hop3"), reach_steps("pagerank")
    (3, 15)
    """
    return PAGERANK_STEPS if reach == "pagerank" else int(reach.removeprefix("hop"))


def propagated(P: csr_array, X: NDArray[np.float64], reach: str) -> NDArray[np.float64]:
    """f(P) X for a matrix X of shape (n, k), a few columns at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.propagation import propagated
    >>> propagated(csr_array([[0.5, 0.5], [0.0, 1.0]]), np.eye(2), "hop2")
    array([[0.25, 0.75],
           [0.  , 1.  ]])
    """
    result = np.empty((P.shape[0], X.shape[1]))  # [n, k]
    n_steps = reach_steps(reach)

    def walk(start: int, stop: int) -> None:
        for first in range(start, stop, _COLUMNS):
            columns = slice(first, min(first + _COLUMNS, stop))
            origin = np.ascontiguousarray(X[:, columns], dtype=np.float64)
            now: Any = origin
            for _ in range(n_steps):
                now = P @ now
                if reach == "pagerank":
                    now *= DAMPING
                    now += (1.0 - DAMPING) * origin
            result[:, columns] = now

    over_rows(walk, X.shape[1], _COLUMNS)
    return result


def reach_rows(P: csr_array, rows: NDArray[np.int64], reach: str) -> NDArray[np.float64]:
    """Rows of f(P), as columns: shape (n, len(rows))."""
    starts = np.zeros((P.shape[0], rows.size))  # [n, k]
    starts[rows, np.arange(rows.size)] = 1.0
    return propagated(csr_array(P.T), starts, reach)


def squared_norms(P: csr_array, reach: str) -> NDArray[np.float64] | None:
    """Squared length of each row of f(P) from sparse products; None where they do not fit."""
    if reach == "pagerank":
        return None
    power = P
    for _ in range(reach_steps(reach) - 1):
        if largest_size(power, P) > _MOST_ENTRIES:
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
    nodes are not counted.
    """
    out = visible(linked(A, "out"), hidden).sum(axis=1)  # [n]
    into = visible(linked(A, "in"), hidden).sum(axis=1)
    own = np.log1p(out + into)
    links = visible(linked(A, direction), hidden)
    total = links.sum(axis=1)
    mean = np.divide(links @ own, total, out=np.zeros_like(own), where=total > 0.0)
    return np.column_stack([own, np.log1p(out), np.log1p(into), mean])  # [n, 4]
