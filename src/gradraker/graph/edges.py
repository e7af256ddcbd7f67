"""Graphs on their way to adjacency vectors: numbered edges, how they were read, and options."""

from collections.abc import Hashable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._html import render_box, render_facts
from gradraker.exceptions import ArgumentError
from gradraker.graph.names import Names, to_plain_name


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    roles : tuple of pairs (role, column)
        The column of each role: its name, its number from 1 if it has no name, None for no column.
    n_header_lines : int or None
        Lines that name the columns; None for tables that have no lines.
    unused : tuple
        Names or numbers of the other columns.

    Examples
    --------
    >>> from gradraker.graph.edges import Reading
    >>> str(Reading((("source", "sender"), ("target", "receiver")), 1, ("time",)))
    'read as: source = sender, target = receiver; 1 header line; not used: time'
    """

    roles: tuple[tuple[str, Hashable], ...]
    n_header_lines: int | None = None
    unused: tuple[Hashable, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether columns are called what they are and all of them are used: nothing to tell."""
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


@dataclass(frozen=True, repr=False, eq=False)
class EdgeList:
    """Edges between numbered nodes, and the names of the nodes.

    Readers return it and :func:`gradraker.adjacency_vectors` takes it. Edge i leads from
    ``nodes[source[i]]`` to ``references[target[i]]``.

    Parameters
    ----------
    source, target : int arrays of shape (k,)
        Positions in ``nodes`` and in ``references``.
    weight : float array of shape (k,), optional
        Edge weights; None if every edge counts 1.
    nodes : array of shape (n,)
        Names, no two equal: int64, or of Python objects.
    references : array of shape (m,), optional
        Names of the nodes that edges lead to, if these are nodes of another kind; None if
        edges lead to ``nodes``.
    directed : bool
        Whether an edge leads one way only.
    complete : bool
        Whether ``nodes`` holds every node of the graph. A list of edges is not complete: it
        cannot hold a node without edges.
    reading : Reading, optional
        Which columns of a table or file the edges were read from.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.graph import EdgeList
    >>> EdgeList(np.array([0, 1]), np.array([1, 0]), None, np.array(["a", "b"], dtype=object))
    EdgeList(2 edges among 2 nodes)
    """

    source: NDArray[np.signedinteger]
    target: NDArray[np.signedinteger]
    weight: NDArray[np.float64] | None
    nodes: Names
    _: KW_ONLY
    references: Names | None = None
    directed: bool = True
    complete: bool = False
    reading: Reading | None = None

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        what = "edges" if self.directed else "undirected edges"
        what = what if self.weight is None else f"weighted {what}"
        where = f"among {len(self.nodes)} nodes"
        if self.references is not None:
            where = f"from {len(self.nodes)} nodes to {len(self.references)} references"
        told = "" if self.reading is None else f"; {self.reading}"
        return f"EdgeList({len(self)} {what} {where}{told})"

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
    arrays: Mapping[str, NDArray[Any]], prefix: str, shape: tuple[int, int], what: str
) -> csr_array:
    """Make the sparse matrix of a file, from its arrays ``<prefix>indptr`` and so on, checked."""
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
        raise ValueError(f"the {what} are not consistent")
    return csr_array((data, indices, indptr), shape=shape)


class GraphOptions(NamedTuple):
    """The arguments that every form of graph gets.

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

    def refuse_weight_name(self, what: str) -> None:
        """Raise if a weight is asked for by name in a graph whose weights have no names."""
        if self.weight is not None and self.weight is not False:
            raise ArgumentError("weight", f"None or False for {what}", self.weight)
