"""Tables in Parquet files."""

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw
import numpy as np

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.columns import WantedColumns
from gradraker.graph.adapters.tables import to_column_table
from gradraker.io.content import (
    Content,
    FileColumns,
    Progress,
    check_unpacked_size,
    take_first_line,
)
from gradraker.io.parquet_sizes import check_parquet_sizes
from gradraker.io.text_table import TextOptions, choose_columns

if TYPE_CHECKING:
    import polars as pl


def read_parquet_table(content: Content) -> "pl.DataFrame":
    """Return all columns of a Parquet file."""
    import polars as pl

    try:
        sizes = check_parquet_sizes(content.data)
    except ValueError as error:
        raise GraphFileError(
            content.label, f"this is not a readable Parquet file ({error})"
        ) from None
    check_unpacked_size(content.label, sizes.n_bytes)
    try:
        return pl.read_parquet(io.BytesIO(content.data))
    except (Exception, pl.exceptions.PanicException) as error:
        raise GraphFileError(
            content.label, f"this is not a readable Parquet file ({take_first_line(error)})"
        ) from None


def read_parquet_columns(
    content: Content, wanted: WantedColumns, options: TextOptions, progress: Progress
) -> FileColumns:
    """Return the wanted columns of a Parquet file; the options are those of text tables."""
    return take_columns(read_parquet_table(content), content.label, wanted)


def take_columns(
    table: "pl.DataFrame", label: str, wanted: WantedColumns, *, first_row: int = 1
) -> FileColumns:
    """Return the wanted columns of a table that begins at a row of a file."""
    import polars as pl

    rules = to_column_table([nw.from_native(c, series_only=True) for c in table], Place(label))
    chosen, reading = choose_columns(wanted, rules)
    columns = []
    for i in chosen.names:
        column = table.to_series(i)
        place = Place(label, column=i + 1, header=column.name)
        if column.null_count():
            row = int(column.is_null().arg_true()[0]) + first_row
            raise GraphFileError(replace(place, row=row), "the name of a node is missing")
        if column.dtype.is_integer() and column.dtype != pl.UInt64:
            columns.append(column.cast(pl.Int64))
        elif column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum):
            columns.append(column.cast(pl.String))
        else:
            raise GraphFileError(
                place, f"nodes must be integers or texts, but the column is of type {column.dtype}"
            )
    if chosen.value is None:
        return FileColumns(columns, None, reading=reading)
    column = table.to_series(chosen.value)
    if chosen.is_text and (
        column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum)
    ):
        return FileColumns(columns, None, labels=column.cast(pl.String), reading=reading)
    numbers = []
    for i in (chosen.value, *chosen.more):
        column = table.to_series(i)
        place = Place(label, column=i + 1, header=column.name)
        if not column.dtype.is_numeric():
            raise GraphFileError(
                place, f"numbers are needed, but the column is of type {column.dtype}"
            )
        values = column.cast(pl.Float64).to_numpy()
        wrong = np.flatnonzero(np.isinf(values) if chosen.missing_allowed else ~np.isfinite(values))
        if len(wrong):
            raise GraphFileError(
                replace(place, row=int(wrong[0]) + first_row),
                f"{values[wrong[0]]} is not a finite number",
            )
        numbers.append(values)
    return FileColumns(columns, numbers[0], reading=reading, more=tuple(numbers[1:]))
