"""Write results: whole files or standard output, never half a file."""

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

    from gradraker.workflow import NodePredictions

# What spreadsheets take for the beginning of a formula, also in full width.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


def escape_formula(name: str) -> str:
    """Return a name that no spreadsheet runs as a formula; numbers stay numbers.

    Examples
    --------
    >>> escape_formula("=HYPERLINK(1)"), escape_formula("-12"), escape_formula("Basel")
    ("'=HYPERLINK(1)", '-12', 'Basel')
    """
    if name.startswith(_FORMULA) and not _NUMBER.fullmatch(name):
        return f"'{name}"
    return name


def make_printable(name: object) -> str:
    r"""Return a name that a terminal shows and does not obey.

    Examples
    --------
    >>> make_printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    text = str(name)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def check_writable(*paths: str | None) -> None:
    """Refuse before any work a file that could not be written after it."""
    for path in paths:
        if path is None or path == "-":
            continue
        folder = Path(path).parent
        if Path(path).is_dir():
            raise IsADirectoryError(21, "is a folder, and a file is to be written", path)
        if not folder.is_dir():
            raise FileNotFoundError(2, f"the folder {str(folder)!r} does not exist", path)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "Permission denied", path)


def write_output(path: str, write: Callable[[TextIO], None]) -> None:
    """Write text to a file, whole or not at all, or to standard output for "-"; in UTF-8.

    The encoding of the terminal plays no role, since it might not have all letters of a name.
    """
    if path == "-":
        stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            write(stream)
            stream.flush()
        finally:
            stream.detach()  # standard output stays open
        return
    from gradraker._files import write_atomically

    def write_file(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            write(file)

    write_atomically(path, write_file)


def list_prediction_rows(
    result: "NodePredictions", *, top: int, raw_names: bool
) -> Iterator[Sequence[object]]:
    """Yield the header and the rows of the table of predictions."""
    shown: Callable[[str], str] = str if raw_names else escape_formula
    found = result.find_contributors(top) if top > 0 else None
    n_top = 0 if found is None else found.weights.shape[1]
    extra = [f"{word}_{i + 1}" for i in range(n_top) for word in ("contributor", "weight")]
    columns = result.list_columns()
    yield [*columns, *extra]

    def to_cell(entry: object) -> object:
        if isinstance(entry, bool):
            return "true" if entry else "false"
        if entry is None or entry != entry:  # unknown
            return ""
        return shown(entry) if isinstance(entry, str) else entry

    listed = zip(*(column.tolist() for column in columns.values()), strict=True)
    for i, entries in enumerate(listed):
        row: list[object] = [to_cell(entry) for entry in entries]
        if found is not None:
            for name, weight in zip(found.names[i], found.weights[i].tolist(), strict=True):
                row += [shown(str(name)), weight]
        yield row


def write_csv(path: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV; numbers have as many digits as it takes to read them back exactly."""

    def write(file: TextIO) -> None:
        csv.writer(file, lineterminator="\n").writerows(rows)

    write_output(path, write)


def write_text(path: str, text: str) -> None:
    """Write text, whole or not at all."""

    def write(file: TextIO) -> None:
        file.write(text)

    write_output(path, write)


def make_console(*, to_stderr: bool = False) -> "Console":
    """A console for tables, which leaves names alone that look like markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, stderr=to_stderr)


def echo_json(facts: Any) -> None:
    """Print one JSON object; a number that is not finite is null."""
    import json

    click.echo(json.dumps(facts, indent=2, allow_nan=False), file=sys.stdout)
