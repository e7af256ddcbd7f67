"""The columns of a table in a file: which are wanted, what was found, and the names numbered."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.names import Names, find_distinct
from gradraker.graph.text import find_distinct_texts

if TYPE_CHECKING:
    import polars as pl


class ColumnPositions(NamedTuple):
    """Positions of the columns of names and of the column of numbers, None if there is none."""

    names: list[int]
    number: int | None
    missing_allowed: bool = False  # whether a number may be missing


class WantedColumns(NamedTuple):
    """The columns that a reader wants: some of names, then one of numbers."""

    # From header (None without one) and number of columns to positions, that of numbers last.
    choose: Callable[[Sequence[Hashable] | None, int], tuple[int | None, ...]]
    n_names: int
    missing_allowed: bool

    def find_positions(
        self, header: Sequence[Hashable] | None, n_columns: int, label: str
    ) -> ColumnPositions:
        """Return the positions of the columns in a file."""
        try:
            *names, number = self.choose(header, n_columns)
        except ValueError as error:
            raise GraphFileError(label, str(error)) from None
        return ColumnPositions(
            [name for name in names if name is not None], number, self.missing_allowed
        )


@dataclass(frozen=True)
class FileColumns:
    """The columns that were wanted, and the line of each entry if the file has lines."""

    names: list["pl.Series"]  # of text or int64
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.integer] | None = None


def number_names(columns: list["pl.Series"], ids: str) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of columns, and the position of each entry among them."""
    if ids == "auto" and all(column.dtype.is_integer() for column in columns):
        return find_distinct([column.to_numpy() for column in columns])
    import polars as pl

    return find_distinct_texts([column.cast(pl.String) for column in columns])
