"""Graphs on their way to a matrix: numbered edges, how they were read, options; then the matrix."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from gradraker._fields import describe_fields
from gradraker._html import render_box, render_facts
from gradraker._validation import check_choice, check_count, to_read_only
from gradraker.exceptions import ArgumentError, UnknownNodesError
from gradraker.graph.hops import HOP_WEIGHTS
from gradraker.graph.names import (
    Names,
    check_names,
    check_same_type,
    find_positions,
    join_names,
    to_plain_name,
)

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]


@describe_fields
@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Examples
    --------
    >>> from gradraker.graph.edges import Reading
    >>> str(Reading((("source", "sender"), ("target", "receiver")), 1, ("time",)))
    'read as: source = sender, target = receiver; 1 header line; not used: time'
    """

    roles: Annotated[
        tuple[tuple[str, Hashable], ...],
        "The column of each role: its name, its number from 1 if it has no name, or None if the "
        "role has no column.",
    ]
    n_header_lines: Annotated[int | None, "Lines that name the columns; None without lines."] = None
    unused: Annotated[tuple[Hashable, ...], "Names or numbers of the other columns."] = ()

    @property
    def is_plain(self) -> bool:
        """Whether each column is named after its role and all are used: no need to report it."""
        return not self.unused and all(column in (role, None) for role, column in self.roles)

    def __str__(self) -> str:
        text = ", ".join(self._format_role(role, column) for role, column in self.roles)
        parts = [f"read as: {text}"]
        if self.n_header_lines is not None:
            parts.append(f"{self.n_header_lines or 'no'} header line")
        if self.unused:
            shown = [self._format_column(column) for column in self.unused[:4]]
            more = len(self.unused) - len(shown)
            parts.append(f"not used: {', '.join(shown)}{f' and {more} more' if more else ''}")
        return "; ".join(parts)

    def _format_role(self, role: str, column: Hashable) -> str:
        shown = "none" if column is None else self._format_column(column)
        return role if shown == role else f"{role} = {shown}"

    def _format_column(self, column: Hashable) -> str:
        if isinstance(column, int):
            return f"column {column}"
        return str(column) if str(column).strip() else repr(column)


@describe_fields
@dataclass(frozen=True, repr=False, eq=False)
class EdgeList:
    """Edges between numbered nodes, and the names of the nodes.

    Readers return it and :func:`gradraker.adjacency_vectors` takes it. Edge i leads from
    ``nodes[source[i]]`` to ``references[target[i]]``.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.graph import EdgeList
    >>> EdgeList(np.array([0, 1]), np.array([1, 0]), None, np.array(["a", "b"], dtype=object))
    EdgeList(2 edges among 2 nodes)
    """

    source: Annotated[NDArray[np.signedinteger], "Positions (k,) in ``nodes``."]
    target: Annotated[NDArray[np.signedinteger], "Positions (k,) in ``references``."]
    weight: Annotated[NDArray[np.float64] | None, "Edge weights (k,); None if every edge counts 1."]
    nodes: Annotated[Names, "Names (n,), no two equal: int64, or of Python objects."]
    _: KW_ONLY
    references: Annotated[
        Names | None,
        "Names (m,) of the nodes that edges lead to, if these are nodes of another kind; None if "
        "edges lead to ``nodes``.",
    ] = None
    directed: Annotated[bool, "Whether an edge leads one way only."] = True
    complete: Annotated[
        bool,
        "Whether ``nodes`` holds every node of the graph. A list of edges is not complete: it "
        "cannot hold a node without edges.",
    ] = False
    reading: Annotated[
        Reading | None, "Which columns of a table or file the edges were read from."
    ] = None

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        kind = "edges" if self.directed else "undirected edges"
        kind = kind if self.weight is None else f"weighted {kind}"
        ends = f"among {len(self.nodes)} nodes"
        if self.references is not None:
            ends = f"from {len(self.nodes)} nodes to {len(self.references)} references"
        reading = "" if self.reading is None else f"; {self.reading}"
        return f"EdgeList({len(self)} {kind} {ends}{reading})"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [("Edges", len(self)), ("Nodes", len(self.nodes))]
        if self.references is not None:
            facts.append(("References", len(self.references)))
        facts += [("Directed", "yes" if self.directed else "no")]
        facts += [("Weights", "yes" if self.weight is not None else "no")]
        if self.reading is not None:
            facts.append(("Read as", str(self.reading).removeprefix("read as: ")))
        listed = [self.format_edge(i) for i in range(min(5, len(self)))]
        if listed:
            facts.append(("First edges", "; ".join(listed)))
        return render_box("EdgeList", render_facts(facts))

    def format_edge(self, i: int) -> str:
        """Return edge i in words, for messages."""
        targets = self.nodes if self.references is None else self.references
        arrow = "→" if self.directed else "–"
        source, target = self.nodes[self.source[i]], targets[self.target[i]]
        return f"{to_plain_name(source)!r} {arrow} {to_plain_name(target)!r}"


