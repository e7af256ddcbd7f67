"""Read a text table with polars, some megabytes at a time. Gives up rather than guess.

The rules are those of ``lines.py``. A piece of the file that is not certain to be read the same
way here (odd quotes, missing fields, lines of different lengths, wrong numbers) is left to
``lines.py``, which reads it or finds the place of the error.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np

from gradraker.io.content import Progress
from gradraker.io.layout import WHITESPACE, Layout
from gradraker.io.lines import FileColumns, read_lines

_PIECE = 1 << 24
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"


def polars_is_installed() -> bool:
    """Whether the fast way is there."""
    return find_spec("polars") is not None


def read_bulk(
    text: str,
    layout: Layout,
    *,
    texts: list[int],
    number: int | None,
    missing_allowed: bool,
    progress: Progress,
) -> FileColumns:
    """Return columns of a text table as polars Series, of int64 if all are integers."""
    import polars as pl

    pieces = []
    at, line = 0, layout.first_line
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    while at < len(text):
        end = text.find("\n", at + _PIECE)
        end = len(text) if end < 0 else end + 1
        piece = text[at:end]
        found = _quick(piece, layout, texts, number)
        if found is None:
            exact = read_lines(
                piece,
                layout,
                texts=texts,
                number=number,
                missing_allowed=missing_allowed,
                first=line,
            )
            found = _with_integers(_frame(exact))
        pieces.append(found)
        progress("parsing", end, len(text))
        line += piece.count("\n")
        at = end
    names = [f"text{i}" for i in range(len(texts))]
    # Columns are of integers only if they are in all pieces; back to text nothing is lost.
    whole = all(piece.schema[name] == pl.Int64 for piece in pieces for name in names)
    if not whole:
        pieces = [piece.with_columns(pl.col(names).cast(pl.String)) for piece in pieces]
    frame = pl.concat(pieces)
    numbers = None if number is None else frame.get_column("number").to_numpy()
    return FileColumns([frame.get_column(name) for name in names], numbers, None)


def _frame(columns: FileColumns) -> Any:
    import polars as pl

    series = {f"text{i}": pl.Series(t, dtype=pl.String) for i, t in enumerate(columns.texts)}
    if columns.numbers is not None:
        series["number"] = pl.Series(columns.numbers, dtype=pl.Float64)
    return pl.DataFrame(series)


def _quick(text: str, layout: Layout, texts: list[int], number: int | None) -> Any:
    """Return the columns of some lines as a polars data frame, or None."""
    import polars as pl

    separator, comment = layout.separator, layout.comment
    if not separator.isascii() or (comment is not None and len(comment) > 1):
        return None
    if "\ufeff" in text:
        return None  # polars takes it for a byte order mark at the start of a piece
    piece = text.encode()
    found = None
    try:
        if not _has_blanks(piece, separator) and _quotes_are_plain(piece, separator):
            found = _parsed(piece, layout, texts, number)
        if found is None:
            # Most files need no cleaning; it is tried before giving up.
            cleaned = _cleaned(piece, separator)
            if _quotes_are_plain(cleaned, separator):
                found = _parsed(cleaned, layout, texts, number)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    return found


def _has_blanks(piece: bytes, separator: str) -> bool:
    return separator == WHITESPACE or b" " in piece or (separator != "\t" and b"\t" in piece)


def _cleaned(piece: bytes, separator: str) -> bytes:
    """Return lines without blank ones, and without blanks before them.

    So polars sees where comments begin. Runs of blanks between words become one.
    """
    if separator == WHITESPACE:
        piece = piece.replace(b"\t", b" ")
        while b"  " in piece:
            piece = piece.replace(b"  ", b" ")
        piece = piece.replace(b" \n", b"\n").rstrip(b" ")
    piece = b"\n" + piece
    for blank in (b"\n ", b"\n\n") if separator == "\t" else (b"\n ", b"\n\t", b"\n\n"):
        while blank in piece:
            piece = piece.replace(blank, b"\n")
    return piece.removeprefix(b"\n")


def _quotes_are_plain(body: bytes, separator: str) -> bool:
    """Whether each quote opens at the start of a field, and closes at its end on the same line."""
    if b'"' not in body:
        return True
    if separator == WHITESPACE:
        return False
    characters = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(characters == ord('"'))
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    ends = (ord(separator), ord("\n"))
    if not (np.isin(characters[opening - 1], ends) & np.isin(characters[closing + 1], ends)).all():
        return False
    newlines = np.flatnonzero(characters == ord("\n"))
    return bool((np.searchsorted(newlines, opening) == np.searchsorted(newlines, closing)).all())


def _parsed(body: bytes, layout: Layout, texts: list[int], number: int | None) -> Any:
    import polars as pl

    columns = [f"c{i}" for i in range(layout.n_columns)]
    frame = pl.read_csv(
        body,
        has_header=False,
        separator=layout.separator,
        comment_prefix=layout.comment,
        quote_char='"' if b'"' in body else None,
        schema=dict.fromkeys(columns, pl.String),
    )
    # A missing field is null, and so is an empty one; lines with too few fields lack the last.
    needed = [
        columns[i] for i in {*texts, layout.n_columns - 1, *([] if number is None else [number])}
    ]
    if any(frame.get_column(column).null_count() for column in needed):
        return None
    if layout.separator != WHITESPACE and _has_blanks(body, layout.separator):
        frame = frame.with_columns(pl.col(needed).str.strip_chars(" \t"))
    found = frame.select(
        *(pl.col(columns[i]).alias(f"text{k}") for k, i in enumerate(texts)),
        *([] if number is None else [pl.col(columns[number]).alias("number")]),
    )
    names = pl.col([f"text{k}" for k in range(len(texts))])
    if not all(found.select((names != "").all()).row(0)):
        return None
    found = _with_integers(found)
    if number is not None:
        value = pl.col("number")
        if not found.select(value.str.contains(_NUMBER).all()).item():
            return None
        found = found.with_columns(value.cast(pl.Float64, strict=False))
        if not found.select(value.is_finite().all()).item():
            return None
    return found


def _with_integers(frame: Any) -> Any:
    """Return the texts as int64 if each is an integer in its shortest form that fits."""
    import polars as pl

    names = pl.col("^text[0-9]+$")
    if all(frame.select(names.str.contains(_INTEGER).all()).row(0)):
        whole = frame.with_columns(names.cast(pl.Int64, strict=False))
        if not sum(whole.select(names.null_count()).row(0)):
            return whole
    return frame
