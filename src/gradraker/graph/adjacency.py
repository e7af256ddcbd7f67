"""Adjacency vectors: the rows by which a learner sees nodes."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker._validation import check_choice, check_count, to_read_only
from gradraker.exceptions import ArgumentError, UnknownNodesError
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.edges import EdgeList, check_weights
from gradraker.graph.hops import HOP_WEIGHTS, count_walks
from gradraker.graph.merging import (
    apply_self_loops,
    make_symmetric,
    merge_duplicates,
    orient_entries,
)
from gradraker.graph.names import (
    Names,
    check_names,
    check_same_type,
    find_positions,
    join_names,
)


@dataclass(frozen=True, repr=False, eq=False)
class AdjacencyVectors:
    """Adjacency vectors of nodes, with names.

    Parameters
    ----------
    rows : csr_array of shape (n, m)
        Row i is the adjacency vector of node i: weights of its edges to each reference.
        Columns are sorted, no entry is stored twice or is 0.
    nodes : array of shape (n,)
        Name of each row: int64, or Python objects.
    references : array of shape (m,)
        Name of each column.

    Examples
    --------
    >>> from gradraker import adjacency_vectors
    >>> vectors = adjacency_vectors([("a", "b", 2.0), ("a", "c", 0.5)])
    >>> vectors
    AdjacencyVectors(3 nodes × 3 references, 2 entries)
    >>> vectors.rows.toarray()[0].tolist(), vectors.references.tolist()
    ([0.0, 2.0, 0.5], ['a', 'b', 'c'])
    """

    rows: sp.csr_array
    nodes: Names
    references: Names

    def __repr__(self) -> str:
        n, m = self.rows.shape
        return f"AdjacencyVectors({n} nodes × {m} references, {self.rows.nnz} entries)"


def adjacency_vectors(
    graph: Any,
    *,
    nodes: Iterable[Hashable] | None = None,
    references: Iterable[Hashable] | None = None,
    direction: Literal["out", "in", "both"] = "out",
    weight: Hashable = None,
    self_loops: Literal["keep", "add", "drop"] = "keep",
    hops: int = 1,
    hop_weights: Literal["count", "binary", "random_walk"] = "count",
    duplicates: Literal["sum", "last", "error"] = "sum",
    names: Any = None,
    kind: Literal["matrix", "edges"] | None = None,
    source: Hashable = None,
    target: Hashable = None,
    directed: bool | None = None,
) -> AdjacencyVectors:
    """Return the adjacency vector of each node of a graph in any form.

    Parameters
    ----------
    graph : matrix, edges, mapping, or graph of another library
        One of: a square matrix, sparse or dense, whose row n holds the edges out of n; a
        rectangular one (nodes × references); edges as an array (k×2, or k×3 with weights), a
        list of tuples, or a table of pandas, polars or Arrow; a mapping from nodes to neighbours
        or to ``{neighbour: weight}``; a graph of networkx or igraph; ``Data`` of PyTorch
        Geometric; a :class:`GraphDataset`; an :class:`EdgeList`.
    nodes : sequence of n names, optional
        The nodes that get a row, in this order; default all. A list of edges cannot hold a node
        without edges, so there an unknown name gets a row of zeros; other graphs refuse it.
    references : sequence of m names, optional
        The nodes that get a column; default all nodes of the graph.
    direction : {"out", "in", "both"}
        Whether row n holds the edges out of n, into n, or the sum of both, where a self loop
        counts once. Undirected graphs of networkx and igraph have one adjacency for all three.
    weight : None, False, or a name
        None takes edge weights if the graph has any, False makes every entry 1, and a name is
        that of a column or an edge attribute. Negative weights are allowed; NaN and infinity
        are not. An entry of 0 is not an edge.
    self_loops : {"keep", "add", "drop"}
        "add" gives a loop of weight 1 to each node that has none.
    hops : int
        With k hops, an entry is about the walks of exactly k edges from the node to the
        reference. With ``self_loops="add"`` shorter walks count as well.
    hop_weights : {"count", "binary", "random_walk"}
        How these walks are counted. "count": their number, each multiplied by the product of
        its edge weights, row n of Aᵏ. "binary": 1 if one exists. "random_walk": the
        probability that k random steps from n end at the reference, row n of Pᵏ, where P is A
        with each row divided by its sum; weights must not be negative, and rows without edges
        stay 0. For one hop that is A, A with every entry 1, and P.
    duplicates : {"sum", "last", "error"}
        What to do with several edges between the same nodes in the same direction.
    names : sequence of names, optional
        Names for graphs with numbered nodes (matrices, igraph, ``Data``); default 0, 1, ... For
        a rectangular matrix a pair (names of rows, names of columns).
    kind : {"matrix", "edges"}, optional
        What an array is. By default k×2 and k×3 are edges, others are a matrix; 2×2 and 3×3
        could be both, and need it.
    source, target : name or position of a column, optional
        Columns of a table. By default they are found by their names, or taken if only one
        assignment is possible (``docs/reference/graphs.md``).
    directed : bool, optional
        False counts each edge both ways, however it is listed; an edge that is listed both ways
        has the mean of the two weights. Default: as the graph says, and directed for lists, tables
        and matrices.

    Returns
    -------
    AdjacencyVectors

    Examples
    --------
    >>> from gradraker import adjacency_vectors
    >>> vectors = adjacency_vectors([("a", "b"), ("a", "c"), ("c", "b")])
    >>> vectors
    AdjacencyVectors(3 nodes × 3 references, 3 entries)
    >>> vectors.nodes.tolist()
    ['a', 'b', 'c']
    >>> vectors.rows.toarray()
    array([[0., 1., 1.],
           [0., 0., 0.],
           [0., 1., 0.]])

    Rows and columns are chosen by name, and edges may be counted the other way:

    >>> edges = {"a": {"b": 2.0, "c": 0.5}, "c": {"b": 1.0}}
    >>> vectors = adjacency_vectors(edges, nodes=["b"], references=["c", "a"], direction="in")
    >>> vectors.rows.toarray()
    array([[1., 2.]])
    """
    form = GraphOptions(weight, names, kind, source, target, directed)
    options = VectorOptions(
        nodes, references, direction, self_loops, hops, hop_weights, duplicates, form
    )
    chosen = choose_matrix(graph, options)
    (rows,) = count_walks(chosen.matrix, chosen.rows, chosen.columns, [options.hops], hop_weights)
    return AdjacencyVectors(rows, chosen.nodes, chosen.references)


_PLAIN = GraphOptions()


@dataclass(frozen=True)
class VectorOptions:
    """The arguments of :func:`adjacency_vectors`, checked."""

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


def choose_matrix(graph: Any, options: VectorOptions) -> ChosenMatrix:
    """Return the matrix of a graph, and which of its rows and columns are wanted."""
    edges = to_edge_list(graph, options.graph)
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
