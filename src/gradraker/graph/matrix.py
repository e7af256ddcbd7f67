"""From edges to the matrix of a graph: names, duplicates, direction, self loops."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._validation import check_choice, check_count, to_read_only
from gradraker.exceptions import ArgumentError, UnknownNodesError
from gradraker.graph.edges import EdgeList, GraphOptions, check_weights
from gradraker.graph.hops import HOP_WEIGHTS
from gradraker.graph.names import Names, check_names, check_same_type, find_positions, join_names

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]
_PLAIN = GraphOptions()


@dataclass(frozen=True)
class VectorOptions:
    """The arguments of :func:`gradraker.adjacency_vectors`, checked."""

    nodes: Iterable[Hashable] | None = None
    references: Iterable[Hashable] | None = None
    direction: str = "out"
    self_loops: str = "keep"
    hops: int = 1
    hop_weights: str = "count"
    duplicates: str = "sum"
    graph: GraphOptions = _PLAIN

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, ("out", "in", "both"))
        check_choice("self_loops", self.self_loops, ("keep", "add", "drop"))
        check_choice("duplicates", self.duplicates, ("sum", "last", "error"))
        check_choice("hop_weights", self.hop_weights, HOP_WEIGHTS)
        check_count("hops", self.hops)


class ChosenMatrix(NamedTuple):
    """The matrix of a whole graph, and which of its rows and columns are wanted."""

    matrix: sp.csr_array
    rows: NDArray[np.int64] | None  # None: all
    columns: NDArray[np.int64] | None
    nodes: Names  # names of the chosen rows
    references: Names  # names of the chosen columns


def choose_matrix(edges: EdgeList, options: VectorOptions) -> ChosenMatrix:
    """Return the matrix of a graph, and which of its rows and columns are wanted."""
    check_weights(edges)
    if edges.references is not None:
        _check_rectangular(edges, options)
    all_nodes, rows, columns = _choose_names(edges, options.nodes, options.references)
    all_references = all_nodes if edges.references is None else edges.references
    shape = (len(all_nodes), len(all_references))
    is_made_undirected = options.graph.directed is False and edges.directed
    entries = merge_duplicates(edges, options.duplicates)
    if not is_made_undirected:
        entries = orient_entries(entries, edges.directed, options.direction)
    source, target, weights = apply_self_loops(entries, shape[0], options.self_loops)
    full = sp.coo_array((weights, (source, target)), shape=shape).tocsr()
    full.sum_duplicates()
    if is_made_undirected:
        full = make_symmetric(full)
    if options.graph.weight is False:
        full.data[:] = 1.0
    return ChosenMatrix(
        full,
        rows,
        columns,
        to_read_only(all_nodes if rows is None else all_nodes[rows]),
        to_read_only(all_references if columns is None else all_references[columns]),
    )


def _choose_names(
    edges: EdgeList, nodes: Iterable[Hashable] | None, references: Iterable[Hashable] | None
) -> tuple[Names, Any, Any]:
    """Return all node names, and which of them get rows and columns (None: all)."""
    names = edges.nodes
    if nodes is None and not len(names):
        raise ValueError("graph has no edges: pass nodes to get rows of zeros")
    found: dict[str, Any] = {"nodes": None, "references": None}
    for argument, wanted in (("nodes", nodes), ("references", references)):
        if wanted is None:
            continue
        listed = check_names(wanted, argument=argument)
        apart = edges.references if argument == "references" else None
        present = names if apart is None else apart
        at = find_positions(listed, present)
        unknown = listed[at < 0]
        if len(unknown):
            check_same_type(unknown, present, argument=argument)
            if edges.complete:
                raise UnknownNodesError(argument, unknown.tolist(), "leave them out")
            at[at < 0] = len(names) + np.arange(len(unknown))
            names = join_names(names, unknown)
        found[argument] = at
    if nodes is None and len(names) > len(edges.nodes):
        # References without edges get columns, but no rows.
        found["nodes"] = np.arange(len(edges.nodes))
    if references is None and edges.references is None and len(names) > len(edges.nodes):
        found["references"] = np.arange(len(edges.nodes))
    return names, found["nodes"], found["references"]


def _check_rectangular(edges: EdgeList, options: VectorOptions) -> None:
    for argument, only in (("direction", "out"), ("self_loops", "keep"), ("hops", 1)):
        got = getattr(options, argument)
        if got != only:
            assert edges.references is not None
            size = f"{len(edges.nodes)} nodes × {len(edges.references)} references"
            raise ArgumentError(argument, f"{only!r} for a rectangular graph ({size})", got)


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
    >>> from gradraker.graph.matrix import is_symmetric
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
