"""What can be wrong with a data set: files that are missing, or not what they should be."""

from collections.abc import Mapping
from pathlib import Path


class DatasetUnavailableError(OSError):
    """A file of a data set is missing and could not be downloaded."""


class DatasetFileError(ValueError):
    """A file of a data set is there, but is damaged or is another file."""


def check_facts(path: Path, expected: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Refuse a file whose counts differ from the published ones."""
    wrong = [
        f"{number} {fact} instead of {expected[fact]}"
        for fact, number in found.items()
        if number != expected[fact]
    ]
    if wrong:
        raise DatasetFileError(
            f"{str(path)!r} has {' and '.join(wrong)}, so it is damaged or another file: "
            "remove it to download it again"
        )
