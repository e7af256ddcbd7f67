"""The kernel variance σ²: rules that choose it from training rows, and its ranges.

The parameter ``sigma2`` of an estimator is a number or the name of a rule. Algorithm 2 of the paper
measures the noise range by a simulation.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from gradraker._validation import (
    check_closeness,
    check_count,
    check_learning_rate,
    check_sparse,
    is_number,
    make_seed,
)
from gradraker.features import (
    FrequencyTable,
    compute_fourier_features,
    compute_projections,
    to_row_arrays,
)
from gradraker.kernels import get_kernel
from gradraker.kernels.median_rule import median_sigma2
from gradraker.kernels.shift_invariant import (
    ExtremePairs,
    Sigma2Ranges,
    compute_noise_ratio,
    compute_ranges,
    find_extreme_pairs,
)
from gradraker.linear.lms import (
    contribution_weights,
    draw_epoch_orders,
    make_folds,
    measure_spreads,
    predict_held_out,
    weigh_candidates,
)

Floats = NDArray[np.float64]

# Rules that train use at most this many rows, drawn at random, so that their time is bounded.
_MOST_ROWS = 2000
# Cross-validation: variances tried, folds, and held-out predictions that are enough.
_N_CANDIDATES, _N_FOLDS, _ENOUGH_PREDICTIONS = 16, 5, 200
# Without tested rows, known nodes serve as node T + 1: a tenth of them is held out at a time, until
# there are enough. Holding out a fifth, or one tenth only, gives results farther from tested rows.
_HELD_OUT_SHARE, _ENOUGH_HELD_OUT = 0.1, 50
# More tested rows than these would change the median by less than its noise.
MOST_TESTED = 500
# How the noise ratios of several nodes are combined: ``noise`` of ``sigma2_ranges``.
STATISTICS: dict[str, Callable[..., Any]] = {"refined": np.median, "minimum": np.max}
_ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


@dataclass(frozen=True, eq=False)
class RuleInput:
    """Input of a rule: the training rows and the settings of training."""

    X: Any  # [n, M], sparse or dense
    Y: Floats  # [n, K]
    table: FrequencyTable
    learning_rate: float
    n_epochs: int
    tested: Any = None  # [m, M], rows to be predicted, if they are available

    @cached_property
    def pairs(self) -> ExtremePairs:
        """The closest rows that differ and the farthest rows."""
        return find_extreme_pairs(self.X, kernel=self.table.kernel)

    @cached_property
    def ranges(self) -> Sigma2Ranges:
        """The four ranges, with the noise ratio of the formula."""
        return compute_ranges(self.pairs, n_frequencies=self.table.n_frequencies)

    def make_rng(self) -> np.random.Generator:
        """A generator for the rule, independent of those of the frequencies and the orders."""
        return np.random.default_rng([self.table.seed, 2])

    def take_part(self) -> "RuleInput":
        """The whole sample, or a random part of it if it is large."""
        n = self.X.shape[0]
        if n <= _MOST_ROWS:
            return self
        rows = np.sort(self.make_rng().permutation(n)[:_MOST_ROWS])
        return replace(self, X=self.X[rows], Y=self.Y[rows])

    def compute_projections(self) -> Floats:
        """Projections on unit frequencies, (n, D)."""
        rows = to_row_arrays(self.X)
        return compute_projections(rows, self.table.prepare(rows.indices))


@dataclass(frozen=True)
class ChosenSigma2:
    """A variance, and the ranges if the rule needed them."""

    sigma2: float
    ranges: Sigma2Ranges | None = None


def find_refined_ranges(
    sample: RuleInput, *, noise: str = "refined", closeness: float = 0.1
) -> Sigma2Ranges:
    """The four ranges with the noise ratio of algorithm 2; see ``sigma2_ranges``."""
    part = sample.take_part()
    ratios = measure_noise_ratios(part, sample.ranges.extending_disturbing, part.make_rng())
    ratio = float(STATISTICS[noise](ratios))
    if not ratio > 0.0:  # no weight is negative, so the noise range cannot be measured
        ratio = compute_noise_ratio(sample.table.n_frequencies)
    return compute_ranges(
        sample.pairs,
        n_frequencies=sample.table.n_frequencies,
        noise_ratio=ratio,
        noise=noise,
        closeness=closeness,
    )


def _choose_ed(ranges: Sigma2Ranges) -> ChosenSigma2:
    return ChosenSigma2(ranges.extending_disturbing, ranges)


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


SIGMA2_RULES: dict[str, Callable[[RuleInput], ChosenSigma2]] = {
    # Algorithm 1: σ²_ed with the noise ratio of the formula.
    "theory": lambda sample: _choose_ed(sample.ranges),
    # Algorithms 1 and 2: σ²_ed with a noise ratio measured at the variance of the formula.
    "refined": lambda sample: _choose_ed(find_refined_ranges(sample)),
    "median": lambda sample: ChosenSigma2(
        median_sigma2(sample.X, kernel=sample.table.kernel, rng=sample.make_rng())
    ),
    "cv": _choose_by_cv,
}


def check_sigma2(sigma2: Any) -> float | str:
    """Return a positive finite number or the name of a rule; the error lists the rules.

    Examples
    --------
    >>> from gradraker.models.sigma2 import check_sigma2
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
    """Refuse tested rows that no rule would use."""
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


