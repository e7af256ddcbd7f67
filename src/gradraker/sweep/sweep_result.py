"""Results of a sweep over the kernel variance, and their file.

A file holds JSON lines: the settings, then one line per finished repeat. Lines are appended while a
sweep runs, each flushed to the disk, so that a process that is stopped or killed loses only the
repeats in progress. At the end the file is rewritten in the order of the repeats: equal results
make equal files. Times are not stored. On the smallest graph of the paper, a repeat of 2.3 ms
takes 0.25 ms longer with a file (docs/how-to/sweeping.md).
"""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker._files import is_stream, write_bytes
from gradraker.datasets import split_nodes
from gradraker.exceptions import SweepFileError
from gradraker.kernels.shift_invariant import RANGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gradraker.plotting import DrawnDisplay

Floats = NDArray[np.float64]
_FORMAT = "gradraker sweep 1"
# Arrays of a repeat in a file, and their sizes: None stands for the number of variances.
_ARRAY_SIZES = {"gnmse": None, "boundaries": 3, "squared_distances": 2}
# Settings without which results cannot be printed or drawn, by type.
_REQUIRED_SETTINGS: dict[type, tuple[str, ...]] = {
    dict: ("data", "versions"),
    list: ("sigma2",),
    int: ("n_repeats", "n_frequencies", "n_epochs", "random_state"),
    float: ("fraction", "learning_rate"),
    str: ("kernel",),
}


class Draw(NamedTuple):
    """The random choices of one repeat.

    Frequencies and orders follow from ``seed`` as in ``SKGRegressor(random_state=seed)``.
    """

    known: NDArray[np.int64]
    unknown: NDArray[np.int64]
    seed: int


def draw_repeat(n: int, fraction: float, random_state: int, repeat: int) -> Draw:
    """Draw the split and the seed of a repeat; they do not depend on the number of repeats."""
    rng = np.random.default_rng([random_state, repeat])
    known, unknown = split_nodes(n, fraction, rng)
    return Draw(known, unknown, int(rng.integers(2**32)))


class Repeat(NamedTuple):
    """Results of one repeat of a sweep; ``seconds`` is NaN if it was read from a file."""

    number: int
    gnmse: NDArray[np.float64]  # [S]
    boundaries: NDArray[np.float64]  # [3]
    squared_distances: NDArray[np.float64]  # [2]
    seconds: float


def name_ranges(boundaries: Floats, sigma2: Floats) -> list[str | None]:
    """Name the range of each variance; σ²_ed itself is in the extending range. None for NaN.

    Examples
    --------
    >>> name_ranges(np.array([0.2, 5.0, 140.0]), np.array([0.1, 5.0, 140.0]))
    ['chaos', 'extending', 'averaging']
    """
    if np.isnan(boundaries).any():
        return [None] * sigma2.size
    ce, ed, da = boundaries
    places = (sigma2 >= ce).astype(int) + (sigma2 > ed) + (sigma2 >= da)
    return [RANGES[place] for place in places]