def check_weights(edges: EdgeList) -> None:
    """Refuse weights that are not finite, and name the first edge that has one."""
    if edges.weight is not None and not np.isfinite(edges.weight).all():
        i = int(np.flatnonzero(~np.isfinite(edges.weight))[0])
        raise ValueError(
            f"the weight of edge {edges.format_edge(i)} is {edges.weight[i]}, but must be finite: "
            "correct it, or pass weight=False to ignore weights"
        )


def restore_csr(
    arrays: Mapping[str, NDArray[Any]], prefix: str, shape: tuple[int, int], subject: str
) -> csr_array:
    """Check the arrays ``<prefix>indptr`` and so on of a file; return their sparse matrix."""
    indptr = arrays[f"{prefix}indptr"].astype(np.int64, casting="safe")
    indices = arrays[f"{prefix}indices"].astype(np.int64, casting="safe")
    data = arrays[f"{prefix}data"].astype(np.float64, casting="safe")
    is_sound = (
        indptr.shape == (shape[0] + 1,)
        and indptr[0] == 0
        and bool(np.all(np.diff(indptr) >= 0))
        and indices.shape == data.shape == (indptr[-1],)
        and bool(np.all((indices >= 0) & (indices < shape[1])))
        and bool(np.isfinite(data).all())
    )
    if not is_sound:
        raise ValueError(f"the {subject} are not consistent")
    return csr_array((data, indices, indptr), shape=shape)


class GraphOptions(NamedTuple):
    """The arguments of every form of graph.

    ``weight`` is None (edge weights if the graph has any), False (no edge weights) or the name of a
    column or attribute; ``names`` are names for numbered nodes; ``kind`` settles what an array is;
    ``source`` and ``target`` are columns of a table; ``directed`` is False if each edge counts both
    ways, however it is listed.
    """

    weight: Hashable = None
    names: Any = None
    kind: str | None = None
    source: Hashable = None
    target: Hashable = None
    directed: bool | None = None

    def refuse_weight_name(self, form: str) -> None:
        """Raise if weights are given by name for a form of graph whose weights have no names."""
        if self.weight is not None and self.weight is not False:
            raise ArgumentError("weight", f"None or False for {form}", self.weight)


# -- from edges to the matrix ----------------------------------------------------------------------


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
    graph: GraphOptions = field(default_factory=GraphOptions)

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, ("out", "in", "both"))
        check_choice("self_loops", self.self_loops, ("keep", "add", "drop"))
        check_choice("duplicates", self.duplicates, ("sum", "last", "error"))
        check_choice("hop_weights", self.hop_weights, HOP_WEIGHTS)
        check_count("hops", self.hops)


class ChosenMatrix(NamedTuple):
    """The matrix of a whole graph, and which of its rows and columns are wanted."""

    matrix: csr_array
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
    full = coo_array((weights, (source, target)), shape=shape).tocsr()
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
        other_names = edges.references if argument == "references" else None
        present = names if other_names is None else other_names
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
    """Return source, target and weight of each edge, with duplicates merged by the rule.

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
    """Return entries (row, column, weight): edges out of, into, or both, by ``direction``."""
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


def is_symmetric(A: csr_array) -> bool:
    """Whether each edge has its reverse, with the same weight.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.graph.edges import is_symmetric
    >>> is_symmetric(csr_array([[0, 2], [2, 1]])), is_symmetric(csr_array([[0, 2], [1, 0]]))
    (True, False)
    """
    n_into = np.bincount(A.indices, minlength=A.shape[0])
    if not np.array_equal(np.diff(A.indptr), n_into) and A.data.all():
        return False  # as for most directed graphs, without a transposed copy
    return bool((A != A.T).nnz == 0)


def make_symmetric(matrix: csr_array) -> csr_array:
    """Return a matrix with each edge both ways; one given both ways has the mean of its weights.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> make_symmetric(csr_array([[5.0, 1.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])).toarray()
    array([[5. , 1. , 3.5],
           [1. , 0. , 0. ],
           [3.5, 0. , 0. ]])
    """
    pattern = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape)
    share = csr_array(pattern + pattern.T)  # how often an edge is given: once or twice
    share.data = 1.0 / share.data
    symmetric = csr_array(csr_array(matrix + matrix.T).multiply(share))
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
