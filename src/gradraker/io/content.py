"""The bytes of a file or of standard input, unpacked if they are compressed."""

import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gradraker.exceptions import GraphFileError

# Called with the stage ("reading", "unpacking" or "parsing"), how much is done, and of how much.
Progress = Callable[[str, int, int], None]

_PIECE = 1 << 22


@dataclass(frozen=True, repr=False)
class Content:
    """The bytes of a file after decompression, and the name of the file in messages."""

    label: str
    data: bytes


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing, for callers that need no progress."""


def read_content(path: str | os.PathLike[str], progress: Progress) -> Content:
    """Read a whole file, or standard input for "-"."""
    if path == "-":
        label, data = "standard input", _read_all(sys.stdin.buffer, 0, progress)
    else:
        label = str(Path(path))
        with open(path, "rb") as file:
            data = _read_all(file, os.fstat(file.fileno()).st_size, progress)
    if data[:2] == b"\x1f\x8b":
        data = _unpack(data, label, progress)
    return Content(label, data)


def _read_all(file: BinaryIO, size: int, progress: Progress) -> bytes:
    pieces, done = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        done += len(piece)
        progress("reading", done, max(size, done))
    return b"".join(pieces)


def _unpack(data: bytes, label: str, progress: Progress) -> bytes:
    pieces = []
    rest = data
    try:
        while rest:  # a gzip file may be several, one after the other
            member = zlib.decompressobj(wbits=31)
            at = 0
            while at < len(rest) and not member.eof:
                pieces.append(member.decompress(rest[at : at + _PIECE]))
                at += _PIECE
                progress("unpacking", min(len(data) - len(rest) + at, len(data)), len(data))
            if not member.eof:
                raise GraphFileError(label, "the gzip data end too early, the file is cut off")
            rest = (member.unused_data + rest[at:]).lstrip(b"\0")  # padding is allowed
    except zlib.error as error:
        raise GraphFileError(label, f"the gzip data are damaged ({error})") from None
    return b"".join(pieces)
