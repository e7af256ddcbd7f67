"""The one error of the readers."""

from pathlib import Path


class GraphFileError(ValueError):
    """A file of edges or values is not what it should be; the message names the place.

    Examples
    --------
    >>> from gradraker.graph.files import GraphFileError, Place
    >>> raise GraphFileError(Place("edges.csv", line=3, column=2), "'x' is no number")
    Traceback (most recent call last):
    gradraker.graph.files.errors.GraphFileError: edges.csv, line 3, column 2: 'x' is no number
    """

    def __init__(self, place: "Place | str", problem: str) -> None:
        super().__init__(f"{place}: {problem}")


class Place:
    """Where in a file something is: name, line from 1, column from 1, header of the column."""

    def __init__(
        self,
        file: str,
        *,
        line: int | None = None,
        row: int | None = None,
        column: int | None = None,
        header: str | None = None,
    ) -> None:
        self.file, self.line, self.row, self.column, self.header = file, line, row, column, header

    def __str__(self) -> str:
        parts = [self.file]
        parts += [f"line {self.line}"] if self.line is not None else []
        parts += [f"row {self.row}"] if self.row is not None else []
        if self.column is not None:
            header = f" ({self.header})" if self.header is not None else ""
            parts.append(f"column {self.column}{header}")
        return ", ".join(parts)


def file_label(path: object) -> str:
    """Name of a file in messages."""
    return "standard input" if path == "-" else str(Path(str(path)))


def shortened(text: object, *, limit: int = 40) -> str:
    """A value in quotes, cut where it gets long."""
    full = repr(text)
    return full if len(full) <= limit else f"{full[: limit - 4]}...{full[-1]}"