# -- algorithm 2 -----------------------------------------------------------------------------------


def measure_noise_ratios(sample: RuleInput, sigma2: float, rng: np.random.Generator) -> Floats:
    """|min_i F_{i,T+1}| / 2η for each of some rows that serve as node T + 1.

    With ``tested`` rows this is algorithm 2 as written: all rows are trained, in the orders of
    ``fit``, and each tested row serves as node T + 1. Without them, held-out known rows do.
    Values are not used: contribution weights depend on rows and their order only.
    A row whose weights are all positive has no noise range, and gives 0.
    """
    scale, table = 1.0 / float(np.sqrt(sigma2)), sample.table
    learning_rate, n_epochs = sample.learning_rate, sample.n_epochs
    rows = to_row_arrays(sample.X)
    Z = compute_fourier_features(rows, table.prepare(rows.indices), scale)  # [n, 2D]
    if sample.tested is not None:
        tested, n = to_row_arrays(sample.tested), sample.tested.shape[0]
        drawn = np.arange(n) if n <= MOST_TESTED else rng.permutation(n)[:MOST_TESTED]
        units = table.prepare(tested.indices)
        stars = compute_fourier_features(tested, units, scale, order=drawn)
        orders = draw_epoch_orders(table.seed, Z.shape[0], n_epochs, shuffle=True)
        return _measure(Z, np.concatenate(orders), stars, learning_rate)
    found = [
        _measure(Z, order, Z[held_out], learning_rate)
        for held_out, order in _hold_out(Z.shape[0], n_epochs, rng)
    ]
    return np.concatenate(found)


