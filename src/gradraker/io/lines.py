"""Read a text table line by line: the rules in their plain form, and the place of each error."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.io.content import Progress, no_progress
from gradraker.io.layout import MISSING, Layout, data_lines, is_number, split
from gradraker.io.messages import shortened

_LINES_PER_REPORT = 100_000


@dataclass(frozen=True)
class FileColumns:
    """The columns asked for: texts (a list, or a polars Series), numbers, and line numbers."""

    texts: list[Any]
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.int64] | None


def read_lines(
    text: str,
    layout: Layout,
    *,
    texts: list[int],
    number: int | None,
    missing_allowed: bool,
    first: int = 1,
    progress: Progress = no_progress,
) -> FileColumns:
    """Return columns of a text table, or raise an error that names line and column.

    ``first`` is the number of the first line, if the text is a piece of a file.
    """
    listed: list[list[str]] = [[] for _ in texts]
    numbers: list[float] = []
    lines: list[int] = []
    n_lines = text.count("\n") + first
    for count, (line, content) in enumerate(data_lines(text, layout.comment, first=first)):
        if line < layout.first_line:
            continue
        fields = split(content, layout.separator, layout.place(line))
        if len(fields) != layout.n_columns:
            raise GraphFileError(
                layout.place(line),
                f"{len(fields)} column(s) are there, but {layout.n_columns} are expected after "
                f"line {layout.header_line}",
            )
        for found, column in zip(listed, texts, strict=True):
            if not fields[column]:
                raise GraphFileError(layout.place(line, column), "the name of a node is missing")
            found.append(fields[column])
        if number is not None:
            numbers.append(_number(fields[number], layout, line, number, missing_allowed))
        lines.append(line)
        if count % _LINES_PER_REPORT == 0:
            progress("parsing", line, n_lines)
    return FileColumns(
        list(listed), None if number is None else np.array(numbers), np.array(lines, dtype=np.int64)
    )


def _number(text: str, layout: Layout, line: int, column: int, missing_allowed: bool) -> float:
    if is_number(text):
        value = float(text)
        if math.isfinite(value):
            return value
    elif missing_allowed and text.casefold() in MISSING:
        return math.nan
    place = layout.place(line, column)
    if text.casefold() in MISSING:
        raise GraphFileError(place, f"the weight is missing ({shortened(text)})")
    raise GraphFileError(place, f"{shortened(text)} is not a finite decimal number")


def as_integers(texts: list[list[str]]) -> list[NDArray[np.int64]] | None:
    """Return texts as int64 if each is an integer in its shortest form, so that nothing is lost."""
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    converted = []
    for column in texts:
        # 20 characters hold every 64-bit integer; longer texts need no conversion to be refused.
        if not all(_is_integer(text) for text in column):
            return None
        numbers = [int(text) for text in column]
        if numbers and not (low <= min(numbers) and max(numbers) <= high):
            return None
        converted.append(np.array(numbers, dtype=np.int64))
    return converted


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[0] == "-" else text
    if len(text) > 20 or not (digits.isascii() and digits.isdigit()):
        return False
    return digits[0] != "0" or text == "0"
