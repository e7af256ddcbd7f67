"""The columns of a table in a file: whether a line names them, which are wanted, what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError, Place, UnclearTableError
from gradraker.graph.adapters.columns import (
    ColumnPositions,
    ColumnSample,
    EdgeColumns,
    Table,
    ValueColumns,
    find_kind,
)
from gradraker.graph.edges import Reading
from gradraker.graph.names import (
    MISSING,
    Names,
    find_distinct,
    find_distinct_texts,
    is_number,
    is_value,
)

if TYPE_CHECKING:
    import polars as pl

WantedColumns = EdgeColumns | ValueColumns
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class FileColumns:
    """The columns that were wanted, and the line of each entry if the file has lines."""

    names: list["pl.Series"]  # of text or int64
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.integer] | None = None
    labels: "pl.Series | None" = None  # of text, in place of numbers; null where one is missing
    reading: Reading | None = None


def choose_columns(wanted: WantedColumns, table: Table) -> tuple[ColumnPositions, Reading]:
    """Return the positions of the wanted columns in a file, and how the file is read."""
    try:
        return wanted.choose(table)
    except GraphFileError:
        raise
    except ValueError as error:
        raise GraphFileError(table.place, str(error)) from None


def number_names(columns: list["pl.Series"], ids: str) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of columns, and the position of each entry among them."""
    if ids == "auto" and all(column.dtype.is_integer() for column in columns):
        return find_distinct([column.to_numpy() for column in columns])
    import polars as pl

    return find_distinct_texts([column.cast(pl.String) for column in columns])


def has_header(
    fields: Sequence[str],
    rows: Rows,
    rest: str,
    separator: str,
    wanted: WantedColumns,
    place: Place,
) -> bool:
    """Whether the first line of a text table names its columns.

    Parameters
    ----------
    fields : sequence of str
        Fields of the first line.
    rows : sequence of sequences of str
        Fields of lines after it.
    rest : str
        All text after the first line, where its words may occur again.
    separator : str
        What separates fields.
    wanted : EdgeColumns or ValueColumns
        What is read.
    place : Place
        The first line, in messages.

    Raises
    ------
    UnclearTableError
        If the line may be a header as well as data.
    """
    if wanted.is_heading(fields, plainly=True):
        return True
    # A header may have no name above the numbers of rows, but names all other columns.
    is_data = any(is_number(field) for field in fields) or any(
        f.casefold() in MISSING for f in fields[1:]
    )
    if not rows or is_data:
        return False
    for field, column in zip(fields, zip(*rows, strict=True), strict=True):
        given = [entry for entry in column if entry.casefold() not in MISSING]
        if field and not is_value(field) and 2 * sum(map(is_number, given)) > len(given):
            return True  # a word above numbers
    if any(_has_word(field, rest, separator) for field in fields):
        return False
    if wanted.is_heading(fields):
        return True
    listed = ", ".join(map(repr, fields[:6]))
    raise UnclearTableError(
        place, f"the line {listed} may name the columns or be data like the others", ("header",)
    )


def _has_word(word: str, text: str, separator: str) -> bool:
    """Whether a word is a field of a text table; quotes and blanks around it do not matter."""
    word = word.replace('"', '""')
    around = " \t" if separator != "\t" else " "
    ends = ("", "\n", separator, *((" ", "\t") if separator == " " else ()))
    at = text.find(word)
    while at >= 0 and word:
        before = text[max(0, at - 20) : at].rstrip('"')
        after = text[at + len(word) : at + len(word) + 20].lstrip('"')
        if separator != " ":
            before, after = before.rstrip(around), after.lstrip(around)
        if before[-1:] in ends and after[:1] in ends:
            return True
        at = text.find(word, at + 1)
    return False


def make_table(names: Sequence[str] | None, rows: Rows, n_columns: int, place: Place) -> Table:
    """Return the columns of a text table as the rules of columns see them."""

    def take_samples() -> list[ColumnSample]:
        columns = zip(*rows, strict=True) if rows else [()] * n_columns
        return [_make_sample(column) for column in columns]

    return Table(names, n_columns, take_samples, place)


def _make_sample(column: Sequence[str]) -> ColumnSample:
    entries = [None if entry.casefold() in MISSING else entry for entry in column]
    numbers = [float(entry) for entry in entries if entry is not None and is_number(entry)]
    return ColumnSample(find_kind(numbers, len(entries) - entries.count(None)), entries)
