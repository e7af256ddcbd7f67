"""The shift-invariant kernels, and the four ranges of σ² (section IV of the paper).

A kernel has a closed form, the draw that approximates it, and the variance at which it has a value.

Every kernel is scaled by one number, ``sigma2``: with Δ = a − a′ and s = √sigma2,

========== ============================ ======================================
name       κ(a, a′)                     frequencies ξ (independent entries)
========== ============================ ======================================
gaussian   exp(−‖Δ‖² / 2 s²)            N(0, 1/s²)           (the paper, claim 1)
laplacian  exp(−‖Δ‖₁ / s)               Cauchy with scale 1/s; the paper's b is s
cauchy     ∏ 1 / (1 + Δ_m² / s²)        Laplace with scale 1/s
========== ============================ ======================================

so that frequencies at any ``sigma2`` are unit frequencies divided by s, and one
projection serves all variances.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from gradraker._compiled.draws import CAUCHY, LAPLACE, NORMAL
from gradraker._fields import describe_fields
from gradraker._validation import check_choice, check_closeness, check_positive
from gradraker.kernels.distances.extremes import extreme_squared_distances, subtract_pair

RANGES = ("chaos", "extending", "disturbing", "averaging")
BOUNDARIES = ("chaos_extending", "extending_disturbing", "disturbing_averaging")

_MEANINGS = {
    "chaos": "features of different nodes look unrelated; predictions are mostly noise",
    "extending": "nodes with similar neighbours count, more of them as σ² grows",
    "disturbing": "all nodes count, and the most recent ones more than they should",
    "averaging": "every node gets about the same prediction, an average of recent values",
}
_COLOURS = {
    "chaos": "#d55e00",
    "extending": "#009e73",
    "disturbing": "#e69f00",
    "averaging": "#999999",
}


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name, closed form, and the code of its unit draw.

    ``similarity(difference, sigma2)`` takes differences of shape (..., M) and returns κ of
    shape (...). ``variance_at(difference, similarity)`` is its inverse: the ``sigma2`` at which
    one pair of rows with that difference has that similarity. ``metric`` is the distance that
    κ falls with, as :func:`gradraker.kernels.extreme_squared_distances` names it.

    Examples
    --------
    >>> from gradraker.kernels import get_kernel
    >>> get_kernel("gaussian").similarity([[3.0, 4.0]], 12.5).round(4)
    array([0.3679])
    """

    name: str
    distribution: int
    metric: str
    similarity: Callable[[ArrayLike, float], NDArray[np.float64]]
    variance_at: Callable[[NDArray[np.float64], float], float]


def _compute_gaussian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(delta**2, axis=-1) / (2.0 * sigma2)))


def _compute_laplacian(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    return np.asarray(np.exp(-np.sum(np.abs(delta), axis=-1) / np.sqrt(sigma2)))


def _compute_cauchy(difference: ArrayLike, sigma2: float) -> NDArray[np.float64]:
    delta = np.asarray(difference, dtype=np.float64)
    # A sum of logarithms, because a product of many factors would underflow unnoticed.
    return np.asarray(np.exp(-np.sum(np.log1p(delta**2 / sigma2), axis=-1)))


def _solve_gaussian_variance(difference: NDArray[np.float64], similarity: float) -> float:
    return float(np.sum(difference**2)) / (-2.0 * math.log(similarity))


def _solve_laplacian_variance(difference: NDArray[np.float64], similarity: float) -> float:
    return (float(np.sum(np.abs(difference))) / -math.log(similarity)) ** 2


def _solve_cauchy_variance(difference: NDArray[np.float64], similarity: float) -> float:
    """Solve Σ log(1 + Δ²/sigma2) = −log(similarity); the left side falls with sigma2."""
    squares = difference[difference != 0.0] ** 2
    target = -math.log(similarity)

    def compute_excess(log_sigma2: float) -> float:
        return float(np.sum(np.log1p(squares / math.exp(log_sigma2)))) - target

    # log(1 + x) <= x bounds the root from above, the largest entry alone from below.
    above = math.log(float(np.sum(squares)) / target)
    below = math.log(float(squares.max())) - target
    return math.exp(brentq(compute_excess, below - 1.0, above + 1.0, xtol=1e-13))


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("gaussian", NORMAL, "sqeuclidean", _compute_gaussian, _solve_gaussian_variance),
        Kernel("laplacian", CAUCHY, "l1", _compute_laplacian, _solve_laplacian_variance),
        # For 0/1 rows the Cauchy kernel falls with ‖d‖² as well; for others its boundaries are
        # those of the pairs that are extreme in ‖d‖².
        Kernel("cauchy", LAPLACE, "sqeuclidean", _compute_cauchy, _solve_cauchy_variance),
    )
}


