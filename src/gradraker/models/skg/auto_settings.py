"""Choose σ², the learning rate, the number of epochs and D by held-out errors: ``"auto"``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.fourier_lms import run_lms_pass
from gradraker.features import FrequencyTable, compute_fourier_features, to_row_arrays
from gradraker.kernels.shift_invariant import compute_ranges
from gradraker.linear.lms import make_folds, measure_spreads, weigh_candidates
from gradraker.models.sigma2 import ChosenSigma2, RuleInput, choose_sigma2

# Epochs after which held-out errors are measured. Errors also depend on the last trained nodes, so
# they are averaged over the last three measurements up to each of these.
EPOCHS = (3, 5, 8, 12, 20, 30, 50)
# Training stops after this many numbers of epochs in a row without improvement.
_PATIENCE = 2
RATES = (0.02, 0.05, 0.1)
_FIRST_RATE = 0.1
# Numbers of frequencies: the first is used to choose the other settings, then D is increased.
FREQUENCIES = (800, 1600)
_N_CANDIDATES = 9
# Variances that are tried again with other learning rates.
_N_FINALISTS = 2
_N_FOLDS = 4
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """Settings of SKG, each a number."""

    sigma2: float
    learning_rate: float
    n_epochs: int
    n_frequencies: int


@dataclass(frozen=True)
class WantedSettings:
    """Settings as a user gives them: numbers, or "auto"; ``sigma2`` may be "cv" too."""

    sigma2: float | str
    learning_rate: float | str
    n_epochs: int | str
    n_frequencies: int | str

    @property
    def rates(self) -> Sequence[float]:
        """Learning rates to try."""
        return RATES if isinstance(self.learning_rate, str) else (float(self.learning_rate),)

    @property
    def first_rate(self) -> float:
        """Learning rate with which σ² is tried first."""
        return _FIRST_RATE if _FIRST_RATE in self.rates else self.rates[0]

    @property
    def epochs(self) -> Sequence[int]:
        """Numbers of epochs to try; rules that simulate take the first."""
        return EPOCHS if isinstance(self.n_epochs, str) else (int(self.n_epochs),)

    @property
    def frequencies(self) -> Sequence[int]:
        """Numbers of frequencies to try, growing."""
        return FREQUENCIES if isinstance(self.n_frequencies, str) else (int(self.n_frequencies),)


def choose_sigma2_and_settings(
    wanted: WantedSettings, make_sample: Callable[[int, float, int], RuleInput]
) -> tuple[ChosenSigma2, RuleInput]:
    """Choose σ² by its rule, and "auto" settings by held-out errors; see :func:`choose_settings`.

    ``make_sample`` returns the training rows with D, η and E; those chosen are returned.
    """
    rate, n_epochs = wanted.first_rate, wanted.epochs[0]
    sample = make_sample(wanted.frequencies[0], rate, n_epochs)
    choice = None if wanted.sigma2 in ("auto", "cv") else choose_sigma2(wanted.sigma2, sample)
    settings = choose_settings(
        wanted if choice is None else replace(wanted, sigma2=choice.sigma2),
        sample,
        lambda n_frequencies: make_sample(n_frequencies, rate, n_epochs).table,
    )
    used = make_sample(settings.n_frequencies, settings.learning_rate, settings.n_epochs)
    if choice is None:
        ranges = compute_ranges(sample.pairs, n_frequencies=settings.n_frequencies)
        choice = ChosenSigma2(settings.sigma2, ranges)
    return choice, used


def choose_settings(
    wanted: WantedSettings, sample: RuleInput, make_table: Callable[[int], FrequencyTable]
) -> Settings:
    """Choose all settings that are "auto" by the errors of held-out known nodes.

    Parameters
    ----------
    wanted : WantedSettings
        Settings, of which some are "auto".
    sample : RuleInput
        Training rows and values; of more than 2000 rows, 2000 are drawn.
    make_table : callable
        Returns a frequency table of the model's seed and names with a given D.

    Notes
    -----
    All settings are measured on the same folds and orders.

    1. Held-out errors at several σ² from σ²_ce to σ²_da, with η = 0.1, while the model trains: one
       training gives the errors of all numbers of epochs, and stops when they no longer fall. All
       σ² share one projection.
    2. The best σ² with the other learning rates.
    3. D is doubled while errors fall.

    Another learning rate, fewer epochs or more frequencies are taken only if errors fall by more
    than their noise, the standard error of the difference over nodes: with few known nodes the
    smallest error is largely chance.
    """
    if sample.X.shape[0] < 2:
        raise ValueError(
            "settings that are 'auto' are chosen on held-out nodes, and X has n_samples = 1: give "
            "numbers, or more rows"
        )
    part = sample.take_part()
    search = _Search(part, wanted.epochs)
    first_rate = wanted.first_rate
    smallest, *larger = wanted.frequencies
    project = search.make_projector(make_table(smallest))
    if isinstance(wanted.sigma2, str):
        low, _, high = sample.ranges.boundaries
        variances = np.geomspace(low, high, _N_CANDIDATES).tolist()
    else:
        variances = [float(wanted.sigma2)]
    trials = [search.run(project, sigma2, first_rate) for sigma2 in variances]
    best = _average_variances(trials)
    finalists = sorted(trials, key=lambda trial: trial.total)[:_N_FINALISTS]
    for rate in wanted.rates:
        if rate != first_rate:
            other = _average_variances(
                [search.run(project, trial.sigma2, rate) for trial in finalists]
            )
            if _is_better(other, best):
                best = other
    n_frequencies = smallest
    for D in larger:
        grown = search.run(search.make_projector(make_table(D)), best.sigma2, best.rate)
        if not _is_better(grown, best):
            break
        best, n_frequencies = grown, D
    return Settings(best.sigma2, best.rate, best.n_epochs, n_frequencies)


@dataclass(frozen=True)
class _Trial:
    """Squared errors of held-out nodes (n,) at one σ² and η, after the best number of epochs."""

    sigma2: float
    rate: float
    n_epochs: int
    errors: Floats

    @property
    def total(self) -> float:
        return float(self.errors.sum())


def _average_variances(trials: Sequence[_Trial]) -> _Trial:
    """The best trial, with σ² averaged over those that are as good up to their noise."""
    best = min(trials, key=lambda trial: trial.total)
    same_rate = [trial for trial in trials if trial.rate == best.rate]
    weights = weigh_candidates(np.array([trial.errors for trial in same_rate]))
    logs = np.log([trial.sigma2 for trial in same_rate])
    return replace(best, sigma2=float(np.exp(np.average(logs, weights=weights))))


def _is_better(new: _Trial, old: _Trial) -> bool:
    """Whether errors fell by more than their noise."""
    gain = old.errors - new.errors
    noise = float(gain.std()) * np.sqrt(gain.size)
    return bool(gain.sum() > noise)


class _Search:
    """Held-out errors of training rows, on the same folds and orders for all settings."""

    def __init__(self, part: RuleInput, epochs: Sequence[int]) -> None:
        self._rows = to_row_arrays(part.X)
        self._Y = part.Y / measure_spreads(part.Y)  # every target counts the same
        self._epochs = epochs
        n = part.Y.shape[0]
        self._folds = make_folds(
            n, n_folds=min(_N_FOLDS, n), n_epochs=max(epochs), rng=part.make_rng()
        )

    def make_projector(self, table: FrequencyTable) -> Callable[[float], Floats]:
        """Return a function from σ² to features of all rows, (n, 2D)."""
        units = table.prepare(self._rows.indices)
        return lambda sigma2: compute_fourier_features(
            self._rows, units, 1.0 / float(np.sqrt(sigma2))
        )

    def run(self, project: Callable[[float], Floats], sigma2: float, rate: float) -> _Trial:
        """Train on all folds, and return errors after the number of epochs with the smallest."""
        Z = project(sigma2)
        thetas = [np.zeros((self._Y.shape[1], Z.shape[1])) for _ in self._folds]  # [K, 2D]
        trials: list[_Trial] = []
        done = 0
        for n_epochs in self._epochs:
            errors = np.zeros(self._Y.shape[0])
            epochs_to_measure = _list_measured_epochs(n_epochs)
            for stop in epochs_to_measure:
                self._advance(Z, thetas, rate, done, stop)
                errors += self._measure_errors(Z, thetas) / len(epochs_to_measure)
                done = stop
            trials.append(_Trial(sigma2, rate, n_epochs, errors))
            if _has_stopped(trials):
                break
        best, last = min(trials, key=lambda trial: trial.total), trials[-1]
        return best if _is_better(best, last) else last

    def _advance(self, Z: Floats, thetas: list[Floats], rate: float, start: int, stop: int) -> None:
        for fold, theta in zip(self._folds, thetas, strict=True):
            size = fold.order.size // max(self._epochs)
            steps = fold.order[start * size : stop * size]
            run_lms_pass(Z, steps, self._Y, 2.0 * rate, theta)

    def _measure_errors(self, Z: Floats, thetas: list[Floats]) -> Floats:
        """Squared errors of held-out rows, (n,)."""
        errors = np.zeros(self._Y.shape[0])
        for fold, theta in zip(self._folds, thetas, strict=True):
            difference = self._Y[fold.held_out] - Z[fold.held_out] @ theta.T
            errors[fold.held_out] += np.sum(difference**2, axis=1)
        return errors


def _has_stopped(trials: Sequence[_Trial]) -> bool:
    """Whether the last numbers of epochs are no better than earlier ones."""
    totals = [trial.total for trial in trials]
    return len(totals) > _PATIENCE and min(totals[-_PATIENCE:]) > min(totals[:-_PATIENCE])


def _list_measured_epochs(n_epochs: int) -> list[int]:
    """Epochs whose errors are averaged for ``n_epochs``: the last three of a growing stride."""
    stride = max(1, n_epochs // 12)
    return [n_epochs - i * stride for i in (2, 1, 0) if n_epochs - i * stride > 0]
