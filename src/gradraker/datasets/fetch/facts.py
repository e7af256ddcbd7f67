"""Compare the files of a data set with published facts."""

from collections.abc import Mapping
from pathlib import Path

from gradraker.exceptions import DatasetFileError


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