def get_kernel(kernel: Any) -> Kernel:
    """Return the kernel of that name, or raise an error that lists the names.

    Examples
    --------
    >>> from gradraker.kernels.shift_invariant import get_kernel
    >>> float(get_kernel("gaussian").similarity([3.0, 4.0], 12.5))
    0.36787944117144233
    """
    return KERNELS[check_choice("kernel", kernel, KERNELS)]


# -- ranges of σ² ----------------------------------------------------------------------------------


@describe_fields
@dataclass(frozen=True, repr=False)
class Sigma2Ranges:
    """Boundaries of the four ranges of the kernel variance σ².

    Distances are ‖d‖², or ‖d‖₁ for the Laplacian kernel.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_ranges
    >>> ranges = sigma2_ranges(load_temperature().adjacency)
    >>> ranges.find_range(2.0), round(ranges.extending_disturbing, 2) > 5
    ('extending', True)
    """

    chaos_extending: Annotated[float, "σ²_ce, equation (cethresh)."]
    extending_disturbing: Annotated[
        float, "σ²_ed, equation (edthresh): the variance that algorithm 1 of the paper chooses."
    ]
    disturbing_averaging: Annotated[float, "σ²_da, equation (dathresh)."]
    smallest_distance: Annotated[float, "Smallest nonzero distance between two rows."]
    largest_distance: Annotated[float, "Largest distance between two rows."]
    noise_ratio: Annotated[
        float, "Upper end of the noise range divided by 2η; 1/√(2D) by equation (noiseup)."
    ]
    noise: Annotated[str, 'Its source: "formula", "refined", "minimum" or "given".']
    closeness: Annotated[float, "How close to 2η the similarity measure is at σ²_da."]
    n_frequencies: Annotated[int, "D."]
    kernel: Annotated[str, "Name of the kernel."]

    @property
    def boundaries(self) -> tuple[float, float, float]:
        """σ²_ce, σ²_ed and σ²_da."""
        return self.chaos_extending, self.extending_disturbing, self.disturbing_averaging

    def find_range(self, sigma2: Any) -> str:
        """Return the name of the range that a variance lies in; σ²_ed itself is "extending"."""
        check_positive("sigma2", sigma2, is_finite=False)
        if sigma2 < self.chaos_extending:
            return "chaos"
        if sigma2 <= self.extending_disturbing:
            return "extending"
        return "disturbing" if sigma2 < self.disturbing_averaging else "averaging"

    def get_meaning(self, range_name: str) -> str:
        """Return a sentence about the predictions in a range."""
        return _MEANINGS[check_choice("range_name", range_name, RANGES)]

    def describe(self, sigma2: float) -> dict[str, Any]:
        """Return where a variance lies, as a dict that JSON can hold."""
        name = self.find_range(sigma2)
        return {
            "range": name,
            "meaning": self.get_meaning(name),
            "boundaries": dict(zip(BOUNDARIES, self.boundaries, strict=True)),
            "smallest_distance": self.smallest_distance,
            "largest_distance": self.largest_distance,
            "noise_ratio": self.noise_ratio,
            "noise": self.noise,
        }

    def _format_bounds(self) -> list[tuple[str, str]]:
        ce, ed, da = (f"{boundary:.4g}" for boundary in self.boundaries)
        texts = (f"σ² < {ce}", f"{ce} ≤ σ² ≤ {ed}", f"{ed} < σ² < {da}", f"{da} ≤ σ²")
        return list(zip(RANGES, texts, strict=True))

    def _format_title(self) -> str:
        return (
            f"{self.kernel} kernel, D = {self.n_frequencies}, distances "
            f"{self.smallest_distance:.4g} to {self.largest_distance:.4g}, "
            f"noise ratio {self.noise_ratio:.4g} ({self.noise})"
        )

    def __repr__(self) -> str:
        width = max(len(text) for _, text in self._format_bounds())
        lines = [
            f"  {name:<10}  {text:<{width}}  {_MEANINGS[name]}"
            for name, text in self._format_bounds()
        ]
        return "\n".join([f"Sigma2Ranges: {self._format_title()}", *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="border-left:0.6em solid {_COLOURS[name]};text-align:left">{name}</td>'
            f'<td style="text-align:left">{escape(text)}</td>'
            f'<td style="text-align:left">{escape(_MEANINGS[name])}</td></tr>'
            for name, text in self._format_bounds()
        )
        return (
            f"<table><caption>Ranges of σ²: {escape(self._format_title())}</caption>"
            f"<thead><tr><th>range</th><th>σ²</th><th>predictions</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


def compute_noise_ratio(n_frequencies: int) -> float:
    """Equation (noiseup): noise_up / 2η = 1/√(2D).

    Examples
    --------
    >>> from gradraker.kernels import compute_noise_ratio
    >>> compute_noise_ratio(200)
    0.05
    """
    return 1.0 / math.sqrt(2 * n_frequencies)


@dataclass(frozen=True, eq=False)
class ExtremePairs:
    """Differences of the closest two rows that differ and of the farthest two."""

    kernel: str
    nearest: NDArray[np.float64]
    farthest: NDArray[np.float64]
    smallest_distance: float
    largest_distance: float


def find_extreme_pairs(X: Any, *, kernel: str = "gaussian") -> ExtremePairs:
    """Find the two pairs of rows that determine the boundaries of the ranges."""
    used = get_kernel(kernel)
    found = extreme_squared_distances(X, metric=used.metric)
    if found.smallest_nonzero is None or found.smallest_pair is None:
        raise ValueError(
            f"X has n_samples = {X.shape[0]} rows that are all equal, so there is no distance to "
            "choose sigma2 by: at least two distinct rows are needed"
        )
    return ExtremePairs(
        used.name,
        subtract_pair(X, found.smallest_pair),
        subtract_pair(X, found.largest_pair),
        found.smallest_nonzero,
        found.largest,
    )


def compute_ranges(
    pairs: ExtremePairs,
    *,
    n_frequencies: int,
    noise_ratio: float | None = None,
    noise: str = "formula",
    closeness: float = 0.1,
) -> Sigma2Ranges:
    """Compute the boundaries of the four ranges from the closest and the farthest rows.

    Each boundary is the variance at which the kernel of two rows has a given value: the noise
    ratio for the closest rows that differ (σ²_ce) and for the farthest rows (σ²_ed), and
    1 − closeness for the farthest rows (σ²_da).
    """
    ratio = compute_noise_ratio(n_frequencies) if noise_ratio is None else noise_ratio
    check_closeness(closeness)
    if not 0.0 < ratio < 1.0 - closeness:
        argument = "noise" if noise == "given" else f"the {noise}'s noise ratio"
        raise ValueError(
            f"{argument} must be in (0, 1 - closeness) = (0, {1.0 - closeness:g}), got {ratio:g}"
            + ("" if noise == "given" else "; lower closeness or raise n_frequencies")
        )
    variance_at = get_kernel(pairs.kernel).variance_at
    boundaries = (
        variance_at(pairs.nearest, ratio),
        variance_at(pairs.farthest, ratio),
        variance_at(pairs.farthest, 1.0 - closeness),
    )
    if not all(np.isfinite(boundaries)) or min(boundaries) <= 0.0:
        raise ValueError(
            f"X has rows at distances from {pairs.smallest_distance:g} to "
            f"{pairs.largest_distance:g}, whose variances leave the range of float64: scale X"
        )
    return Sigma2Ranges(
        *boundaries,
        smallest_distance=pairs.smallest_distance,
        largest_distance=pairs.largest_distance,
        noise_ratio=ratio,
        noise=noise,
        closeness=closeness,
        n_frequencies=n_frequencies,
        kernel=pairs.kernel,
    )
