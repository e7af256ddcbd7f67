"""Adjacency vectors: the rows from which a model learns nodes."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import scipy.sparse as sp

from gradraker._fields import describe_fields
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.edges import VectorOptions, choose_matrix
from gradraker.graph.hops import count_walks
from gradraker.graph.names import Names


@describe_fields
@dataclass(frozen=True, repr=False, eq=False)
class AdjacencyVectors:
    """Adjacency vectors of nodes, with names.

    Examples
    --------
    >>> from gradraker import adjacency_vectors
    >>> vectors = adjacency_vectors([("a", "b", 2.0), ("a", "c", 0.5)])
    >>> vectors
    AdjacencyVectors(3 nodes × 3 references, 2 entries)
    >>> vectors.rows.toarray()[0].tolist(), vectors.references.tolist()
    ([0.0, 2.0, 0.5], ['a', 'b', 'c'])
    """

    rows: Annotated[
        sp.csr_array,
        "Row i of (n, m) is the adjacency vector of node i: weights of its edges to each "
        "reference. Columns are sorted, no entry is stored twice or is 0.",
    ]
    nodes: Annotated[Names, "Name (n,) of each row: int64, or Python objects."]
    references: Annotated[Names, "Name (m,) of each column."]

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
        With k hops, an entry counts the walks of exactly k edges from the node to the
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
        has the mean of the two weights. Default: as the graph object is, and directed for lists,
        tables and matrices.

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
    chosen = choose_matrix(to_edge_list(graph, form), options)
    (rows,) = count_walks(chosen.matrix, chosen.rows, chosen.columns, [options.hops], hop_weights)
    return AdjacencyVectors(rows, chosen.nodes, chosen.references)
