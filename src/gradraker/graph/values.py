"""Known values of nodes, of one target or several, in the order of the nodes of a graph."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_choice, to_numbers
from gradraker.exceptions import UnknownNodesError
from gradraker.graph.adapters.columns import Task
from gradraker.graph.adapters.tables import ValueTable, is_table, to_value_table
from gradraker.graph.edges import Reading
from gradraker.graph.names import (
    Names,
    check_names,
    check_same_type,
    find_distinct,
    find_positions,
    to_name_array,
    to_plain_name,
)
from gradraker.graph.node_graph import NodeGraph, append_isolated_nodes

# Squares of larger numbers, and sums of these over a graph, would leave the range of float64.
LARGEST_MAGNITUDE = 1e100


class NodeLines(NamedTuple):
    """The line of a file that named each node."""

    nodes: Sequence[Hashable]
    lines: NDArray[np.integer]

    def find(self, node: Hashable) -> int | None:
        """Return the first line that named a node; None if there is none."""
        return int(self.lines[self.nodes.index(node)]) if node in self.nodes else None


class NodeValues(dict[Hashable, Any]):
    """Known values by node, as :func:`gradraker.read_values` returns them.

    Attributes
    ----------
    reading : Reading or None
        Which columns they were read from.
    task : {"values", "classes"}
        Whether they are numbers, or texts that name classes.
    lines : NodeLines or None
        The line of each node, if the file has lines.
    """

    reading: Reading | None = None
    task: Task = "values"
    lines: NodeLines | None = None

    def rename(self, to_name: Callable[[Hashable], Hashable]) -> "NodeValues":
        """Return the same values with other names of nodes."""
        renamed = self.replace((to_name(node), value) for node, value in self.items())
        if self.lines is not None:
            renamed.lines = self.lines._replace(nodes=[to_name(n) for n in self.lines.nodes])
        return renamed

    def replace(self, values: Iterable[tuple[Hashable, Any]]) -> "NodeValues":
        """Return other values of the same file, such as some of them."""
        others = NodeValues(values)
        others.reading, others.task, others.lines = self.reading, self.task, self.lines
        return others


def keep_lines(values: Any, others: dict[Hashable, Any]) -> dict[Hashable, Any]:
    """Return other values of the same nodes, which know their lines where ``values`` do."""
    return values.replace(others.items()) if isinstance(values, NodeValues) else others


def _find_line(values: Any, node: Hashable) -> int | None:
    lines = values.lines if isinstance(values, NodeValues) else None
    return None if lines is None else lines.find(node)


def known_values(
    values: Any,
    nodes: Iterable[Any],
    *,
    unknown_nodes: Literal["error", "ignore"] = "error",
    node: Hashable = None,
    value: Hashable = None,
) -> NDArray[np.float64]:
    """Return the value of each node, NaN where it is unknown.

    Parameters
    ----------
    values : mapping, Series, table or array
        One of: a mapping from nodes to values; a pandas Series, whose index names the nodes; a
        table of pandas, polars or Arrow; an array, list or polars Series of n values in the order
        of ``nodes``. NaN and None mean unknown.
    nodes : sequence of n names
        The nodes of the result, such as ``adjacency_vectors(...).nodes``.
    unknown_nodes : {"error", "ignore"}
        What to do with values of nodes that are not among ``nodes``.
    node, value : name or position of a column, optional
        Columns of a table. By default they are found by their names, or taken if only one
        assignment is possible (``docs/reference/graphs.md``).

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> from gradraker.graph import known_values
    >>> known_values({"b": 3.0, "a": 1.0}, ["a", "b", "c"])
    array([ 1.,  3., nan])
    >>> known_values({"d": 3.0}, ["a", "b", "c"])
    Traceback (most recent call last):
    gradraker.exceptions.UnknownNodesError: values holds nodes that are not in the graph: 'd'; ...
    """
    check_choice("unknown_nodes", unknown_nodes, ("error", "ignore"))
    names = check_names(nodes, argument="nodes")
    given = _split_named(select_columns(values, node=node, value=value, task="values"))
    if given is None:
        aligned = to_numbers(values, name="values")
        if aligned.shape != names.shape:
            raise ValueError(
                f"values has shape {aligned.shape}, but there are {len(names)} nodes: give one "
                "value per node, NaN where it is unknown, or a mapping from nodes to values"
            )
        _check_finite(names, aligned)
        return aligned
    _check_finite(*given)
    listed, known = _drop_repeats(*given)
    at = find_positions(listed, names)
    unknown = listed[at < 0]
    if len(unknown):
        check_same_type(unknown, names, argument="values")
        if unknown_nodes == "error":
            raise UnknownNodesError(
                "values",
                unknown.tolist(),
                "pass unknown_nodes='ignore' to leave them out",
                _find_line(values, unknown[0]),
            )
    aligned = np.full(len(names), np.nan)
    aligned[at[at >= 0]] = known[at >= 0]
    return aligned


def select_columns(
    values: Any, *, node: Hashable = None, value: Hashable = None, task: Task | None = None
) -> Any:
    """Return the two columns of a table of values; other forms of values as they are."""
    if not isinstance(values, Mapping | list | np.ndarray) and is_table(values):
        return to_value_table(values, node=node, value=value, task=task)
    for argument, column in (("node", node), ("value", value)):
        if column is not None and not isinstance(values, ValueTable):
            raise ValueError(
                f"{argument} names a column of a table, but values is a {type(values).__name__}"
            )
    return values


def _split_named(values: Any) -> tuple[Names, NDArray[np.float64]] | None:
    """Return nodes and their values, or None if the values come without nodes."""
    names = get_value_names(values)
    if names is None:
        return None
    if isinstance(values, ValueTable):
        return names, to_numbers(values.entries, name=f"column {values.entries.name!r}")
    entries = list(values.values()) if isinstance(values, Mapping) else values
    return names, to_numbers(entries, name="values")


def get_value_names(values: Any) -> Names | None:
    """Return the nodes that values name, or None if they come without names."""
    if isinstance(values, ValueTable):
        return values.names
    if isinstance(values, Mapping):
        return to_name_array(list(values), argument="values")
    series = nw.from_native(values, series_only=True, pass_through=True)
    index = nw.maybe_get_index(series) if isinstance(series, nw.Series) else None
    return None if index is None else to_name_array(index.tolist(), argument="values")


def _check_finite(nodes: Names, values: NDArray[np.float64]) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        i = infinite[0]
        raise ValueError(
            f"the value of node {to_plain_name(nodes[i])!r} is {values[i]}, but must be finite, "
            "or NaN if it is unknown"
        )


def _drop_repeats(nodes: Names, values: NDArray[np.float64]) -> tuple[Names, NDArray[np.float64]]:
    """Return each node once; it may be given twice with the same value, but not with two."""
    found, (codes,) = find_distinct([nodes])
    rows = find_two_values(codes, values)
    if rows is not None:
        first, second = values[list(rows)]
        raise ValueError(
            f"node {to_plain_name(nodes[rows[0]])!r} has two values, {first} and {second}: give one"
        )
    kept = np.empty(len(found))
    kept[codes] = values
    return found, kept


def find_two_values(
    codes: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[int, int] | None:
    """Return two rows of one node that have different values, or None; ``codes`` number nodes."""
    first = np.full(int(codes.max(initial=-1)) + 1, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    before = values[first[codes]]
    differs = np.flatnonzero((before != values) & ~(np.isnan(before) & np.isnan(values)))
    return (int(first[codes[differs[0]]]), int(differs[0])) if len(differs) else None


@dataclass(frozen=True)
class ValueKind:
    """The kind of values, numbers or labels, and the mark of an unknown one."""

    task: Task
    unknown: Any  # NaN, or None
    dtype: np.dtype[Any]
    # Values in the order of nodes, with unknown ones marked.
    align: Callable[[Any, Names], NDArray[Any]]

    def make_unknown(self, n: int) -> NDArray[Any]:
        """Return n unknown values."""
        return np.full(n, self.unknown, dtype=self.dtype)

    def is_known(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each value is known; of several targets, one is enough."""
        known = values != None if self.unknown is None else ~np.isnan(values)  # noqa: E711 - each
        return np.asarray(known if known.ndim == 1 else known.any(axis=1), dtype=np.bool_)


