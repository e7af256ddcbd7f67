"""Read a text table with polars, some megabytes at a time. Gives up rather than guess.

The rules are those of ``lines.py``. Whatever is not certain to be read the same way here (odd
quotes, missing fields, lines of different lengths, wrong numbers) makes this return None;
``lines.py`` then reads the file, or finds the place of the error.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np

from gradraker.graph.files.content import Progress
from gradraker.graph.files.layout import WHITESPACE, Layout
from gradraker.graph.files.lines import FileColumns

_PIECE = 1 << 24
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"


def polars_is_installed() -> bool:
    """Whether the fast way is there."""
    return find_spec("polars") is not None


def read_bulk(
    text: str, layout: Layout, *, texts: list[int], number: int | None, progress: Progress
) -> FileColumns | None:
    """Return columns of a text table (polars Series, int64 if all are integers), or None."""
    body = _body(text, layout)
    separator = layout.separator
    if body is None or len(separator.encode()) != 1 or not _plain_comment(layout.comment):
        return None
    import polars as pl

    pieces = []
    at = 0
    while at < len(body):
        end = body.find(b"\n", at + _PIECE)
        end = len(body) if end < 0 else end + 1
        try:
            piece = _piece(body[at:end], layout, texts, number)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        if piece is None:
            return None
        pieces.append(piece)
        progress("parsing", end, len(body))
        at = end
    if not pieces:
        return None
    names = [f"text{i}" for i in range(len(texts))]
    # A column is of integers only if it is in all pieces; back to text nothing is lost.
    whole = all(piece.schema[name] == pl.Int64 for piece in pieces for name in names)
    if not whole:
        pieces = [piece.with_columns(pl.col(names).cast(pl.String)) for piece in pieces]
    frame = pl.concat(pieces)
    numbers = None if number is None else frame.get_column("number").to_numpy()
    return FileColumns([frame.get_column(name) for name in names], numbers, None)


def _plain_comment(comment: str | None) -> bool:
    return comment is None or len(comment) == 1


def _body(text: str, layout: Layout) -> bytes | None:
    """Return the lines after the header, with blank lines removed; None if quotes are odd."""
    start = 0
    for _ in range(layout.first_line - 1):
        start = text.index("\n", start) + 1
    body = text[start:].encode()
    if b"\xef\xbb\xbf" in body:
        return None  # polars takes it for a byte order mark at the start of a piece
    if layout.separator == WHITESPACE:
        body = body.replace(b"\t", b" ")
        while b"  " in body:
            body = body.replace(b"  ", b" ")
        body = body.replace(b" \n", b"\n")
    # Blank lines go, and blanks before a line, so that polars sees where comments begin.
    for blank in (b"\n ", b"\n\n") if layout.separator == "\t" else (b"\n ", b"\n\t", b"\n\n"):
        while blank in body:
            body = body.replace(blank, b"\n")
    body = body.strip(b" \n")
    return body if _quotes_are_plain(body, layout.separator) else None


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


def _piece(body: bytes, layout: Layout, texts: list[int], number: int | None) -> Any:
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
    if layout.separator != WHITESPACE and (
        b" " in body or (layout.separator != "\t" and b"\t" in body)
    ):
        frame = frame.with_columns(pl.col(needed).str.strip_chars(" \t"))
    found = frame.select(
        *(pl.col(columns[i]).alias(f"text{k}") for k, i in enumerate(texts)),
        *([] if number is None else [pl.col(columns[number]).alias("number")]),
    )
    names = pl.col([f"text{k}" for k in range(len(texts))])
    if not all(found.select((names != "").all()).row(0)):
        return None
    if all(found.select(names.str.contains(_INTEGER).all()).row(0)):
        whole = found.with_columns(names.cast(pl.Int64, strict=False))
        if not sum(whole.select(names.null_count()).row(0)):
            found = whole
    if number is not None:
        value = pl.col("number")
        if not found.select(value.str.contains(_NUMBER).all()).item():
            return None
        found = found.with_columns(value.cast(pl.Float64, strict=False))
        if not found.select(value.is_finite().all()).item():
            return None
    return found
