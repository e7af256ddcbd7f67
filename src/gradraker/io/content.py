"""What is read of a file: bytes, unpacked within limits, text, and fields of its lines."""

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import ArgumentError, GraphFileError, Place
from gradraker.graph.edges import Reading

if TYPE_CHECKING:
    import polars as pl

# Called with the stage ("reading", "unpacking" or "parsing"), how much is done, and of how much.
Progress = Callable[[str, int, int], None]

BLANKS = " \t"
# Separator for any run of blanks, so that aligned columns are read as well.
WHITESPACE = " "
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


@dataclass(frozen=True)
class TextOptions:
    """Options of text tables; None for a separator or header that is to be found."""

    separator: str | None
    comment: str | None
    header: bool | None

    def __post_init__(self) -> None:
        separator: object = self.separator
        if separator is not None and not _is_text(separator, without='"\n\r\0', length=1):
            wanted = "one character, not a quote or a line end, or None to find it"
            raise ArgumentError("separator", wanted, separator)
        comment: object = self.comment
        if comment is not None and not _is_text(comment, without=' \t"\n\r\0'):
            raise ArgumentError("comment", "characters without blanks and quotes, or None", comment)


def _is_text(value: object, *, without: str, length: int | None = None) -> bool:
    if not isinstance(value, str) or not value or set(value) & set(without):
        return False
    return length is None or len(value) == length


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


# -- text ------------------------------------------------------------------------------------------


def decode_text(content: Content) -> str:
    """Return the text of a file with line ends as newlines, without a byte order mark."""
    data, label = content.data, content.label
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise GraphFileError(label, "the text is in UTF-16: save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        raise GraphFileError(
            Place(label, line=before.count(b"\n") + 1),
            f"byte {data[error.start]:#04x} is not UTF-8: save the file as UTF-8, or it is not "
            "text",
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise GraphFileError(
            Place(label, line=line), "the file holds a zero byte, so it is not text"
        )
    return text


def find_data_lines(text: str, comment: str | None) -> Iterator[tuple[int, str]]:
    """Give number and text of each line that is neither blank nor a comment."""
    for line, match in enumerate(re.finditer(r"(.*)\n?", text), start=1):
        bare = match[1].lstrip(BLANKS)
        if bare and not (comment and bare.startswith(comment)):
            yield line, match[1]


class FieldPatterns(NamedTuple):
    """Regular expressions for lines with quotes, which Python and polars read alike."""

    simple: str | None  # a line whose quoted fields hold neither separators nor quotes
    line: str  # a line whose quoted fields are all closed
    field: str  # each field of such a line, if the line has ``lead`` put before it
    lead: str


@cache
def make_field_patterns(separator: str) -> FieldPatterns:
    """Return the patterns of a line and of its fields; in a quoted field two quotes are one."""
    quoted = r'"(?:[^"]|"")*"'
    if separator == WHITESPACE:
        field = rf'(?:{quoted}|[^" \t][^ \t]*)'
        return FieldPatterns(None, rf"^[ \t]*{field}(?:[ \t]+{field})*[ \t]*$", field, "")
    blanks, mark = BLANKS.replace(separator, ""), re.escape(separator)
    simple = rf'(?:[{blanks}]*"[^"{mark}]*"[{blanks}]*|[^"{mark}]*)'
    field = rf'[{blanks}]*(?:{quoted}[{blanks}]*|[^"{mark}{blanks}][^{mark}]*|)'
    return FieldPatterns(
        rf"^{simple}(?:{mark}{simple})*$",
        rf"^{field}(?:{mark}{field})*$",
        rf"{mark}{field}",  # never empty, so that no empty field is lost
        lead=separator,
    )


def split_line(content: str, separator: str, place: Place) -> list[str]:
    """Return the fields of a line, without blanks around them and without quotes."""
    if '"' not in content:
        if separator == WHITESPACE:
            # str.split() would also split at other white space, such as a no-break space.
            return [word for word in content.replace("\t", " ").split(" ") if word]
        return [field.strip(BLANKS) for field in content.split(separator)]
    patterns = make_field_patterns(separator)
    if re.match(patterns.line, content) is None:
        raise GraphFileError(place, "a quoted field is not closed before the next separator")
    found = re.findall(patterns.field, patterns.lead + content)
    fields = [field.removeprefix(patterns.lead).strip(BLANKS) for field in found]
    return [
        field[1:-1].replace('""', '"').strip(BLANKS) if field.startswith('"') else field
        for field in fields
    ]


def take_first_line(error: BaseException) -> str:
    """Return the first line of a message of another library, since ours are one sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def shorten(text: object, *, limit: int = 40) -> str:
    """Return a value in quotes for a message, cut where it gets long."""
    full = repr(text)
    return full if len(full) <= limit else f"{full[: limit - 4]}...{full[-1]}"
