"""Turn the parameter ``sigma2`` of an estimator, a number or a rule's name, into a variance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from gradraker._validation import check_count, check_learning_rate, check_sparse, make_seed
from gradraker.features import FrequencyTable, compute_projections, to_row_arrays
from gradraker.kernels import get_kernel
from gradraker.kernels.median_rule import median_sigma2
from gradraker.kernels.ranges import ExtremePairs, Sigma2Ranges, compute_ranges, find_extreme_pairs
from gradraker.linear.held_out_passes import make_folds, predict_held_out
from gradraker.models.sigma2.refined import measure_noise_ratio

# Rules that train use at most this many rows, drawn at random, so that they cost a bounded time.
_MOST_ROWS = 2000
# Cross-validation: variances tried, folds, and held-out predictions that are enough.
_N_CANDIDATES = 16
_N_FOLDS = 5
_ENOUGH_PREDICTIONS = 200


@dataclass(frozen=True, eq=False)
class RuleInput:
    """What a rule may look at: the training rows and how the learner will use them."""

    X: Any  # [n, M], sparse or dense
    Y: NDArray[np.float64]  # [n, K]
    table: FrequencyTable
    learning_rate: float
    n_epochs: int

    @cached_property
    def pairs(self) -> ExtremePairs:
        """The closest rows that differ and the farthest rows."""
        return find_extreme_pairs(self.X, kernel=self.table.kernel)

    @cached_property
    def ranges(self) -> Sigma2Ranges:
        """The four ranges, with the noise ratio of the formula."""
        return compute_ranges(self.pairs, n_frequencies=self.table.n_frequencies)

    def make_rng(self) -> np.random.Generator:
        """A generator for the rule, apart from those of the frequencies and the orders."""
        return np.random.default_rng([self.table.seed, 2])

    def take_part(self) -> "RuleInput":
        """The whole sample, or a random part of it if it is large."""
        n = self.X.shape[0]
        if n <= _MOST_ROWS:
            return self
        rows = np.sort(self.make_rng().permutation(n)[:_MOST_ROWS])
        return RuleInput(self.X[rows], self.Y[rows], self.table, self.learning_rate, self.n_epochs)

    def compute_projections(self) -> NDArray[np.float64]:
        """Projections on unit frequencies, (n, D)."""
        rows = to_row_arrays(self.X)
        return compute_projections(rows, self.table.prepare(rows.indices))


@dataclass(frozen=True)
class ChosenSigma2:
    """A variance, and the ranges if the rule had to know them."""

    sigma2: float
    ranges: Sigma2Ranges | None = None


def _choose_by_theory(sample: RuleInput) -> ChosenSigma2:
    """Algorithm 1: σ²_ed with the noise ratio of the formula."""
    return ChosenSigma2(sample.ranges.extending_disturbing, sample.ranges)


def _choose_by_refined_noise(sample: RuleInput) -> ChosenSigma2:
    """Algorithms 1 and 2: σ²_ed with a noise ratio measured at the variance of the formula."""
    ranges = _find_refined_ranges(sample)
    return ChosenSigma2(ranges.extending_disturbing, ranges)


def _find_refined_ranges(sample: RuleInput, *, closeness: float = 0.1) -> Sigma2Ranges:
    part = sample.take_part()
    rows = to_row_arrays(part.X)
    ratio = measure_noise_ratio(
        rows,
        part.table.prepare(rows.indices),
        sigma2=sample.ranges.extending_disturbing,
        learning_rate=part.learning_rate,
        n_epochs=part.n_epochs,
        rng=part.make_rng(),
    )
    return compute_ranges(
        sample.pairs,
        n_frequencies=sample.table.n_frequencies,
        noise_ratio=ratio,
        noise="refined",
        closeness=closeness,
    )


def _choose_by_median(sample: RuleInput) -> ChosenSigma2:
    """The median heuristic."""
    sigma2 = median_sigma2(sample.X, kernel=sample.table.kernel, rng=sample.make_rng())
    return ChosenSigma2(sigma2)


def _choose_by_cv(sample: RuleInput) -> ChosenSigma2:
    """Cross-validation over variances between σ²_ce and σ²_da, with one projection for all.

    Held-out errors of neighbouring variances often differ by less than their noise. So each
    variance is weighted by exp(−½ (Δ/s)²), where Δ is how much larger its held-out error is
    than the smallest and s is the standard error of Δ over nodes, and the choice is the
    weighted geometric mean.
    """
    part = sample.take_part()
    n = part.X.shape[0]
    Y = part.Y / _measure_spreads(part.Y)  # every target counts the same, whatever its unit
    candidates = np.geomspace(
        sample.ranges.chaos_extending, sample.ranges.disturbing_averaging, _N_CANDIDATES
    )
    rng = part.make_rng()
    P = part.compute_projections()  # [n, D]
    n_repeats = -(-_ENOUGH_PREDICTIONS // n)
    errors = np.zeros((candidates.size, n))  # [S, n]
    for _ in range(n_repeats):
        predictions = predict_held_out(
            P,
            Y,
            sigma2=candidates,
            folds=make_folds(n, n_folds=min(_N_FOLDS, n), n_epochs=part.n_epochs, rng=rng),
            learning_rate=part.learning_rate,
        )
        errors += np.sum((predictions - Y) ** 2, axis=2) / n_repeats
    sigma2 = float(np.exp(np.average(np.log(candidates), weights=_weigh_candidates(errors))))
    return ChosenSigma2(sigma2, sample.ranges)


def _measure_spreads(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Range of each target, or its size where it does not vary, or 1 where it is 0."""
    spreads = Y.max(axis=0) - Y.min(axis=0)
    spreads = np.where(spreads > 0.0, spreads, np.abs(Y[0]))
    return np.where((spreads > 0.0) & np.isfinite(spreads), spreads, 1.0)


