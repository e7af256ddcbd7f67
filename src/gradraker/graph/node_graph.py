"""The graph that a node model stands on: names and edges, which may grow."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.graph import adjacency_vectors
from gradraker.graph.adapters.tables import is_table
from gradraker.graph.names import (
    Names,
    check_same_type,
    find_distinct,
    find_positions,
    format_names,
    join_names,
    to_name_array,
)

GRAPH_OPTIONS = ("nodes", "weight", "self_loops", "duplicates", "names", "kind")


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """Names of the nodes, and the edges out of each as a row of a CSR matrix."""

    nodes: Names  # [n]
    A: csr_array  # [n, n]


def graph_of(graph: Any, options: Mapping[str, Any]) -> KnownGraph:
    """The graph that a user gave in any form, with all nodes as rows and columns."""
    unknown = [name for name in options if name not in GRAPH_OPTIONS]
    if unknown:
        raise TypeError(
            f"{unknown[0]!r} is no option of the graph: there are {', '.join(GRAPH_OPTIONS)}"
        )
    vectors = adjacency_vectors(graph, **options)
    nodes, references, rows = vectors.nodes, vectors.references, vectors.rows
    if len(nodes) == len(references) and np.array_equal(nodes, references):
        return KnownGraph(nodes, rows)
    if "nodes" in options:  # rows that were asked for; edges lead to all nodes of the graph
        return joined(KnownGraph(nodes[:0], csr_array((0, 0))), _square(nodes, references, rows))
    raise ValueError(
        f"graph must be square, got {rows.shape[0]} nodes × {rows.shape[1]} references: a walk "
        "needs nodes and references in one set of names; give edges (node, reference)"
    )


def _square(nodes: Names, references: Names, rows: csr_array) -> KnownGraph:
    """A graph from some rows and columns, whose nodes are the rows, then other columns."""
    others = references[find_positions(references, nodes) < 0]
    names = join_names(nodes, others)
    entries = rows.tocoo()
    at = find_positions(references, names)
    A = csr_array((entries.data, (entries.row, at[entries.col])), shape=(len(names), len(names)))
    return KnownGraph(names, A)


def joined(old: KnownGraph, new: KnownGraph) -> KnownGraph:
    """Old and new edges together; the weight of an edge that is given again replaces the old."""
    at = find_positions(new.nodes, old.nodes)
    check_same_type(new.nodes[at < 0], old.nodes, argument="graph")
    nodes = join_names(old.nodes, new.nodes[at < 0])
    at[at < 0] = len(old.nodes) + np.arange(int(np.sum(at < 0)))
    shape = (len(nodes), len(nodes))
    entries = new.A.tocoo()
    given = csr_array((entries.data, (at[entries.row], at[entries.col])), shape=shape)
    before = old.A.tocoo()
    kept = csr_array((before.data, (before.row, before.col)), shape=shape)
    A = csr_array(kept - kept.multiply(given != 0.0) + given)
    A.eliminate_zeros()
    A.sort_indices()
    return KnownGraph(nodes, A)


def with_nodes(graph: KnownGraph, names: Names) -> KnownGraph:
    """The graph with more nodes that have no edges."""
    nodes = join_names(graph.nodes, names)
    before = graph.A.tocoo()
    return KnownGraph(
        nodes, csr_array((before.data, (before.row, before.col)), shape=(len(nodes), len(nodes)))
    )


def beside(graph: KnownGraph, links: Any, options: Mapping[str, Any]) -> KnownGraph:
    """The graph with new nodes after its own, from edges between new and old nodes."""
    if isinstance(links, Mapping) and not links:
        raise ValueError("links holds no new node: it is empty")
    given = graph_of(links, options)
    is_new = find_positions(given.nodes, graph.nodes) < 0
    check_same_type(given.nodes[is_new], graph.nodes, argument="links")
    entries = given.A.tocoo()
    from_new, to_new = is_new[entries.row], is_new[entries.col]
    reasons = (
        (
            ~from_new & ~to_new,
            "nodes of the graph: give edges of new nodes only, or learn the edge by partial_fit",
        ),
        (
            from_new & to_new & (entries.row != entries.col),
            "two nodes that the graph does not have: give edges to nodes of the graph, or learn "
            "both nodes by partial_fit",
        ),
    )
    for refused, reason in reasons:
        if refused.any():
            i = int(np.flatnonzero(refused)[0])
            source, target = given.nodes[entries.row[i]], given.nodes[entries.col[i]]
            raise ValueError(f"links holds an edge {source!r} → {target!r} between {reason}")
    if not is_new.any():
        raise ValueError("links holds no new node: predict(nodes) is for nodes of the graph")
    return joined(graph, given)


def found(nodes: Any, graph: KnownGraph, *, argument: str = "nodes") -> NDArray[np.int64]:
    """Positions of nodes that a user asked for; a name may be asked for more than once."""
    if isinstance(nodes, str | bytes | Mapping | set | frozenset) or not hasattr(nodes, "__len__"):
        raise TypeError(
            f"{argument} must be a list or array of names, got {nodes!r} of type "
            f"{type(nodes).__name__}"
        )
    if is_table(nodes):
        raise TypeError(f"{argument} must be a list or array of names, got a table")
    names = to_name_array(
        nodes if isinstance(nodes, np.ndarray) else list(nodes), argument=argument
    )
    if not len(names):
        return np.empty(0, dtype=np.int64)
    listed, (codes,) = find_distinct([names])
    at = find_positions(listed, graph.nodes)
    unknown = listed[at < 0]
    if len(unknown):
        check_same_type(unknown, graph.nodes, argument=argument)
        raise ValueError(
            f"{argument} holds names that the graph does not have: {format_names(unknown)}; "
            "predict_new is for nodes that are not in the graph"
        )
    return at[codes]
