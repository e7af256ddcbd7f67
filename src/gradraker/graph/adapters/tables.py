"""Tables of edges and of values: data frames of pandas and polars, and Arrow tables."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.edges import EdgeList
from gradraker.graph.graph_options import Asked
from gradraker.graph.names import Names, distinct, name_array
from gradraker.graph.text_names import distinct_text


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns of a table hold the edges, by position; no weight if it is None."""

    source: int
    target: int
    weight: int | None


def is_table(graph: object) -> bool:
    """Whether it has the columns of a data frame (pandas, polars) or of an Arrow table."""
    # The length is asked for first: a polars LazyFrame has none, and warns if asked for columns.
    if hasattr(graph, "column_names"):
        return hasattr(graph, "num_rows")
    return hasattr(graph, "__len__") and hasattr(graph, "shape") and hasattr(graph, "columns")


def column_names(table: Any) -> list[Hashable]:
    """Names of the columns, in order."""
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def column(table: Any, position: int) -> Any:
    """One column: a Series of pandas or polars, or an Arrow array."""
    if hasattr(table, "iloc"):
        return table.iloc[:, position]
    if hasattr(table, "to_series"):
        return table.to_series(position)
    return table.column(position)


def table_edges(table: Any, asked: Asked) -> EdgeList:
    """Return the edges of a table; its columns are chosen by :func:`edge_columns`."""
    names = column_names(table)
    chosen = edge_columns(names, n_columns=len(names), weight=asked.weight)
    source, target = column(table, chosen.source), column(table, chosen.target)
    found = distinct_text([source, target])  # polars text needs no Python strings
    if found is None:
        pair = [
            name_array(_listed(source, f"column {names[chosen.source]!r}"), argument="source"),
            name_array(_listed(target, f"column {names[chosen.target]!r}"), argument="target"),
        ]
        nodes, (sources, targets) = distinct(pair)
    else:
        nodes, (sources, targets) = found
    weights = None
    if chosen.weight is not None:
        weights = numbers(column(table, chosen.weight), what=f"column {names[chosen.weight]!r}")
    return EdgeList(sources, targets, weights, nodes)


def edge_columns(
    names: Sequence[Hashable] | None,
    *,
    n_columns: int,
    source: Hashable = None,
    target: Hashable = None,
    weight: Hashable = None,
) -> EdgeColumns:
    """Decide which columns hold source, target and weight.

    What is asked for is found by name, or by position from 0 if it is an int that is no name.
    What is not asked for are the columns called source, target and weight. Without columns
    called source and target, the edges are the first two columns, and a third of exactly
    three is the weight.
    """
    known = _first_positions(names)
    by_name = source is None and target is None and {"source", "target"} <= known.keys()
    first = known["source"] if by_name else _position("source", source, known, n_columns, default=0)
    second = (
        known["target"] if by_name else _position("target", target, known, n_columns, default=1)
    )
    if n_columns < 2:
        raise ValueError(
            f"the table has {n_columns} column(s), but edges need a source and a target"
        )
    if first == second:
        raise ValueError(f"source and target must be two columns, got column {first} for both")
    third: int | None = None
    if weight is None:
        if "weight" in known:
            third = known["weight"]
        elif not by_name and n_columns == 3 and {first, second} == {0, 1}:
            third = 2
    elif weight is not False:
        third = _position("weight", weight, known, n_columns, default=2)
    if third in (first, second):
        raise ValueError(
            f"weight must be a column of its own, got column {third} as source or target"
        )
    return EdgeColumns(first, second, third)


def _first_positions(names: Sequence[Hashable] | None) -> dict[Hashable, int]:
    """Position of each name; the first if a table has a name twice."""
    known: dict[Hashable, int] = {}
    for i, name in enumerate(names or ()):
        known.setdefault(name, i)
    return known


def _position(
    argument: str, asked: Hashable, known: dict[Hashable, int], n_columns: int, *, default: int
) -> int:
    if asked is None:
        return default
    if asked in known:
        return known[asked]
    if isinstance(asked, int) and not isinstance(asked, bool) and 0 <= asked < n_columns:
        return asked
    has = (
        f"columns {', '.join(map(repr, known))}" if known else f"{n_columns} columns without names"
    )
    raise ValueError(f"{argument}={asked!r} is no column: the table has {has}")


def _listed(values: Any, what: str) -> Any:
    """A column as an array of numbers, or a list of Python objects; no entry may be missing."""
    missing = _missing(values)
    if missing is not None:
        raise ValueError(f"{what} has no entry in row {missing}, but every edge needs two nodes")
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind in ("i", "u", "f"):
        return np.asarray(values)
    if hasattr(values, "to_pylist"):  # Arrow
        listed = values.to_pylist()
        if set(map(type, listed[:1])) == {int}:
            return np.asarray(values)
        return listed
    if hasattr(values, "to_list") and str(getattr(values, "dtype", "")).startswith(("Int", "UInt")):
        return np.asarray(values)  # polars integers
    return values.tolist() if hasattr(values, "tolist") else values.to_list()


def _missing(values: Any) -> int | None:
    """Row of the first missing entry, None if there is none."""
    for method in ("isna", "is_null"):  # pandas, then polars and Arrow
        if hasattr(values, method):
            mask = np.asarray(getattr(values, method)(), dtype=bool)
            return int(np.flatnonzero(mask)[0]) if mask.any() else None
    return None


def numbers(values: Any, *, what: str) -> NDArray[np.float64]:
    """Return a column as float64, with NaN where an entry is missing."""
    try:
        # Text is refused even if it reads as a number: the column is then not what it seems.
        if hasattr(values, "to_pylist"):
            values = [np.nan if entry is None else entry for entry in values.to_pylist()]
        array = np.asarray(values)
        if array.dtype.kind in "OUSMm":
            listed = [np.nan if entry is None else entry for entry in array.tolist()]
            if any(isinstance(entry, str | bytes) for entry in listed):
                raise TypeError("it holds text")
            array = np.array([float(entry) for entry in listed])
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must hold numbers: {error}") from None


def value_columns(
    names: Sequence[Hashable] | None,
    *,
    n_columns: int,
    node: Hashable = None,
    value: Hashable = None,
) -> tuple[int, int]:
    """Decide which columns hold nodes and values: those called so, or else the first two."""
    if n_columns < 2:
        raise ValueError(f"the table has {n_columns} column(s), but needs nodes and values")
    known = _first_positions(names)
    if node is None and value is None and {"node", "value"} <= known.keys():
        return known["node"], known["value"]
    first = _position("node", node, known, n_columns, default=0)
    second = _position("value", value, known, n_columns, default=1)
    if first == second:
        raise ValueError(f"node and value must be two columns, got column {first} for both")
    return first, second


def table_values(table: Any) -> tuple[Names, NDArray[np.float64]]:
    """Return the nodes and values of a table; its columns are chosen by :func:`value_columns`."""
    names = column_names(table)
    first, second = value_columns(names, n_columns=len(names))
    listed = _listed(column(table, first), f"column {names[first]!r}")
    nodes = name_array(listed, argument=f"column {names[first]!r}")
    return nodes, numbers(column(table, second), what=f"column {names[second]!r}")
