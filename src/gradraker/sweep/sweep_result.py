"""Results of a sweep over the kernel variance."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import SweepFileError
from gradraker.kernels.ranges import RANGES
from gradraker.sweep.checkpoint import Repeat, read_sweep, write_sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gradraker.plotting import DrawnDisplay

Floats = NDArray[np.float64]


def name_ranges(boundaries: Floats, sigma2: Floats) -> list[str | None]:
    """Name of the range of each variance, σ²_ed being the last that extends; None for NaN.

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


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """GNMSE over the kernel variance σ², for some repeats; :func:`gradraker.sigma2_sweep` makes it.

    Attributes
    ----------
    sigma2 : ndarray of shape (S,)
        Variances, rising.
    gnmse : ndarray of shape (R, S)
        GNMSE on the unknown nodes of each repeat.
    boundaries : ndarray of shape (R, 3)
        σ²_ce, σ²_ed and σ²_da of each repeat's training rows, by the equations with the noise
        ratio 1/√(2D); NaN where all training rows are equal.
    squared_distances : ndarray of shape (R, 2)
        Smallest nonzero and largest distance of each repeat's training rows: ‖d‖², or ‖d‖₁ for
        the Laplacian kernel.
    seconds : ndarray of shape (R,)
        Time of each repeat; NaN for repeats that were read from a file.
    settings : dict
        All it takes to run the sweep again: arguments, seed, versions, and name and checksums
        of the data.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> result = sigma2_sweep(load_temperature(), n_repeats=3)
    >>> result.gnmse.shape[0], result.best_ > 0
    (3, True)
    """

    sigma2: Floats
    gnmse: Floats
    boundaries: Floats
    squared_distances: Floats
    seconds: Floats
    settings: dict[str, Any]

    @classmethod
    def from_repeats(cls, settings: dict[str, Any], repeats: list[Repeat]) -> Self:
        """Put repeats together, in the order of their numbers."""
        ordered = sorted(repeats, key=lambda repeat: repeat.number)
        return cls(
            np.array(settings["sigma2"]),
            np.array([repeat.gnmse for repeat in ordered]),
            np.array([repeat.boundaries for repeat in ordered]),
            np.array([repeat.squared_distances for repeat in ordered]),
            np.array([repeat.seconds for repeat in ordered]),
            settings,
        )

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
        """Mean GNMSE at a variance, between those of the grid by straight lines in log σ²."""
        if not self.sigma2[0] <= sigma2 <= self.sigma2[-1]:
            return float("nan")
        return float(np.interp(np.log(sigma2), np.log(self.sigma2), self.mean))

    def to_frame(self) -> Any:
        """One row for each repeat and variance: repeat, sigma2, gnmse and the range of sigma2.

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
        """Write JSON lines: settings, then one line for each repeat; times are left out.

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
