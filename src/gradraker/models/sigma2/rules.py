"""Turn the parameter ``sigma2`` of an estimator, a number or a rule's name, into a variance."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import is_number
from gradraker.features import FrequencyTable, compute_projections, to_row_arrays
from gradraker.kernels.median_rule import median_sigma2
from gradraker.kernels.ranges import ExtremePairs, Sigma2Ranges, compute_ranges, find_extreme_pairs
from gradraker.linear.lms import make_folds, predict_held_out
from gradraker.models.sigma2.refined import measure_noise_ratios, summarise_noise_ratios

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
    tested: Any = None  # [m, M], rows to be predicted, where they are known already

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
        return replace(self, X=self.X[rows], Y=self.Y[rows])

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
    ranges = find_refined_ranges(sample)
    return ChosenSigma2(ranges.extending_disturbing, ranges)


def find_refined_ranges(
    sample: RuleInput, *, noise: str = "refined", closeness: float = 0.1
) -> Sigma2Ranges:
    """The four ranges with the noise ratio of algorithm 2; see ``sigma2_ranges``."""
    part = sample.take_part()
    ratios = measure_noise_ratios(
        to_row_arrays(part.X),
        part.table,
        sigma2=sample.ranges.extending_disturbing,
        learning_rate=part.learning_rate,
        n_epochs=part.n_epochs,
        rng=part.make_rng(),
        tested=None if part.tested is None else to_row_arrays(part.tested),
    )
    return compute_ranges(
        sample.pairs,
        n_frequencies=sample.table.n_frequencies,
        noise_ratio=summarise_noise_ratios(ratios, noise, sample.table.n_frequencies),
        noise=noise,
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
    Y = part.Y / measure_spreads(part.Y)  # every target counts the same, whatever its unit
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
    sigma2 = float(np.exp(np.average(np.log(candidates), weights=weigh_candidates(errors))))
    return ChosenSigma2(sigma2, sample.ranges)


def measure_spreads(Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Range of each target, or its size where it does not vary, or 1 where it is 0."""
    spreads = Y.max(axis=0) - Y.min(axis=0)
    spreads = np.where(spreads > 0.0, spreads, np.abs(Y[0]))
    return np.where((spreads > 0.0) & np.isfinite(spreads), spreads, 1.0)


def weigh_candidates(errors: NDArray[np.float64]) -> NDArray[np.float64]:
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
    if is_number(sigma2) and 0.0 < sigma2 < np.inf:
        return float(sigma2)
    rules = ", ".join(map(repr, SIGMA2_RULES))
    raise ValueError(
        f"sigma2 must be a positive number or one of the rules {rules}, got {sigma2!r}"
    )


def check_tested_is_used(tested: Any, rules: Iterable[float | str]) -> None:
    """Refuse tested rows that no rule would look at."""
    if tested is not None and "refined" not in rules:
        raise ValueError(
            "tested must be None: only the rule 'refined' for sigma2 looks at tested rows"
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
