"""How much a compressed file may unpack to: a small one can hold more than the memory does."""

import os
from contextlib import suppress

from gradraker.exceptions import GraphFileError

ENVIRONMENT_VARIABLE = "GRADRAKER_MOST_UNPACKED_BYTES"
_WITHOUT_KNOWLEDGE = 1 << 31


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
