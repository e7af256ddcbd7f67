"""Results of a sweep as JSON lines: one of settings, then one for each repeat that is done.

Lines are appended while a sweep runs, each flushed to the disk, so that a process that is stopped
or killed loses only the repeats under way. At the end the file is written once more in the order of
the repeats: equal results make equal files. Times are not part of a result. On the smallest
graph of the paper, a repeat of 2.3 ms takes 0.25 ms longer with a file (docs/how-to/sweeping.md).
"""

import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker._files import is_stream, write_bytes
from gradraker.exceptions import SweepFileError

_FORMAT = "gradraker sweep 1"
# Settings without which results cannot be told or drawn.
_KINDS: dict[type, tuple[str, ...]] = {
    dict: ("data", "versions"),
    list: ("sigma2",),
    int: ("n_repeats", "n_frequencies", "n_epochs", "random_state"),
    float: ("fraction", "learning_rate"),
    str: ("kernel",),
}


class Repeat(NamedTuple):
    """Results of one repeat of a sweep; ``seconds`` is NaN if it was read from a file."""

    number: int
    gnmse: NDArray[np.float64]  # [S]
    boundaries: NDArray[np.float64]  # [3]
    squared_distances: NDArray[np.float64]  # [2]
    seconds: float


class Checkpoint:
    """A file of a sweep that is under way.

    Parameters
    ----------
    path : path-like
        Results of the same settings are taken over; other files are refused.
    settings : dict
        Settings of the sweep, as JSON can hold them.

    Attributes
    ----------
    done : dict of int to Repeat
        Repeats of the file, by number.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = Path(path)
        self.settings = settings
        self.done: dict[int, Repeat] = {}
        # A device or a FIFO gets the results once, at the end.
        self._is_file = not is_stream(path)
        if not self._is_file:
            return
        header = _format_header(settings)
        content = self.path.read_bytes() if self.path.exists() else b""
        if header.startswith(content):  # new, or killed while the first line was written
            write_bytes(self.path, header)
            return
        found, repeats = _parse(content, self.path)
        _check_same(found, settings, self.path)
        self.done |= {repeat.number: repeat for repeat in repeats}
        self.write()  # without half a line at its end, and for as many repeats as are asked for

    def add(self, repeat: Repeat) -> None:
        """Append a repeat; it is on the disk when this returns."""
        self.done[repeat.number] = repeat
        if not self._is_file:
            return
        try:
            with self.path.open("ab") as file:
                file.write(_format_repeat(repeat))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(self.path)  # a full disk does not say for which file
            raise

    def write(self) -> None:
        """Write the file again, in the order of the repeats."""
        write_sweep(self.path, self.settings, list(self.done.values()))


def write_sweep(
    path: str | os.PathLike[str], settings: dict[str, Any], repeats: list[Repeat]
) -> Path:
    """Write settings and repeats, in the order of their numbers, whole or not at all."""
    ordered = sorted(repeats, key=lambda repeat: repeat.number)
    return write_bytes(path, _format_header(settings) + b"".join(map(_format_repeat, ordered)))


def read_sweep(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Repeat]]:
    """Settings, and the repeats that are done."""
    return _parse(Path(path).read_bytes(), Path(path))


def _format_header(settings: dict[str, Any]) -> bytes:
    return _format_line({"format": _FORMAT, "settings": settings})


def _format_repeat(repeat: Repeat) -> bytes:
    return _format_line(
        {
            "repeat": repeat.number,
            "gnmse": _to_numbers(repeat.gnmse),
            "boundaries": _to_numbers(repeat.boundaries),
            "squared_distances": _to_numbers(repeat.squared_distances),
        }
    )


def _format_line(content: dict[str, Any]) -> bytes:
    # Python writes the shortest digits that give the same float64 back.
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _to_numbers(array: NDArray[np.float64]) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in array.tolist()]


def _parse(content: bytes, path: Path) -> tuple[dict[str, Any], list[Repeat]]:
    """Settings and repeats; if a repeat occurs twice, the first."""
    first, *lines = content.splitlines(keepends=True) or [b""]
    settings = _parse_settings(first)
    if settings is None:
        raise SweepFileError(str(path), "is not a file of a sweep: its first line does not say so")
    repeats: dict[int, Repeat] = {}
    for number, line in enumerate(lines, start=2):
        repeat = _parse_repeat(line, n_variances=len(settings["sigma2"]))
        if repeat is not None:
            repeats.setdefault(repeat.number, repeat)
        elif number <= len(lines):  # else the process was killed while it wrote the last line
            raise SweepFileError(str(path), f"is damaged: line {number} is not a repeat")
    return settings, list(repeats.values())


def _parse_object(line: bytes) -> dict[str, Any]:
    """The object of a line; an empty one if the line is not a whole object."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _parse_settings(line: bytes) -> dict[str, Any] | None:
    header = _parse_object(line)
    settings = header.get("settings")
    if header.get("format") != _FORMAT or not isinstance(settings, dict):
        return None
    kinds = ((kind, name) for kind, names in _KINDS.items() for name in names)
    right = all(isinstance(settings.get(name), kind) for kind, name in kinds)
    return settings if right and all(isinstance(s, float) for s in settings["sigma2"]) else None


def _parse_repeat(line: bytes, *, n_variances: int) -> Repeat | None:
    found = _parse_object(line)
    try:
        number, gnmse = int(found["repeat"]), np.array(found["gnmse"], np.float64)  # null is NaN
        boundaries = np.array(found["boundaries"], np.float64)
        distances = np.array(found["squared_distances"], np.float64)
    except (KeyError, TypeError, ValueError):
        return None
    if (gnmse.shape, boundaries.shape, distances.shape) != ((n_variances,), (3,), (2,)):
        return None
    return Repeat(number, gnmse, boundaries, distances, float("nan"))


def _check_same(found: dict[str, Any], settings: dict[str, Any], path: Path) -> None:
    """Refuse a file of other settings; more repeats of the same settings may be added."""
    old, new = _flatten(found), _flatten(settings)
    if old["n_repeats"] <= new["n_repeats"]:
        old["n_repeats"] = new["n_repeats"]
    differences = [
        f"{name} is {_shorten(old.get(name))} there and {_shorten(new.get(name))} now"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    if differences:
        raise SweepFileError(
            str(path),
            f"holds a sweep of other settings: {'; '.join(differences)}. Name another file, or "
            "remove this one",
        )


def _flatten(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by name, and by two names with a dot where one holds others."""
    return {
        f"{name}.{key}" if key else name: value
        for name, entry in settings.items()
        for key, value in (entry.items() if isinstance(entry, dict) else [("", entry)])
    }


def _shorten(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} numbers from {value[0]:.6g} to {value[-1]:.6g}"
    return repr(value)