def _weigh_candidates(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight in [0, 1] of each candidate, from squared errors (S, n) of held-out nodes."""
    best = int(np.argmin(errors.sum(axis=1)))
    excess = errors - errors[best]
    delta = excess.sum(axis=1)
    spread = np.sqrt(errors.shape[1]) * excess.std(axis=1)
    # A candidate with no spread makes the same errors everywhere: as good, or worse for sure.
    ratio = np.divide(delta, spread, out=np.where(delta > 0.0, np.inf, 0.0), where=spread > 0.0)
    return np.asarray(np.exp(-0.5 * ratio**2))


SIGMA2_RULES: dict[str, Callable[[RuleInput], ChosenSigma2]] = {
    "theory": _choose_by_theory,
    "refined": _choose_by_refined_noise,
    "median": _choose_by_median,
    "cv": _choose_by_cv,
}


def check_sigma2(sigma2: Any) -> float | str:
    """Return a positive finite number or the name of a rule; the error lists the rules.

    Examples
    --------
    >>> from gradraker.models.sigma2.rules import check_sigma2
    >>> check_sigma2("magic")
    Traceback (most recent call last):
    ValueError: sigma2 must be a positive number or one of the rules 'theory', 'refined', 'median',
    'cv', got 'magic'
    """
    if isinstance(sigma2, str) and sigma2 in SIGMA2_RULES:
        return sigma2
    number = isinstance(sigma2, float | int | np.integer | np.floating) and not isinstance(
        sigma2, bool
    )
    if number and 0.0 < sigma2 < np.inf:
        return float(sigma2)
    rules = ", ".join(map(repr, SIGMA2_RULES))
    raise ValueError(
        f"sigma2 must be a positive number or one of the rules {rules}, got {sigma2!r}"
    )


def choose_sigma2(sigma2: float | str, sample: RuleInput) -> ChosenSigma2:
    """Return the variance that a number or a rule gives for a sample."""
    checked = check_sigma2(sigma2)
    if isinstance(checked, float):
        return ChosenSigma2(checked)
    if sample.X.shape[0] < 2:
        raise ValueError(
            f"sigma2={checked!r} needs at least two distinct rows of X to choose from, got "
            "n_samples = 1: give sigma2 as a number, or a larger first chunk"
        )
    return SIGMA2_RULES[checked](sample)


def sigma2_ranges(
    X: Any,
    *,
    n_frequencies: int = 200,
    kernel: str = "gaussian",
    noise: str | float = "formula",
    closeness: Any = 0.1,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    random_state: int | np.random.RandomState | None = None,
) -> Sigma2Ranges:
    """Where the four ranges of the kernel variance lie for a training graph.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, M)
        Adjacency vectors of the sampled nodes; at least two must differ.
    n_frequencies : int, default=200
        D.
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.
    noise : {"formula", "refined"} or float, default="formula"
        Upper end of the noise range divided by 2η: 1/√(2D) by equation (noiseup), measured by
        algorithm 2, or a number in (0, 1 − closeness).
    closeness : float, default=0.1
        In (0, 0.5): how close to 2η the similarity of the farthest rows is at σ²_da.
    learning_rate, n_epochs, random_state
        Settings of the simulation of ``noise="refined"``; see :class:`SKGRegressor`.

    Returns
    -------
    Sigma2Ranges

    Notes
    -----
    Algorithm 2 simulates SKG at the σ²_ed of the formula and takes the smallest contribution
    weight F_{i,T+1}. The paper leaves open which node plays T + 1 when tested nodes are unknown:
    here a fifth of the rows (of at most 2000) is held out, each plays it in turn, and
    the median of their noise ranges is taken.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_ranges
    >>> ranges = sigma2_ranges(load_temperature().adjacency)
    >>> ranges
    Sigma2Ranges: gaussian kernel, D = 200, distances 1 to ..., noise ratio 0.05 (formula)
      chaos       σ² < 0.1669 ...
      extending   0.1669 ≤ σ² ≤ ...
      disturbing  ...
      averaging   ...
    >>> ranges.find_range(1.0)
    'extending'
    """
    check_sparse("X", X)
    rows = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    check_count("n_frequencies", n_frequencies)
    get_kernel(kernel)
    check_learning_rate(learning_rate)
    check_count("n_epochs", n_epochs)
    if not isinstance(closeness, float | int | np.number) or not 0.0 < closeness < 0.5:
        raise ValueError(f"closeness must be a number in (0, 0.5), got {closeness!r}")
    closeness = float(closeness)
    if not (noise in ("formula", "refined") or isinstance(noise, float | int | np.number)):
        raise ValueError(f"noise must be 'formula', 'refined' or a number, got {noise!r}")
    if noise != "refined":
        pairs = find_extreme_pairs(rows, kernel=kernel)
        given: dict[str, Any] = (
            {} if isinstance(noise, str) else {"noise_ratio": float(noise), "noise": "given"}
        )
        return compute_ranges(pairs, n_frequencies=n_frequencies, closeness=closeness, **given)
    sample = RuleInput(
        rows,
        np.zeros((rows.shape[0], 1)),
        FrequencyTable(make_seed(random_state), n_frequencies, kernel, n_numbered=rows.shape[1]),
        learning_rate,
        n_epochs,
    )
    return _find_refined_ranges(sample, closeness=closeness)
