"""Results of a sweep as JSON lines: one of settings, then one for each repeat that is done.

Lines are appended while a sweep runs, each flushed to the disk, so that whatever ends the
process costs the repeats under way at most. When all are there, the file is written once more in
the order of the repeats: equal results make equal files. Times are not part of a result.
"""

import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._files import write_atomically

_FORMAT = "gradraker sweep 1"
# Settings without which results cannot be told or drawn.
_KINDS = {
    "data": dict,
    "sigma2": list,
    "n_repeats": int,
    "fraction": float,
    "n_frequencies": int,
    "learning_rate": float,
    "n_epochs": int,
    "kernel": str,
    "random_state": int,
    "versions": dict,
}


class Repeat(NamedTuple):
    """What one repeat of a sweep found; ``seconds`` is NaN if it was read from a file."""

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
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = Path(path)
        self.settings = settings
        if self.path.is_dir():
            raise IsADirectoryError(21, "is a folder, and results go to a file", str(self.path))
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                2, f"the folder {str(self.path.parent)!r} does not exist", str(self.path)
            )
        header = _header_line(settings)
        content = self.path.read_bytes() if self.path.exists() else b""
        self.done: dict[int, Repeat] = {}
        if header.startswith(content):  # new, or killed while the first line was written
            self.path.write_bytes(header)
            return
        found, repeats, n_bytes = _parsed(content, self.path)
        _check_same(found, settings, self.path)
        self.done = repeats
        if found["n_repeats"] != settings["n_repeats"]:
            write_sweep(self.path, settings, list(repeats.values()))
        else:
            os.truncate(self.path, n_bytes)  # half a line, if the process was killed

    def add(self, repeat: Repeat) -> None:
        """Append a repeat; it is on the disk when this returns."""
        self.done[repeat.number] = repeat
        try:
            with self.path.open("ab") as file:
                file.write(_repeat_line(repeat))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(self.path)  # a full disk does not say for which file
            raise

    def finish(self) -> None:
        """Write the file again, in the order of the repeats."""
        write_sweep(self.path, self.settings, list(self.done.values()))


def write_sweep(
    path: str | os.PathLike[str], settings: dict[str, Any], repeats: list[Repeat]
) -> Path:
    """Write settings and repeats, in the order of their numbers, whole or not at all."""
    ordered = sorted(repeats, key=lambda repeat: repeat.number)
    content = _header_line(settings) + b"".join(map(_repeat_line, ordered))

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    return write_atomically(path, write)


def read_sweep(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Repeat]]:
    """Settings and the repeats that are there."""
    settings, repeats, _ = _parsed(Path(path).read_bytes(), Path(path))
    return settings, list(repeats.values())


def _header_line(settings: dict[str, Any]) -> bytes:
    return _line({"format": _FORMAT, "settings": settings})


def _repeat_line(repeat: Repeat) -> bytes:
    return _line(
        {
            "repeat": repeat.number,
            "gnmse": _numbers(repeat.gnmse),
            "boundaries": _numbers(repeat.boundaries),
            "squared_distances": _numbers(repeat.squared_distances),
        }
    )


def _line(content: dict[str, Any]) -> bytes:
    # Python writes the shortest digits that give the same float64 back.
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _numbers(array: ArrayLike) -> list[float | None]:
    numbers = np.asarray(array, dtype=np.float64).tolist()
    return [number if math.isfinite(number) else None for number in numbers]


def _array(numbers: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if number is None else number for number in numbers], np.float64)


def _parsed(content: bytes, path: Path) -> tuple[dict[str, Any], dict[int, Repeat], int]:
    """Settings, repeats by number, and the bytes of the lines that are whole."""
    lines = content.splitlines(keepends=True)
    settings = _settings(lines[0]) if lines else None
    if settings is None:
        raise ValueError(f"{path} is not a file of a sweep: its first line does not say so")
    repeats: dict[int, Repeat] = {}
    n_bytes = len(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        repeat = _repeat(line, n_variances=len(settings["sigma2"]))
        if repeat is None:
            if number == len(lines):  # the process was killed while it wrote
                break
            raise ValueError(f"{path}, line {number}: not a repeat of this sweep")
        repeats.setdefault(repeat.number, repeat)
        n_bytes += len(line)
    return settings, repeats, n_bytes


def _object(line: bytes) -> dict[str, Any]:
    """The object of a line, or an empty one where there is none."""
    if not line.endswith(b"\n"):
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _settings(line: bytes) -> dict[str, Any] | None:
    header = _object(line)
    settings = header.get("settings")
    if header.get("format") != _FORMAT or not isinstance(settings, dict):
        return None
    right = all(isinstance(settings.get(name), kind) for name, kind in _KINDS.items())
    return settings if right and all(isinstance(s, float) for s in settings["sigma2"]) else None


def _repeat(line: bytes, *, n_variances: int) -> Repeat | None:
    found = _object(line)
    try:
        repeat = Repeat(
            int(found["repeat"]),
            _array(found["gnmse"]),
            _array(found["boundaries"]),
            _array(found["squared_distances"]),
            float("nan"),
        )
    except (KeyError, TypeError, ValueError):
        return None
    shapes = (repeat.gnmse.shape, repeat.boundaries.shape, repeat.squared_distances.shape)
    return repeat if shapes == ((n_variances,), (3,), (2,)) else None


def _check_same(found: dict[str, Any], settings: dict[str, Any], path: Path) -> None:
    """Refuse a file of other settings; more repeats of the same settings may be added."""
    old, new = _flat(found), _flat(settings)
    n_old, n_new = old.pop("n_repeats"), new.pop("n_repeats")
    differences = [
        f"{name} is {_shown(old.get(name))} there and {_shown(new.get(name))} now"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    if n_old > n_new:
        differences.append(f"n_repeats is {n_old} there and {n_new} now")
    if differences:
        raise ValueError(
            f"checkpoint {str(path)!r} holds a sweep of other settings: {'; '.join(differences)}. "
            "Name another file, or remove this one"
        )


def _flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _shown(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} numbers from {value[0]:.6g} to {value[-1]:.6g}"
    return repr(value)
