"""Parts that all readers of files share: content, columns, progress, limits, messages."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import GraphFileError
from gradraker.graph.edges import Reading

if TYPE_CHECKING:
    import polars as pl

# Called with the stage ("reading", "unpacking" or "parsing"), the amount done, and the total.
Progress = Callable[[str, int, int], None]

ENVIRONMENT_VARIABLE = "GRADRAKER_MOST_UNPACKED_BYTES"
_LIMIT_IF_MEMORY_IS_UNKNOWN = 1 << 31


@dataclass(frozen=True, repr=False)
class Content:
    """The bytes of a file after decompression, and the name of the file in messages."""

    label: str
    data: bytes


@dataclass(frozen=True)
class FileColumns:
    """The wanted columns, and the line of each entry if the file has lines."""

    names: list["pl.Series"]  # of text or int64
    numbers: NDArray[np.float64] | None
    lines: NDArray[np.integer] | None = None
    labels: "pl.Series | None" = None  # of text, in place of numbers; null where one is missing
    reading: Reading | None = None
    more: tuple[NDArray[np.float64], ...] = ()  # numbers of several targets after the first


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Do nothing, for callers that need no progress."""


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
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    return _LIMIT_IF_MEMORY_IS_UNKNOWN


def check_unpacked_size(label: str, n_bytes: int, *, is_all: bool = True) -> None:
    """Refuse a file that unpacks to more than the limit.

    With ``is_all``, ``n_bytes`` is the whole size; else it is the part that was unpacked.
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


def take_first_line(error: BaseException) -> str:
    """Return the first line of another library's message, since our messages are one sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def shorten(text: object, *, limit: int = 40) -> str:
    """Return a value in quotes for a message, shortened if it is long."""
    full = repr(text)
    return full if len(full) <= limit else f"{full[: limit - 4]}...{full[-1]}"
