"""The bytes of a file, unpacked if it is compressed, and what kind of file they are."""

import io
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from gradraker.exceptions import GraphFileError
from gradraker.io.messages import file_label

# Called with the stage ("reading", "unpacking" or "parsing"), how much is done, and of how much.
Progress = Callable[[str, int, int], None]

FORMATS = ("text", "parquet", "matrix-market", "graphml")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mtx": "matrix-market",
    ".mm": "matrix-market",
    ".graphml": "graphml",
}
_PIECE = 1 << 22


@dataclass(frozen=True, repr=False)
class Content:
    """What a file holds, after decompression."""

    label: str
    data: bytes
    format: str


def no_progress(stage: str, done: int, total: int) -> None:
    """Take no notice."""


def read_content(
    path: str | os.PathLike[str],
    *,
    format: str | None,  # noqa: A002
    progress: Progress,
) -> Content:
    """Read a whole file, or standard input for "-".

    The format is told by the first bytes, since standard input has no suffix and suffixes may
    be wrong. A suffix that promises another format is an error.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}, got {format!r}")
    label = file_label(path)
    if path == "-":
        data = _read_all(sys.stdin.buffer, 0, progress)
    else:
        with open(path, "rb") as file:
            data = _read_all(file, os.fstat(file.fileno()).st_size, progress)
    if data[:2] == b"\x1f\x8b":
        data = _unpacked(data, label, progress)
    found = _sniffed(data)
    promised = None if path == "-" else _promised(path)
    expected = format or promised
    if expected not in (None, found):
        why = "format asks for" if format else "its name promises"
        raise GraphFileError(label, f"{why} {expected}, but the content looks like {found}")
    if not data.strip():
        raise GraphFileError(label, "the file is empty")
    return Content(label, data, found)


def _read_all(file: BinaryIO, size: int, progress: Progress) -> bytes:
    pieces = io.BytesIO()
    while piece := file.read(_PIECE):
        pieces.write(piece)
        progress("reading", pieces.tell(), max(size, pieces.tell()))
    return pieces.getvalue()


def _unpacked(data: bytes, label: str, progress: Progress) -> bytes:
    pieces = io.BytesIO()
    rest = data
    try:
        while rest:  # a gzip file may be several, one after the other
            member = zlib.decompressobj(wbits=31)
            at = 0
            while at < len(rest) and not member.eof:
                pieces.write(member.decompress(rest[at : at + _PIECE]))
                at += _PIECE
                progress("unpacking", min(len(data) - len(rest) + at, len(data)), len(data))
            if not member.eof:
                raise GraphFileError(label, "the gzip data end too early, the file is cut off")
            rest = (member.unused_data + rest[at:]).lstrip(b"\0")  # padding is allowed
    except zlib.error as error:
        raise GraphFileError(label, f"the gzip data are damaged ({error})") from None
    return pieces.getvalue()


def _sniffed(data: bytes) -> str:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if data[:4] == b"PAR1":
        return "parquet"
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    if head[:1] == b"<" and b"<graphml" in head:
        return "graphml"
    return "text"


def _promised(path: str | os.PathLike[str]) -> str | None:
    suffixes = PurePath(path).suffixes
    if suffixes and suffixes[-1].lower() == ".gz":
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1].lower()) if suffixes else None
