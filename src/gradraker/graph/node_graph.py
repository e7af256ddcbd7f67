"""The graph that a model of graphs holds: names and edges, which may grow."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from gradraker._validation import check_ordered, check_square
from gradraker.exceptions import UnknownNodesError
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.adapters.tables import is_table
from gradraker.graph.disk_graph import DiskGraph
from gradraker.graph.edges import EdgeList, Reading, VectorOptions, choose_matrix, is_symmetric
from gradraker.graph.names import (
    NameIndex,
    Names,
    check_same_type,
    find_distinct,
    find_positions,
    join_names,
    to_name_array,
)

# The largest drawn neighbourhood: nodes around the one in the middle, and edges between them.
_MOST_NEIGHBOURS = 14
_MOST_EDGES = 80

GRAPH_OPTIONS = (
    "nodes",
    "weight",
    "self_loops",
    "duplicates",
    "names",
    "kind",
    "source",
    "target",
    "directed",
)


@dataclass(frozen=True, eq=False)
class NodeGraph:
    """Names of the nodes, and the edges out of each node as one row of a CSR matrix.

    An undirected graph has each edge in both directions.
    """

    nodes: Names  # [n]
    adjacency: csr_array  # [n, n]
    is_directed: bool = True
    reading: Reading | None = None  # the columns of the table that the edges come from
    folder: Path | None = None  # where the edges are, if they are on disk and both ways already

    def __len__(self) -> int:
        return len(self.nodes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "index"}

    @cached_property
    def index(self) -> NameIndex:
        """The position of each node, prepared once for many lookups."""
        return NameIndex(self.nodes)


class NewLinks(NamedTuple):
    """New nodes, and the edge weights of their links out to a graph and in from it."""

    names: Names
    out: csr_array  # [new, n]
    into: csr_array  # [new, n]


def make_node_graph(graph: Any, options: Mapping[str, Any]) -> NodeGraph:
    """Turn a graph in any form into a :class:`NodeGraph` with all of its nodes.

    A graph in which every edge has its reverse, with the same weight, is undirected unless
    ``directed=True`` is given: edges that are added later then lead both ways too.
    """
    for name in options:
        if name not in GRAPH_OPTIONS:
            raise TypeError(f"{name!r} is not an option of a graph; {', '.join(GRAPH_OPTIONS)} are")
    if isinstance(graph, NodeGraph) and not options:
        return graph
    if isinstance(graph, DiskGraph):
        if options:
            raise ValueError(f"a graph on disk takes no options, got {', '.join(options)}")
        return NodeGraph(graph.nodes, graph.matrix, False, folder=graph.folder)
    given = dict(options)
    form = GraphOptions(
        **{name: given.pop(name) for name in GraphOptions._fields if name in options}
    )
    is_list = isinstance(graph, EdgeList) and form == GraphOptions()
    edges: EdgeList = graph if is_list else to_edge_list(graph, form)
    remedy = "a walk needs nodes and references in one set of names; give edges (node, reference)"
    check_square(edges.nodes, edges.references, f": {remedy}")
    found = choose_matrix(edges, VectorOptions(graph=form, **given))
    is_directed = edges.directed and form.directed is not False
    if found.rows is None:
        if form.directed is None and is_directed and found.matrix.nnz:
            is_directed = not is_symmetric(found.matrix)
        return NodeGraph(found.nodes, found.matrix, is_directed, edges.reading)
    # Rows were chosen by name: their edges lead to all nodes of the graph.
    others = found.references[find_positions(found.references, found.nodes) < 0]
    nodes = join_names(found.nodes, others)
    entries = found.matrix[found.rows].tocoo()
    columns = find_positions(found.references, nodes)[entries.col]
    shape = (len(nodes), len(nodes))
    matrix = csr_array((entries.data, (entries.row, columns)), shape=shape)
    return NodeGraph(nodes, matrix, is_directed, edges.reading)


def merge_graphs(old: NodeGraph, new: NodeGraph) -> NodeGraph:
    """Put the edges of two graphs together; an edge of the new one replaces that of the old one."""
    if old.folder is not None or new.folder is not None:
        raise ValueError(
            "a graph on disk cannot grow: read all edges by one read_edges(..., on_disk=...)"
        )
    rows = find_positions(new.nodes, old.nodes)
    is_new = rows < 0
    check_same_type(new.nodes[is_new], old.nodes, argument="graph")
    nodes = join_names(old.nodes, new.nodes[is_new])
    rows[is_new] = len(old) + np.arange(int(is_new.sum()))
    added = new.adjacency.tocoo()
    shape = (len(nodes), len(nodes))
    given = csr_array((added.data, (rows[added.row], rows[added.col])), shape=shape)
    kept = _resize(old.adjacency, len(nodes))
    merged = csr_array(kept - kept.multiply(given != 0.0) + given)
    merged.eliminate_zeros()
    merged.sort_indices()
    return NodeGraph(nodes, merged, old.is_directed or new.is_directed)


def count_reversed(A: csr_array) -> int:
    """Return how many edges, except self loops, have their reverse among the edges of a graph.

    Examples
    --------
    >>> from gradraker.graph.node_graph import count_reversed, make_node_graph
    >>> count_reversed(make_node_graph([("a", "b"), ("b", "a"), ("b", "c")], {}).adjacency)
    2
    """
    pattern = csr_array((np.ones(A.nnz, dtype=np.int8), A.indices, A.indptr), A.shape)
    n_loops = int(np.count_nonzero(pattern.diagonal()))
    return int(pattern.multiply(pattern.T).nnz) - n_loops


def append_isolated_nodes(graph: NodeGraph, names: Names) -> NodeGraph:
    """Add nodes without edges."""
    if graph.folder is not None:
        raise ValueError(f"values name nodes that the graph on disk does not have: {names[:5]}")
    nodes = join_names(graph.nodes, names)
    return NodeGraph(nodes, _resize(graph.adjacency, len(nodes)), graph.is_directed)


def append_new_nodes(graph: NodeGraph, links: Any, options: Mapping[str, Any]) -> NodeGraph:
    """Add new nodes, given by their edges to nodes of the graph, after those of the graph."""
    given, _ = _read_links(graph, links, options)
    return merge_graphs(graph, given)


def find_new_links(graph: NodeGraph, links: Any, options: Mapping[str, Any]) -> NewLinks:
    """Find new nodes and their edges to and from the graph, in time that grows with these edges.

    Examples
    --------
    >>> from gradraker.graph.node_graph import find_new_links, make_node_graph
    >>> graph = make_node_graph([("a", "b"), ("b", "c")], {})
    >>> found = find_new_links(graph, {"x": {"a": 2.0, "c": 1.0}}, {})
    >>> found.names.tolist(), found.out.toarray().tolist(), found.into.nnz
    (['x'], [[2.0, 0.0, 1.0]], 0)
    """
    given, rows = _read_links(graph, links, options)
    if graph.folder is not None:
        raise ValueError("a graph on disk takes no new nodes: learn all edges from the beginning")
    new, old = np.flatnonzero(rows < 0), np.flatnonzero(rows >= 0)
    out = given.adjacency[new][:, old]
    into = given.adjacency[old][:, new].T.tocsr()
    shape = len(new), len(graph)
    found = [csr_array((A.data, rows[old][A.indices], A.indptr), shape) for A in (out, into)]
    for matrix in found:
        matrix.sort_indices()
    return NewLinks(given.nodes[new], *found)


def _read_links(
    graph: NodeGraph, links: Any, options: Mapping[str, Any]
) -> tuple[NodeGraph, NDArray[np.int64]]:
    """Return links as a graph, and the position of each of its nodes, -1 for new ones."""
    if isinstance(links, Mapping) and not links:
        raise ValueError("links holds no new node: it is empty")
    if not graph.is_directed:
        options = {"directed": False, **options}
    given = make_node_graph(links, options)
    rows = graph.index.find(given.nodes)
    is_new = rows < 0
    check_same_type(given.nodes[is_new], graph.nodes, argument="links")
    entries = given.adjacency.tocoo()
    _check_links(given, entries, is_new)
    if not is_new.any():
        raise ValueError("links holds no new node: predict(nodes) is for nodes of the graph")
    return given, rows


def _check_links(given: NodeGraph, entries: coo_array, is_new: NDArray[np.bool_]) -> None:
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


def find_nodes(graph: NodeGraph, nodes: Any, *, argument: str = "nodes") -> NDArray[np.int64]:
    """Return the positions of nodes in a graph; a name may occur more than once."""
    check_ordered(argument, nodes)
    if not isinstance(nodes, list | np.ndarray) and is_table(nodes):
        raise TypeError(f"{argument} must be a list or array of names, got a table")
    names = to_name_array(
        nodes if isinstance(nodes, np.ndarray) else list(nodes), argument=argument
    )
    if not len(names):
        return np.empty(0, dtype=np.int64)
    listed, (codes,) = find_distinct([names])
    rows = graph.index.find(listed)
    unknown = listed[rows < 0]
    if len(unknown):
        check_same_type(unknown, graph.nodes, argument=argument)
        raise UnknownNodesError(
            argument, unknown.tolist(), "predict_new is for nodes that are not in the graph"
        )
    return rows[codes]


def _resize(matrix: csr_array, n: int) -> csr_array:
    """Add empty rows and columns up to n; the entries are shared, not copied."""
    added = np.full(n - matrix.shape[0], matrix.indptr[-1], dtype=matrix.indptr.dtype)
    indptr = np.concatenate([matrix.indptr, added])
    return csr_array((matrix.data, matrix.indices, indptr), shape=(n, n))


def remove_edges(graph: NodeGraph, edges: Iterable[Any]) -> NodeGraph:
    """Remove edges (source, target) from a graph, in both directions if it is undirected.

    Examples
    --------
    >>> from gradraker.graph.node_graph import make_node_graph
    >>> from gradraker.graph.node_graph import remove_edges
    >>> graph = make_node_graph([("a", "b"), ("b", "c")], {})
    >>> remove_edges(graph, [("a", "b")]).adjacency.nnz
    1
    """
    pairs = [tuple(edge) for edge in edges]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"edges must be pairs (source, target), got {pair!r}")
    n = len(graph)
    rows, columns = (
        find_nodes(graph, [pair[side] for pair in pairs], argument="edges") for side in (0, 1)
    )
    entries = graph.adjacency.tocoo()
    keys = entries.row.astype(np.int64) * n + entries.col
    wanted = rows * n + columns
    missing = np.flatnonzero(~np.isin(wanted, keys))
    if missing.size:
        source, target = pairs[int(missing[0])]
        raise ValueError(f"edges holds {source!r} → {target!r}, which is not in the graph")
    if not graph.is_directed:
        wanted = np.concatenate([wanted, columns * n + rows])
    kept = ~np.isin(keys, wanted)
    matrix = csr_array(
        (entries.data[kept], (entries.row[kept], entries.col[kept])), shape=entries.shape
    )
    return NodeGraph(graph.nodes, matrix, graph.is_directed)


def remove_nodes(graph: NodeGraph, rows: NDArray[np.int64]) -> tuple[NodeGraph, NDArray[np.int64]]:
    """Remove nodes and their edges; return the graph and the old rows of the nodes that stay."""
    stays = np.ones(len(graph), dtype=np.bool_)
    stays[rows] = False
    kept = np.flatnonzero(stays)
    matrix = csr_array(graph.adjacency[kept][:, kept])
    return NodeGraph(graph.nodes[kept], matrix, graph.is_directed), kept


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
    >>> from gradraker.graph.node_graph import find_neighbourhood
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
