"""The columns of a file that hold names and numbers, whichever reader finds them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.tables import column, column_names, numbers
from gradraker.graph.names import Names, distinct
from gradraker.graph.text_names import distinct_text
from gradraker.io.bulk import polars_is_installed, read_bulk
from gradraker.io.content import Content, Progress
from gradraker.io.formats import parquet_table
from gradraker.io.layout import Layout, decoded, find_layout
from gradraker.io.lines import FileColumns, as_integers, read_lines

# From header (None without one) and number of columns to the columns of names and of numbers.
Choice = Callable[[Sequence[Hashable] | None, int], tuple[list[int], int | None]]


@dataclass(frozen=True)
class TextOptions:
    """What a user says about a text table."""

    separator: str | None
    comment: str | None
    header: bool | None

    def __post_init__(self) -> None:
        _check_separator(self.separator)
        _check_comment(self.comment)


def _check_separator(separator: object) -> None:
    one = isinstance(separator, str) and len(separator) == 1 and separator not in '"\n\r\0'
    if separator is not None and not one:
        raise ValueError(
            "separator must be one character, not a quote or a line end, or None to find it; "
            f"got {separator!r}"
        )


def _check_comment(comment: object) -> None:
    plain = isinstance(comment, str) and comment and not set(comment) & set(' \t"\n\r\0')
    if comment is not None and not plain:
        raise ValueError(
            f"comment must be characters without blanks and quotes, or None; got {comment!r}"
        )


def file_columns(
    content: Content,
    choose: Choice,
    *,
    options: TextOptions,
    number_column: int,
    missing_allowed: bool,
    exact: bool = False,
    progress: Progress,
) -> FileColumns:
    """Return the chosen columns of a text table or a Parquet file.

    With ``exact`` the place of each row in the file is known too, which takes longer.
    """
    if content.format == "parquet":
        return _table_columns(parquet_table(content), content.label, choose, missing_allowed)
    text = decoded(content.data, content.label)
    layout = find_layout(
        text,
        content.label,
        separator=options.separator,
        comment=options.comment,
        header=options.header,
        number_column=number_column,
    )
    texts, number = _chosen(choose, layout.header, layout.n_columns, content.label)
    return text_columns(
        text,
        layout,
        texts,
        number,
        missing_allowed=missing_allowed,
        exact=exact,
        progress=progress,
    )


def text_columns(
    text: str,
    layout: Layout,
    texts: list[int],
    number: int | None,
    *,
    missing_allowed: bool,
    exact: bool,
    progress: Progress,
) -> FileColumns:
    """Return columns of names and of numbers of a text table, the quick way if it can be."""
    read = read_bulk if polars_is_installed() and not exact else read_lines
    return read(
        text,
        layout,
        texts=texts,
        number=number,
        missing_allowed=missing_allowed,
        progress=progress,
    )


def _chosen(
    choose: Choice, header: Sequence[Hashable] | None, n_columns: int, label: str
) -> tuple[list[int], int | None]:
    try:
        return choose(header, n_columns)
    except ValueError as error:
        raise GraphFileError(label, str(error)) from None


def _table_columns(table: Any, label: str, choose: Choice, missing_allowed: bool) -> FileColumns:
    import polars as pl

    header = column_names(table)
    texts, number = _chosen(choose, header, len(header), label)
    columns = []
    for i in texts:
        names = column(table, i)
        place = Place(label, column=i + 1, header=str(header[i]))
        if names.null_count():
            row = int(names.is_null().arg_true()[0]) + 1
            raise GraphFileError(replace(place, row=row), "the name of a node is missing")
        if names.dtype.is_integer() and names.dtype != pl.UInt64:
            columns.append(names.cast(pl.Int64))
        elif names.dtype.is_integer() or names.dtype in (pl.String, pl.Categorical, pl.Enum):
            columns.append(names.cast(pl.String))
        else:
            raise GraphFileError(
                place, f"nodes must be integers or texts, but the column is of type {names.dtype}"
            )
    values = None
    if number is not None:
        place = Place(label, column=number + 1, header=str(header[number]))
        given = column(table, number)
        if not given.dtype.is_numeric():
            raise GraphFileError(
                place, f"numbers are needed, but the column is of type {given.dtype}"
            )
        values = numbers(given, what="numbers")
        wrong = np.flatnonzero(np.isinf(values) if missing_allowed else ~np.isfinite(values))
        if len(wrong):
            place = replace(place, row=int(wrong[0]) + 1)
            raise GraphFileError(place, f"{values[wrong[0]]} is not a finite number")
    return FileColumns(columns, values, None)


def numbered(texts: list[Any], ids: str) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of columns, and the position of each entry among them."""
    if all(not isinstance(column, list) for column in texts):
        if ids == "auto" and all(column.dtype.is_integer() for column in texts):
            return distinct([column.to_numpy() for column in texts])
        import polars as pl

        found = distinct_text([column.cast(pl.String) for column in texts])
        if found is not None:
            return found
        texts = [column.cast(pl.String).to_list() for column in texts]
    whole = as_integers(texts) if ids == "auto" else None
    if whole is not None:
        return distinct(whole)
    return distinct([np.fromiter(column, dtype=object, count=len(column)) for column in texts])
