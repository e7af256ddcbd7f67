"""The columns that were read from a table in a file, and their names numbered."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters.columns import ColumnPositions, EdgeColumns, ValueColumns
from gradraker.graph.names import Names, find_distinct
from gradraker.graph.text import find_distinct_texts

if TYPE_CHECKING:
    import polars as pl

WantedColumns = EdgeColumns | ValueColumns


@dataclass(frozen=True)
class FileColumns:
    """The columns that were wanted, and the line of each entry if the file has lines."""

    names: list["pl.Series"]  # of text or int64
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.integer] | None = None


def choose_columns(
    wanted: WantedColumns, header: Sequence[Hashable] | None, n_columns: int, label: str
) -> ColumnPositions:
    """Return the positions of the wanted columns in a file; ``header`` is None without one."""
    try:
        return wanted.choose(header, n_columns)
    except ValueError as error:
        raise GraphFileError(label, str(error)) from None


def number_names(columns: list["pl.Series"], ids: str) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of columns, and the position of each entry among them."""
    if ids == "auto" and all(column.dtype.is_integer() for column in columns):
        return find_distinct([column.to_numpy() for column in columns])
    import polars as pl

    return find_distinct_texts([column.cast(pl.String) for column in columns])