NUMBERS = ValueKind("values", np.nan, np.dtype(np.float64), known_values)


def align_values(
    kind: ValueKind, graph: NodeGraph, added: NodeGraph, values: Any, unknown_nodes: str
) -> tuple[NodeGraph, NDArray[Any]]:
    """Return values in the order of the nodes of a graph.

    Values without names are in the order of the nodes of ``added``, a part of the graph. With
    ``unknown_nodes="isolated"``, nodes that only values name join the graph, without edges. A table
    comes as its two columns, as :func:`select_columns` returns it.
    """
    check_choice("unknown_nodes", unknown_nodes, ("error", "ignore", "isolated"))
    names = get_value_names(values)
    if names is None:
        aligned = kind.make_unknown(len(graph))
        aligned[find_positions(added.nodes, graph.nodes)] = kind.align(values, added.nodes)
        return graph, aligned
    listed, _ = find_distinct([names])
    unknown = listed[find_positions(listed, graph.nodes) < 0]
    if not len(unknown):
        return graph, kind.align(values, graph.nodes)
    check_same_type(unknown, graph.nodes, argument="values")
    if unknown_nodes == "error":
        raise UnknownNodesError(
            "values",
            unknown.tolist(),
            "pass unknown_nodes='ignore' to leave them out, or 'isolated' to take them for "
            "nodes without edges",
            _find_line(values, unknown[0]),
        )
    extended = append_isolated_nodes(graph, unknown)
    aligned = kind.align(values, extended.nodes)
    return (extended, aligned) if unknown_nodes == "isolated" else (graph, aligned[: len(graph)])


