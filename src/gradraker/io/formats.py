"""The formats of files: a new one is a file of this folder and an entry of ``FORMATS``."""

import os
from collections.abc import Callable, Hashable
from pathlib import PurePath
from typing import NamedTuple

from gradraker._validation import check_choice
from gradraker.exceptions import GraphFileError
from gradraker.graph.edges import EdgeList
from gradraker.io.columns import FileColumns, WantedColumns
from gradraker.io.content import Content, Progress, read_content
from gradraker.io.graphml import read_graphml
from gradraker.io.matrix_market import read_matrix_market
from gradraker.io.parquet import read_parquet_columns
from gradraker.io.text.layout import TextOptions
from gradraker.io.text.text_table import read_text_columns


class Format(NamedTuple):
    """A format of files: how to recognise it, and its reader, of a table or of a whole graph."""

    suffixes: tuple[str, ...]
    is_format: Callable[[bytes], bool]  # from the first bytes without byte order mark
    read_columns: Callable[[Content, WantedColumns, TextOptions, Progress], FileColumns] | None
    read_graph: Callable[[Content, Hashable, Progress], EdgeList] | None


# The first that recognises the content counts; any content may be text.
FORMATS = {
    "parquet": Format(
        (".parquet", ".pq"), lambda head: head[:4] == b"PAR1", read_parquet_columns, None
    ),
    "matrix-market": Format(
        (".mtx", ".mm"),
        lambda head: head.lstrip()[:14].lower() == b"%%matrixmarket",
        None,
        read_matrix_market,
    ),
    "graphml": Format(
        (".graphml",),
        lambda head: head.lstrip()[:1] == b"<" and b"<graphml" in head,
        None,
        read_graphml,
    ),
    "text": Format((), lambda head: True, read_text_columns, None),
}


def open_file(
    path: str | os.PathLike[str], wanted: str | None, progress: Progress
) -> tuple[Content, str]:
    """Return the content of a file and its format.

    The format is recognised by the first bytes, since standard input has no suffix and suffixes
    may be wrong. A suffix of another format is an error.
    """
    if wanted is not None:
        check_choice("format", wanted, FORMATS)
    content = read_content(path, progress)
    head = content.data[:4096].removeprefix(b"\xef\xbb\xbf")
    found = next(name for name, format in FORMATS.items() if format.is_format(head))  # noqa: A001
    expected = wanted or (None if path == "-" else format_from_suffix(path))
    if expected not in (None, found):
        why = "format asks for" if wanted else "its name promises"
        raise GraphFileError(content.label, f"{why} {expected}, but the content looks like {found}")
    if not content.data or content.data.isspace():
        raise GraphFileError(content.label, "the file is empty")
    return content, found


def format_from_suffix(path: str | os.PathLike[str]) -> str | None:
    """Return the format that the suffix of a file names; None if it names none of ours."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return next((name for name, f in FORMATS.items() if {*suffixes[-1:]} & {*f.suffixes}), None)
