"""Tables of edges and of values: pandas, polars and Arrow behind the interface of narwhals."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from gradraker._validation import to_numbers
from gradraker.exceptions import Place
from gradraker.graph.adapters.columns import (
    ColumnSample,
    EdgeColumns,
    Table,
    Task,
    ValueColumns,
    find_kind,
)
from gradraker.graph.edges import EdgeList, GraphOptions, Reading
from gradraker.graph.names import Names, find_distinct, find_distinct_texts, to_name_array

_THE_TABLE = Place("the table")


def to_table(data: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame or an Arrow table behind one interface; None for anything else."""
    pyarrow = nw.dependencies.get_pyarrow()
    if pyarrow is not None and isinstance(data, pyarrow.RecordBatch):
        data = pyarrow.Table.from_batches([data])
    try:
        table = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise ValueError(
            "the table has two columns of one name: give each column its own name"
        ) from None
    return table if isinstance(table, nw.DataFrame) else None


def is_table(data: Any) -> bool:
    """Whether an object is a data frame (pandas, polars) or an Arrow table."""
    return to_table(data) is not None


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The two columns of a table of values: names of nodes, and numbers or labels."""

    names: Names
    entries: nw.Series[Any]
    is_text: bool
    reading: Reading


def to_value_table(
    data: Any, *, node: Hashable = None, value: Hashable = None, task: Task | None = None
) -> ValueTable:
    """Return nodes and values of a table; its columns are chosen by :class:`ValueColumns`."""
    columns = _list_columns(data)
    chosen, reading = ValueColumns(node, value, task).choose(to_column_table(columns))
    assert chosen.value is not None
    nodes, values = columns[chosen.names[0]], columns[chosen.value]
    _check_complete(nodes)
    names = _to_names(nodes, argument=f"column {nodes.name!r}")
    is_category = task is None and values.dtype in (nw.Categorical, nw.Enum)
    return ValueTable(names, values, chosen.is_text or is_category, reading)


def _list_columns(data: Any) -> list[nw.Series[Any]]:
    table = to_table(data)
    assert table is not None
    return [table[:, i] for i in range(len(table.columns))]


def to_column_table(columns: list[nw.Series[Any]], place: Place = _THE_TABLE) -> Table:
    """Return columns as the rules take them; ``place`` names the table in messages."""
    names = [column.name for column in columns]
    return Table(names, len(names), lambda: list(map(_take_sample, columns)), place)


# Entries of a column that the rules examine.
_SAMPLE_SIZE = 1000


def _take_sample(column: nw.Series[Any]) -> ColumnSample:
    listed = column.head(_SAMPLE_SIZE).to_list()
    entries = [None if entry is None or entry != entry else entry for entry in listed]
    numbers = [float(e) for e in entries if isinstance(e, int | float | np.integer | np.floating)]
    kind = find_kind(numbers, len(entries) - entries.count(None))
    return ColumnSample(kind, [e if isinstance(e, Hashable) else repr(e) for e in entries])


def from_table(data: Any, options: GraphOptions) -> EdgeList:
    """Return the edges of a table; its columns are chosen by :class:`EdgeColumns`."""
    columns = _list_columns(data)
    wanted = EdgeColumns(options.source, options.target, options.weight)
    chosen, reading = wanted.choose(to_column_table(columns))
    source, target = (columns[i] for i in chosen.names)
    _check_complete(source, target)
    if all(c.implementation.is_polars() and c.dtype == nw.String for c in (source, target)):
        # No Python string is made for each entry.
        nodes, (sources, targets) = find_distinct_texts([source.to_native(), target.to_native()])
    else:
        nodes, (sources, targets) = find_distinct(
            [_to_names(source, argument="source"), _to_names(target, argument="target")]
        )
    weights = None
    if chosen.value is not None:
        column = columns[chosen.value]
        weights = to_numbers(column, name=f"column {column.name!r}")
    return EdgeList(sources, targets, weights, nodes, reading=reading)


def _to_names(column: nw.Series[Any], *, argument: str) -> Names:
    numeric = column.dtype.is_integer() or column.dtype.is_float()
    return to_name_array(column.to_numpy() if numeric else column.to_list(), argument=argument)


def _check_complete(*columns: nw.Series[Any]) -> None:
    for column in columns:
        missing = np.flatnonzero(column.is_null().to_numpy())
        if len(missing):
            raise ValueError(
                f"column {column.name!r} has no entry in row {missing[0]}, but every row must name "
                "its nodes"
            )
