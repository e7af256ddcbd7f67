"""Adjacency vectors: what every node looks like to a learner."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.graph.adapters.registry import graph_edges
from gradraker.graph.edges import EdgeList, check_weights
from gradraker.graph.graph_options import Asked
from gradraker.graph.hops import HOP_WEIGHTS, walks
from gradraker.graph.merging import merged, one_way, with_loops
from gradraker.graph.names import Names, asked_names, check_same_type, join_names, positions, shown


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
) -> AdjacencyVectors:
    """Return the adjacency vector of each node, whatever the graph comes in.

    Parameters
    ----------
    graph : matrix, edges, mapping, or graph of another library
        One of: a square matrix, sparse or dense, whose row n holds the edges out of n; a
        rectangular one (nodes × references); edges as an array (k×2, or k×3 with weights), a
        list of tuples, or a table of pandas, polars or Arrow (columns source, target and
        weight, or else the first ones); a mapping from nodes to neighbours or to
        ``{neighbour: weight}``; a graph of networkx or igraph; ``Data`` of PyTorch Geometric; a
        :class:`GraphDataset`; an :class:`EdgeList`.
    nodes : sequence of n names, optional
        The nodes that get a row, in this order; default all. A list of edges cannot hold a node
        without edges, so there an unknown name gets a row of zeros; other graphs refuse it.
    references : sequence of m names, optional
        The nodes that get a column; default all nodes of the graph.
    direction : {"out", "in", "both"}
        Whether row n holds the edges out of n, into n, or the sum of both, where a self loop
        counts once. Undirected graphs of networkx and igraph have one adjacency for all three.
    weight : None, False, or a name
        None takes weights where there are any, False makes every entry 1, and a name is that
        of a column or an edge attribute. Negative weights are allowed; NaN and infinity are
        not. An entry of 0 is no edge.
    self_loops : {"keep", "add", "drop"}
        "add" gives a loop of weight 1 to each node that has none.
    hops : int
        With k hops, an entry is about the walks of exactly k edges from the node to the
        reference. With ``self_loops="add"`` shorter walks count as well.
    hop_weights : {"count", "binary", "random_walk"}
        What an entry says of these walks. "count": how many there are, each counted by the
        product of its weights, row n of Aᵏ. "binary": 1 if there is any. "random_walk": the
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
        must be told.

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
    chosen = chosen_matrix(
        graph,
        nodes=nodes,
        references=references,
        direction=direction,
        weight=weight,
        self_loops=self_loops,
        hops=hops,
        hop_weights=hop_weights,
        duplicates=duplicates,
        names=names,
        kind=kind,
    )
    (rows,) = walks(chosen.matrix, chosen.rows, chosen.columns, [int(hops)], hop_weights)
    return AdjacencyVectors(rows, chosen.nodes, chosen.references)


class ChosenMatrix(NamedTuple):
    """The matrix of a whole graph, and the rows and columns of it that are asked for."""

    matrix: sp.csr_array
    rows: NDArray[np.int64] | None  # None: all
    columns: NDArray[np.int64] | None
    nodes: Names  # names of the chosen rows
    references: Names  # names of the chosen columns


def chosen_matrix(
    graph: Any,
    *,
    nodes: Iterable[Hashable] | None = None,
    references: Iterable[Hashable] | None = None,
    direction: str = "out",
    weight: Hashable = None,
    self_loops: str = "keep",
    hops: int = 1,
    hop_weights: str = "count",
    duplicates: str = "sum",
    names: Any = None,
    kind: str | None = None,
) -> ChosenMatrix:
    """Check the arguments of :func:`adjacency_vectors`, and return what its rows are made of."""
    _check_choice("direction", direction, ("out", "in", "both"))
    _check_choice("self_loops", self_loops, ("keep", "add", "drop"))
    _check_choice("duplicates", duplicates, ("sum", "last", "error"))
    _check_choice("hop_weights", hop_weights, HOP_WEIGHTS)
    _check_hops(hops)
    edges = graph_edges(graph, Asked(weight, names, kind))
    check_weights(edges)
    if edges.references is not None:
        _check_rectangular(edges, direction, self_loops, hops)
    all_nodes, rows, columns = _chosen(edges, nodes, references)
    all_references = all_nodes if edges.references is None else edges.references
    shape = (len(all_nodes), len(all_references))
    source, target, weights = one_way(merged(edges, duplicates), edges.directed, direction)
    source, target, weights = with_loops(source, target, weights, shape[0], self_loops)
    full = sp.coo_array((weights, (source, target)), shape=shape).tocsr()
    full.sum_duplicates()
    if weight is False:
        full.data[:] = 1.0
    return ChosenMatrix(
        full,
        rows,
        columns,
        _read_only(all_nodes if rows is None else all_nodes[rows]),
        _read_only(all_references if columns is None else all_references[columns]),
    )


def _chosen(
    edges: EdgeList, nodes: Iterable[Hashable] | None, references: Iterable[Hashable] | None
) -> tuple[Names, Any, Any]:
    """Return all node names, and which of them get rows and columns (None: all)."""
    names = edges.nodes
    if nodes is None and not len(names):
        raise ValueError("graph has no edges: pass nodes to get rows of zeros")
    asked = {"nodes": nodes, "references": references}
    found: dict[str, Any] = {"nodes": None, "references": None}
    for argument, wanted in asked.items():
        if wanted is None:
            continue
        listed = asked_names(wanted, argument=argument)
        apart = argument == "references" and edges.references is not None
        there = edges.references if apart and edges.references is not None else names
        at = positions(listed, there)
        unknown = listed[at < 0]
        if len(unknown):
            check_same_type(unknown, there, argument=argument)
            if edges.complete:
                raise ValueError(
                    f"{argument} holds names that the graph does not have: {shown(unknown)}"
                )
            at[at < 0] = len(names) + np.arange(len(unknown))
            names = join_names(names, unknown)
        found[argument] = at
    if nodes is None and len(names) > len(edges.nodes):
        # References without edges get columns; they are no nodes that somebody asked for.
        found["nodes"] = np.arange(len(edges.nodes))
    if references is None and edges.references is None and len(names) > len(edges.nodes):
        found["references"] = np.arange(len(edges.nodes))
    return names, found["nodes"], found["references"]


def _check_rectangular(edges: EdgeList, direction: str, self_loops: str, hops: int) -> None:
    asked = {"direction": (direction, "out"), "self_loops": (self_loops, "keep"), "hops": (hops, 1)}
    for argument, (got, only) in asked.items():
        if got != only:
            assert edges.references is not None
            raise ValueError(
                f"{argument} must be {only!r} for a rectangular graph "
                f"({len(edges.nodes)} nodes × {len(edges.references)} references), got {got!r}"
            )


def _check_choice(argument: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(
            f"{argument} must be one of {', '.join(map(repr, allowed))}, got {value!r}"
        )


def _check_hops(hops: object) -> None:
    if isinstance(hops, bool) or not isinstance(hops, int | np.integer) or hops < 1:
        raise ValueError(f"hops must be an integer of at least 1, got {hops!r}")


def _read_only(names: Names) -> Names:
    view = names.view()
    view.setflags(write=False)
    return view
