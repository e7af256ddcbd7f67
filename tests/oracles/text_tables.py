"""Text tables read line by line in plain Python: the rules that the reader must follow."""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.columns import ColumnPositions
from gradraker.io import matrix_market, text_table
from gradraker.io.content import FileColumns
from gradraker.io.text_table import Layout

BLANKS = " \t"
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MISSING = {"", "na", "n/a", "nan", "null", "none"}


def parse_columns(
    text: str, layout: Layout, columns: ColumnPositions, progress: Callable[..., Any]
) -> FileColumns:
    """Return columns of a text table, or raise an error that names line and column."""
    names, number, missing_allowed, is_text, _ = columns
    listed: Any = [[] for _ in names]
    numbers: list[Any] = []
    lines = []
    for line, content in enumerate(text.split("\n"), start=1):
        bare = content.lstrip(BLANKS)
        skipped = not bare or (layout.comment and bare.startswith(layout.comment))
        if skipped or line < layout.first_line:
            continue
        fields = split(content, layout.separator, layout.make_place(line))
        if len(fields) != layout.n_columns:
            raise GraphFileError(
                layout.make_place(line),
                f"the line has {len(fields)} column(s), but {layout.n_columns} are expected after "
                f"line {layout.header_line}",
            )
        for found, column in zip(listed, names, strict=True):
            if not fields[column]:
                raise GraphFileError(
                    layout.make_place(line, column), "the name of a node is missing"
                )
            found.append(fields[column])
        if number is not None:
            place = layout.make_place(line, number)
            if is_text:
                missing = fields[number].casefold() in MISSING
                numbers.append(None if missing else fields[number])
            else:
                numbers.append(to_number(fields[number], place, missing_allowed))
        lines.append(line)
        progress("parsing", line, text.count("\n") + 1)
    texts = [pl.Series(f"name{i}", found, dtype=pl.String) for i, found in enumerate(listed)]
    named, at = to_integers(texts) or texts, np.array(lines, dtype=np.int64)
    if is_text:
        return FileColumns(named, None, at, labels=pl.Series(numbers, dtype=pl.String))
    return FileColumns(named, None if number is None else np.array(numbers), at)


def to_number(text: str, place: Place, missing_allowed: bool) -> float:
    if NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    elif missing_allowed and text.casefold() in MISSING:
        return math.nan
    shown = repr(text) if len(repr(text)) <= 40 else f"{repr(text)[:36]}...{repr(text)[-1]}"
    if text.casefold() in MISSING:
        raise GraphFileError(place, f"the weight is missing ({shown})")
    more = "; with the task 'classes' values are names" if missing_allowed else ""
    raise GraphFileError(place, f"{shown} is not a finite decimal number{more}")


def split(content: str, separator: str, place: Place) -> list[str]:
    """Return the fields of a line, one after the other, without blanks and quotes around them."""
    if '"' not in content and separator != " ":
        return [field.strip(BLANKS) for field in content.split(separator)]
    if '"' not in content:
        return [word for word in content.replace("\t", " ").split(" ") if word]
    if separator == " ":
        content = content.strip(BLANKS)
        field = re.compile(r'(?:"((?:[^"]|"")*+)"|(?!")([^ \t]*+))([ \t]++|$)')
    else:
        blank, mark = BLANKS.replace(separator, ""), re.escape(separator)
        field = re.compile(
            rf'[{blank}]*+(?:"((?:[^"]|"")*+)"[{blank}]*+|(?!")([^{mark}]*+))({mark}|$)'
        )
    fields, at = [], 0
    while True:
        match = field.match(content, at)
        if match is None:
            raise GraphFileError(place, "a quoted field is not closed before the next separator")
        quoted, plain, end = match.groups()
        fields.append((plain if quoted is None else quoted.replace('""', '"')).strip(BLANKS))
        if not end:
            return fields
        at = match.end()


def to_integers(columns: list[Any]) -> list[Any] | None:
    """Return texts as int64 if each is an integer in its shortest form, so that nothing is lost."""
    converted = []
    for column in columns:
        texts = column.to_list()
        # 20 characters hold every 64-bit integer.
        if not all(len(text) <= 20 and re.fullmatch("0|-?[1-9][0-9]*", text) for text in texts):
            return None
        whole = [int(text) for text in texts]
        if any(not -(2**63) <= number < 2**63 for number in whole):
            return None
        converted.append(pl.Series(whole, dtype=pl.Int64))
    return converted


@contextmanager
def read_line_by_line() -> Iterator[Any]:
    """Let the readers use this module instead of polars."""
    with (
        mock.patch.object(text_table, "parse_columns", parse_columns),
        mock.patch.object(matrix_market, "parse_columns", parse_columns),
    ):
        yield
