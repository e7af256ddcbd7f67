"""Words for messages about files."""

from pathlib import Path


def file_label(path: object) -> str:
    """Name of a file in messages."""
    return "standard input" if path == "-" else str(Path(str(path)))


def shortened(text: object, *, limit: int = 40) -> str:
    """A value in quotes, cut where it gets long."""
    full = repr(text)
    return full if len(full) <= limit else f"{full[: limit - 4]}...{full[-1]}"