def check_magnitudes(graph: NodeGraph, values: NDArray[Any]) -> None:
    """Refuse values and weights whose squares would leave the range of float64."""
    if values.dtype == np.float64:
        with np.errstate(invalid="ignore"):
            large = np.argwhere(np.abs(values) > LARGEST_MAGNITUDE)  # NaN is not
        if large.size:
            raise ValueError(
                f"values holds {values[tuple(large[0])]:g} for node "
                f"{graph.nodes[large[0][0]]!r}, but values "
                f"must lie between ±{LARGEST_MAGNITUDE:g}: scale them"
            )
    weights = graph.adjacency.data
    # Without a copy of absolute values, since weights may be mapped from a file.
    largest = max(float(weights.max(initial=0.0)), -float(weights.min(initial=0.0)))
    if largest > LARGEST_MAGNITUDE:
        raise ValueError(
            f"graph holds the edge weight {weights[np.abs(weights).argmax()]:g}, but weights must "
            f"lie between ±{LARGEST_MAGNITUDE:g}: scale them"
        )


class Targets(NamedTuple):
    """Names of targets, and the values of each in a form that one target may have."""

    names: list[Hashable]
    columns: list[Any]


def split_targets(
    values: Any, *, node: Hashable = None, value: Any = None, names: Sequence[Hashable] = ()
) -> Targets | None:
    """Split values of several targets; None if there is one target only.

    Parameters
    ----------
    values : table with several columns of ``value``, array (n, K), or mapping
        A mapping leads from nodes to K numbers, or to mappings from targets to numbers.
    node, value : name or position of a column, optional
        Columns of a table; several targets are a list of columns.
    names : sequence, optional
        Names that the targets have already; otherwise they are numbered from 0.

    Examples
    --------
    >>> from gradraker.graph.values import split_targets
    >>> split_targets({"a": [1.0, 5.0], "b": None}).columns
    [{'a': 1.0, 'b': nan}, {'a': 5.0, 'b': nan}]
    >>> split_targets({"a": {"age": 40.0}, "b": {"age": 30.0, "income": 9.0}}).names
    ['age', 'income']
    >>> split_targets({"a": 1.0}) is None
    True
    """
    if isinstance(value, list | tuple):
        columns = [select_columns(values, node=node, value=name, task="values") for name in value]
        if len(set(value)) < len(value) or not value:
            raise ValueError(f"value must name different columns, got {list(value)!r}")
        return Targets(list(value), columns)
    if isinstance(values, Mapping):
        entries = [entry for entry in values.values() if entry is not None]
        if entries and all(isinstance(entry, Mapping) for entry in entries):
            found = _split_mappings(values, names)
        elif entries and all(isinstance(entry, list | tuple | np.ndarray) for entry in entries):
            found = _split_vectors(values, names)
        else:
            return None
        return found._replace(columns=[keep_lines(values, column) for column in found.columns])
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return Targets(
            _name_targets(values.shape[1], names),
            [np.ascontiguousarray(column) for column in values.T],
        )
    return None


def _split_mappings(values: Mapping[Hashable, Any], names: Sequence[Hashable]) -> Targets:
    found = dict.fromkeys(names)
    for entry in values.values():
        found |= dict.fromkeys(entry or ())
    columns = [
        {node: (entry or {}).get(name, np.nan) for node, entry in values.items()} for name in found
    ]
    return Targets(list(found), columns)


def _split_vectors(values: Mapping[Hashable, Any], names: Sequence[Hashable]) -> Targets:
    vectors = {
        node: None if entry is None else np.asarray(entry, dtype=np.float64)
        for node, entry in values.items()
    }
    shapes = {vector.shape for vector in vectors.values() if vector is not None}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise ValueError(
            f"values holds vectors of the shapes {sorted(shapes)}: give one number per target, NaN "
            "where it is unknown"
        )
    ((n_targets,),) = shapes
    unknown = np.full(n_targets, np.nan)
    columns = [
        {node: float((unknown if v is None else v)[j]) for node, v in vectors.items()}
        for j in range(n_targets)
    ]
    return Targets(_name_targets(n_targets, names), columns)


def _name_targets(n_targets: int, names: Sequence[Hashable]) -> list[Hashable]:
    return list(names) if len(names) == n_targets else list(range(n_targets))
