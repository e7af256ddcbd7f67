"""From edges as given to the entries of a matrix: duplicates, direction, self loops."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.graph.edges import EdgeList

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


def merge_duplicates(edges: EdgeList, duplicates: str) -> Entries:
    """Return source, target and weight of each edge, after the rule for duplicates.

    Sums are left to the conversion to CSR, which forms them anyway.
    """
    source, target = edges.source, edges.target
    if not edges.directed:
        # The same end first, in whichever order an edge was listed.
        source, target = np.minimum(source, target), np.maximum(source, target)
    weight = np.ones(len(source)) if edges.weight is None else edges.weight
    if duplicates == "sum" or not len(source):
        return source, target, weight
    width = len(edges.nodes) if edges.references is None else len(edges.references)
    keys = source.astype(np.int64) * width + target
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    followed = ordered[1:] == ordered[:-1]
    if duplicates == "error" and followed.any():
        name = edges.format_edge(int(order[np.flatnonzero(followed)[0]]))
        raise ValueError(
            f"edge {name} is given more than once: pass duplicates='sum' or 'last' to merge edges"
        )
    kept = np.sort(order[np.append(~followed, True)])  # the last of each run of equal keys
    return source[kept], target[kept], weight[kept]


def orient_entries(entries: Entries, directed: bool, direction: str) -> Entries:
    """Return entries (row, column, weight), with the edges in each row that ``direction`` asks."""
    source, target, weight = entries
    if directed and direction == "out":
        return source, target, weight
    if directed and direction == "in":
        return target, source, weight
    back = source != target  # a loop leads out of its node and into it, but is one edge
    return (
        np.concatenate([source, target[back]]),
        np.concatenate([target, source[back]]),
        np.concatenate([weight, weight[back]]),
    )


def is_symmetric(A: sp.csr_array) -> bool:
    """Whether each edge has its reverse, with the same weight.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from gradraker.graph.merging import is_symmetric
    >>> is_symmetric(sp.csr_array([[0, 2], [2, 1]])), is_symmetric(sp.csr_array([[0, 2], [1, 0]]))
    (True, False)
    """
    n_into = np.bincount(A.indices, minlength=A.shape[0])
    if not np.array_equal(np.diff(A.indptr), n_into) and A.data.all():
        return False  # as most directed graphs, without a transposed copy
    return bool((A != A.T).nnz == 0)


def make_symmetric(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix with each edge both ways; one that is there both ways has its mean weight.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> make_symmetric(sp.csr_array([[5.0, 1.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])).toarray()
    array([[5. , 1. , 3.5],
           [1. , 0. , 0. ],
           [3.5, 0. , 0. ]])
    """
    pattern = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape)
    share = sp.csr_array(pattern + pattern.T)  # how often an edge is there: once or twice
    share.data = 1.0 / share.data
    symmetric = sp.csr_array(sp.csr_array(matrix + matrix.T).multiply(share))
    symmetric.sort_indices()
    return symmetric


def apply_self_loops(entries: Entries, n: int, self_loops: str) -> Entries:
    """Return the entries with self loops kept, dropped, or added where a node has none."""
    source, target, weight = entries
    if self_loops == "keep":
        return source, target, weight
    loop = source == target
    if self_loops == "drop":
        return source[~loop], target[~loop], weight[~loop]
    without = np.ones(n, dtype=bool)
    without[source[loop & (weight != 0.0)]] = False
    added = np.flatnonzero(without).astype(source.dtype)
    return (
        np.concatenate([source, added]),
        np.concatenate([target, added]),
        np.concatenate([weight, np.ones(len(added))]),
    )