def _hold_out(
    n: int, n_epochs: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield held-out rows and an order of training on the others, until there are enough."""
    shuffled = rng.permutation(n)
    size = max(1, round(_HELD_OUT_SHARE * n))
    for start in range(0, min(n, _ENOUGH_HELD_OUT), size):
        held_out = shuffled[start : start + size]
        others = np.delete(shuffled, np.s_[start : start + size])
        yield held_out, np.concatenate([rng.permutation(others) for _ in range(n_epochs)])


def _measure(Z: Floats, order: NDArray[np.int64], stars: Floats, learning_rate: float) -> Floats:
    weights = contribution_weights(Z, order, stars, learning_rate)  # [m, T]
    return np.asarray(np.maximum(-weights.min(axis=1), 0.0) / (2.0 * learning_rate))


def sigma2_ranges(
    X: Any,
    *,
    n_frequencies: int = 200,
    kernel: str = "gaussian",
    noise: str | float = "formula",
    tested: Any = None,
    closeness: Any = 0.1,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    random_state: int | np.random.RandomState | None = None,
) -> Sigma2Ranges:
    """Compute the four ranges of the kernel variance for a training graph.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, M)
        Adjacency vectors of the known nodes; at least two must differ.
    n_frequencies : int, default=200
        D.
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel.
    noise : {"formula", "refined", "minimum"} or float, default="formula"
        Upper end of the noise range divided by 2η: 1/√(2D) by equation (noiseup), measured by
        algorithm 2, or a number in (0, 1 − closeness). If several nodes serve as node T + 1 in
        algorithm 2, ``"refined"`` takes the median of their noise ranges and ``"minimum"`` the
        widest, that of the smallest contribution weight of all.
    tested : {array-like, sparse matrix} of shape (m, M), optional
        Adjacency vectors of nodes to be predicted, which serve as node T + 1 of algorithm 2.
    closeness : float, default=0.1
        In (0, 0.5): how close to 2η the similarity of the farthest rows is at σ²_da.
    learning_rate, n_epochs, random_state
        Settings of the simulation of algorithm 2; see :class:`SKGRegressor`.

    Returns
    -------
    Sigma2Ranges

    Notes
    -----
    Algorithm 2 simulates SKG at the σ²_ed of the formula and takes the smallest contribution
    weight F_{i,T+1}. With ``tested`` that is done as written: all rows of X are trained, with the
    frequencies and orders of ``SKGRegressor(random_state=...)``, and tested rows (500 at most)
    serve as node T + 1. Without them, a tenth of the rows of X is held out at a time and serves as
    it, until 50 have. Of more than 2000 rows of X, 2000 are drawn.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_ranges
    >>> A = load_temperature().adjacency
    >>> ranges = sigma2_ranges(A)
    >>> ranges
    Sigma2Ranges: gaussian kernel, D = 200, distances 1 to ..., noise ratio 0.05 (formula)
      chaos       σ² < 0.1669 ...
      extending   0.1669 ≤ σ² ≤ ...
      disturbing  ...
      averaging   ...
    >>> ranges.find_range(1.0)
    'extending'

    Algorithm 2, with the stations that are to be predicted:

    >>> known, unknown = A[:40, :40], A[40:, :40]
    >>> sigma2_ranges(known, noise="refined", tested=unknown, random_state=0)
    Sigma2Ranges: gaussian kernel, D = 200, distances 1 to ..., noise ratio 0.0... (refined)
    ...
    """
    check_sparse("X", X)
    rows = check_array(X, input_name="X", **_ROWS)
    check_count("n_frequencies", n_frequencies)
    get_kernel(kernel)
    check_learning_rate(learning_rate)
    check_count("n_epochs", n_epochs)
    closeness = check_closeness(closeness)
    if not (isinstance(noise, str) and noise in STATISTICS):
        given = _check_noise(noise)
        if tested is not None:
            raise ValueError(
                f"tested must be None for noise={noise!r}: algorithm 2 alone, noise='refined' or "
                "noise='minimum', looks at tested rows"
            )
        pairs = find_extreme_pairs(rows, kernel=kernel)
        return compute_ranges(pairs, n_frequencies=n_frequencies, closeness=closeness, **given)
    if tested is not None:
        check_sparse("tested", tested)
        tested = check_array(tested, input_name="tested", **_ROWS)
        if tested.shape[1] != rows.shape[1]:
            raise ValueError(f"tested has {tested.shape[1]} columns, but X has {rows.shape[1]}")
    table = FrequencyTable(make_seed(random_state), n_frequencies, kernel, n_numbered=rows.shape[1])
    no_values = np.zeros((rows.shape[0], 1))
    sample = RuleInput(rows, no_values, table, learning_rate, n_epochs, tested)
    return find_refined_ranges(sample, noise=str(noise), closeness=closeness)


def _check_noise(noise: Any) -> dict[str, Any]:
    """Arguments of ``compute_ranges`` for a noise ratio that is not measured."""
    if isinstance(noise, str) and noise == "formula":
        return {}
    if isinstance(noise, float | int | np.number):
        return {"noise_ratio": float(noise), "noise": "given"}
    words = ", ".join(map(repr, ("formula", *STATISTICS)))
    raise ValueError(f"noise must be {words} or a number, got {noise!r}")
