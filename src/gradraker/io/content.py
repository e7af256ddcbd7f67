"""What is read of a file: its bytes, unpacked within limits, and the columns of its table."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.edges import Reading

if TYPE_CHECKING:
    import polars as pl

# Called with the stage ("reading", "unpacking" or "parsing"), how much is done, and of how much.
Progress = Callable[[str, int, int], None]

_PIECE = 1 << 22
ENVIRONMENT_VARIABLE = "GRADRAKER_MOST_UNPACKED_BYTES"
_WITHOUT_KNOWLEDGE = 1 << 31


@dataclass(frozen=True, repr=False)
class Content:
    """The bytes of a file after decompression, and the name of the file in messages."""

    label: str
    data: bytes


@dataclass(frozen=True)
class FileColumns:
    """The columns that were wanted, and the line of each entry if the file has lines."""

    names: list["pl.Series"]  # of text or int64
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.integer] | None = None
    labels: "pl.Series | None" = None  # of text, in place of numbers; null where one is missing
    reading: Reading | None = None


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
    pieces: list[bytes] = []
    n_bytes, limit, packed = 0, find_limit(), io.BytesIO(data)
    try:
        with gzip.GzipFile(fileobj=packed) as file:  # several, one after the other, are one
            # A piece at a time: packed bytes may unpack to a thousand times as many.
            while piece := file.read(_PIECE):
                pieces.append(piece)
                n_bytes += len(piece)
                progress("unpacking", packed.tell(), len(data))
                if n_bytes > limit:
                    check_unpacked_size(label, n_bytes, is_all=False)
    except EOFError:
        raise GraphFileError(label, "the gzip data end too early, the file is cut off") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise GraphFileError(label, f"the gzip data are damaged ({error})") from None
    return b"".join(pieces)


def find_limit() -> int:
    """Return the number of bytes that a file may unpack to.

    It is a quarter of the memory of the machine, since text takes about as much again while it is
    read; the environment variable GRADRAKER_MOST_UNPACKED_BYTES sets another.
    """
    given = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if given:
        if not given.isdecimal():
            raise ValueError(
                f"{ENVIRONMENT_VARIABLE} must be a number of bytes, such as 4000000000, got "
                f"{given!r}"
            )
        return int(given)
    with suppress(AttributeError, ValueError, OSError):  # systems that do not tell
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    return _WITHOUT_KNOWLEDGE


def check_unpacked_size(label: str, n_bytes: int, *, is_all: bool = True) -> None:
    """Refuse a file that unpacks to more than the limit.

    ``is_all`` says that ``n_bytes`` is the whole size; else it is the part that was unpacked.
    """
    limit = find_limit()
    if n_bytes > limit:
        raise GraphFileError(
            label,
            f"it unpacks to {'' if is_all else 'more than '}{_format(n_bytes)}, and the limit is "
            f"{_format(limit)}: set {ENVIRONMENT_VARIABLE} to read it",
        )


def _format(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.3g} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.3g} MB"