@describe_fields
@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """GNMSE of each repeat over the kernel variance σ²; see :func:`gradraker.sigma2_sweep`.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> result = sigma2_sweep(load_temperature(), n_repeats=3)
    >>> result.gnmse.shape[0], result.best_ > 0
    (3, True)
    """

    sigma2: Annotated[Floats, "Variances (S,), rising."]
    gnmse: Annotated[Floats, "GNMSE (R, S) on the unknown nodes of each repeat."]
    boundaries: Annotated[
        Floats,
        "σ²_ce, σ²_ed and σ²_da (R, 3) of each repeat's training rows, by the equations with the "
        "noise ratio 1/√(2D); NaN where all training rows are equal.",
    ]
    squared_distances: Annotated[
        Floats,
        "Smallest nonzero and largest distance (R, 2) of each repeat's training rows: ‖d‖², or "
        "‖d‖₁ for the Laplacian kernel.",
    ]
    seconds: Annotated[Floats, "Time (R,) of each repeat; NaN if it was read from a file."]
    settings: Annotated[
        dict[str, Any],
        "All that is needed to run the sweep again: arguments, seed, versions, and name and "
        "checksums of the data.",
    ]

    @classmethod
    def from_repeats(cls, settings: dict[str, Any], repeats: list[Repeat]) -> Self:
        """Combine repeats, in the order of their numbers."""
        ordered = sorted(repeats, key=lambda repeat: repeat.number)
        columns = zip(*(repeat[1:] for repeat in ordered), strict=True)
        gnmse, boundaries, distances, seconds = map(np.array, columns)
        sigma2 = np.array(settings["sigma2"])
        return cls(sigma2, gnmse, boundaries, distances, seconds, settings)

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return int(self.gnmse.shape[0])

    @property
    def mean(self) -> Floats:
        """Mean GNMSE over repeats, shape (S,)."""
        return np.asarray(self.gnmse.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean over repeats, shape (S,); NaN for a single repeat."""
        if self.n_repeats < 2:
            return np.full(self.sigma2.size, np.nan)
        return np.asarray(self.gnmse.std(axis=0, ddof=1) / np.sqrt(self.n_repeats))

    @property
    def best_(self) -> float:
        """Variance with the smallest mean GNMSE."""
        return float(self.sigma2[np.argmin(self.mean)])

    @property
    def median_boundaries(self) -> Floats:
        """Medians over repeats of σ²_ce, σ²_ed and σ²_da; NaN where no repeat has them."""
        usable = self.boundaries[np.isfinite(self.boundaries).all(axis=1)]
        return np.median(usable, axis=0) if len(usable) else np.full(3, np.nan)

    def compute_mean_at(self, sigma2: float) -> float:
        """Mean GNMSE at a variance, interpolated linearly in log σ² between those of the grid."""
        if not self.sigma2[0] <= sigma2 <= self.sigma2[-1]:
            return float("nan")
        return float(np.interp(np.log(sigma2), np.log(self.sigma2), self.mean))

    def to_frame(self) -> Any:
        """One row per repeat and variance: repeat, sigma2, gnmse and the range of sigma2.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "a data frame needs pandas: pip install 'gradraker[frames]'; sigma2 and gnmse "
                "hold the same as arrays"
            ) from None
        n_repeats, n_variances = self.gnmse.shape
        return pd.DataFrame(
            {
                "repeat": np.repeat(np.arange(n_repeats), n_variances),
                "sigma2": np.tile(self.sigma2, n_repeats),
                "gnmse": self.gnmse.ravel(),
                "range": [
                    name for limits in self.boundaries for name in name_ranges(limits, self.sigma2)
                ],
            }
        )

    def plot(self, *, ax: "Axes | None" = None) -> "DrawnDisplay":
        """Draw mean GNMSE over σ² with its standard error, the four ranges and σ²_ed."""
        from gradraker.plotting import plot_sweep

        return plot_sweep(self, ax=ax)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON lines: settings, then one line per repeat; times are not written.

        Equal results make equal files.
        """
        columns = (self.gnmse, self.boundaries, self.squared_distances, self.seconds)
        repeats = [Repeat(number, *row) for number, row in enumerate(zip(*columns, strict=True))]
        return write_sweep(path, self.settings, repeats)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that :meth:`save` or a sweep with ``checkpoint`` wrote."""
        settings, repeats = read_sweep(path)
        if {repeat.number for repeat in repeats} != set(range(settings["n_repeats"])):
            raise SweepFileError(
                os.fspath(path),
                f"holds {len(repeats)} of {settings['n_repeats']} repeats: run the sweep again "
                "with this file as checkpoint to finish it",
            )
        return cls.from_repeats(settings, repeats)

    def __repr__(self) -> str:
        best, ed = int(np.argmin(self.mean)), float(self.median_boundaries[1])
        numbers = "D = {n_frequencies}, η = {learning_rate:g}, E = {n_epochs}".format(
            **self.settings
        )
        error = f" ± {self.standard_error[best]:.2g}" if self.n_repeats > 1 else ""
        lines = [
            f"SweepResult: {self.settings['data']['name']}, {self.sigma2.size} variances from "
            f"{self.sigma2[0]:.4g} to {self.sigma2[-1]:.4g}, {self.n_repeats} repeats, {numbers}",
            f"  smallest GNMSE {self.mean[best]:.4g}{error} at σ² = {self.sigma2[best]:.4g}",
        ]
        if np.isfinite(ed):
            lines.append(f"  σ²_ed = {ed:.4g} (median), GNMSE there {self.compute_mean_at(ed):.4g}")
        return "\n".join(lines)


