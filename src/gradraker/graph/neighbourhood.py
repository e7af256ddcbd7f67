"""Which nodes and edges a drawn neighbourhood shows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

_MOST_NEIGHBOURS = 14
_MOST_EDGES = 80


def find_neighbourhood(
    adjacency: csr_array,
    row: int,
    contributors: Sequence[int],
    *,
    is_shown: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], list[int]]:
    """Return the nodes of a drawn neighbourhood, and the edges between them.

    The node comes first, then its neighbours, contributors before others, then contributors that
    are further away.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        The edges that describe nodes.
    row : int
        The node in the middle.
    contributors : sequence of int
        Rows of the known nodes that count most.
    is_shown : bool array of shape (n,), optional
        Nodes that may be drawn.

    Returns
    -------
    nodes : int array
        Rows of the nodes.
    edges : list of int
        Positions in ``nodes``, two for each edge, of all edges between them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.graph.neighbourhood import find_neighbourhood
    >>> path = csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> nodes, edges = find_neighbourhood(path, 1, [3])
    >>> nodes.tolist(), edges
    ([1, 0, 2, 3], [0, 1, 0, 2, 2, 3])
    """
    near = adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]]
    near = near[near != row] if is_shown is None else near[(near != row) & is_shown[near]]
    counts = np.isin(near, list(contributors))
    near = near[np.argsort(~counts, kind="stable")[:_MOST_NEIGHBOURS]]
    far = [other for other in contributors if other not in near and other != row]
    nodes = np.concatenate([[row], near, far]).astype(np.int64)
    position = {node: i for i, node in enumerate(nodes.tolist())}
    edges: list[int] = []
    for i, node in enumerate(nodes.tolist()):
        for other in adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]:
            j = position.get(int(other))
            # Both directions of an edge are one line.
            is_new = j is not None and (i < j or (j != i and not _has_edge(adjacency, other, node)))
            if is_new and len(edges) < 2 * _MOST_EDGES:
                edges += [i, int(j)]  # type: ignore[arg-type]
    return nodes, edges


def _has_edge(adjacency: csr_array, source: int, target: int) -> bool:
    return target in adjacency.indices[adjacency.indptr[source] : adjacency.indptr[source + 1]]