# -- files -----------------------------------------------------------------------------------------


class Checkpoint:
    """The file of a running sweep.

    Parameters
    ----------
    path : path-like
        Results of the same settings are reused; other files are refused.
    settings : dict
        Settings of the sweep, ready for JSON.

    Attributes
    ----------
    done : dict of int to Repeat
        Finished repeats, by number.
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self.path = Path(path)
        self.settings = settings
        self.done: dict[int, Repeat] = {}
        # Results are written to a device or a FIFO once, at the end.
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
        self.write()  # drops an unfinished last line, and sets the new number of repeats

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
            error.filename = str(self.path)  # the error of a full disk does not name the file
            raise

    def write(self) -> None:
        """Write the file again, in the order of the repeats."""
        write_sweep(self.path, self.settings, list(self.done.values()))


def write_sweep(
    path: str | os.PathLike[str], settings: dict[str, Any], repeats: list[Repeat]
) -> Path:
    """Write settings and repeats, in the order of their numbers, atomically."""
    ordered = sorted(repeats, key=lambda repeat: repeat.number)
    return write_bytes(path, _format_header(settings) + b"".join(map(_format_repeat, ordered)))


def read_sweep(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Repeat]]:
    """Read the settings and the finished repeats."""
    return _parse(Path(path).read_bytes(), Path(path))


def _format_header(settings: dict[str, Any]) -> bytes:
    return _format_line({"format": _FORMAT, "settings": settings})


def _format_repeat(repeat: Repeat) -> bytes:
    arrays = {name: _to_numbers(getattr(repeat, name)) for name in _ARRAY_SIZES}
    return _format_line({"repeat": repeat.number} | arrays)


def _format_line(content: dict[str, Any]) -> bytes:
    # Python writes the shortest digits that give the same float64 back.
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _to_numbers(array: NDArray[np.float64]) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in array.tolist()]


def _parse(content: bytes, path: Path) -> tuple[dict[str, Any], list[Repeat]]:
    """Parse settings and repeats; of a repeat that occurs twice, the first is taken."""
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
    """Parse the object of a line; return an empty one if the line is not a whole object."""
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
    kinds = ((kind, name) for kind, names in _REQUIRED_SETTINGS.items() for name in names)
    is_valid = all(isinstance(settings.get(name), kind) for kind, name in kinds)
    return settings if is_valid and all(isinstance(s, float) for s in settings["sigma2"]) else None


def _parse_repeat(line: bytes, *, n_variances: int) -> Repeat | None:
    found = _parse_object(line)
    try:
        number = int(found["repeat"])
        arrays = [np.array(found[name], np.float64) for name in _ARRAY_SIZES]  # null is NaN
    except (KeyError, TypeError, ValueError):
        return None
    sizes = [(size or n_variances,) for size in _ARRAY_SIZES.values()]
    if [array.shape for array in arrays] != sizes:
        return None
    gnmse, boundaries, distances = arrays
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
    """Flatten settings; the name of a nested one is that of its parent, a dot and its own."""
    return {
        f"{name}.{key}" if key else name: value
        for name, entry in settings.items()
        for key, value in (entry.items() if isinstance(entry, dict) else [("", entry)])
    }


def _shorten(value: Any) -> str:
    if isinstance(value, list) and len(value) > 3:
        return f"{len(value)} numbers from {value[0]:.6g} to {value[-1]:.6g}"
    return repr(value)
