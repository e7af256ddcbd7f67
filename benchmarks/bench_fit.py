"""Fit and predict on all nodes: ours compared with scikit-learn and a literal NumPy loop.

2000 nodes, 2000 references, 5 neighbours each, D = 1000, E = 3. Each side does everything that
a user would run: draw, project, sin and cos, the sequential pass, predict.

Run ``python benchmarks/bench_fit.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

from gradraker import SKGRegressor, gnmse
from gradraker._compiled.fourier_lms import run_lms_pass
from gradraker.features import FrequencyTable, compute_fourier_features, to_row_arrays
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    Stopwatch,
    Timing,
    finish,
    interleaved,
    milliseconds,
    options,
    ratio,
    run_alone,
    table,
)

SIGMA2, LEARNING_RATE, N_EPOCHS = 2.0, 0.1, 3
STAGES = ("draw", "project, sin, cos", "sequential pass", "predict")


@dataclass(frozen=True)
class Work:
    """Rows, values and the number of frequencies."""

    X: csr_array
    y: NDArray[np.float64]
    n_frequencies: int


def make_work(n_nodes: int, degree: int, n_frequencies: int) -> Work:
    """A random graph whose values are means over the neighbours, and a little noise."""
    rng = np.random.default_rng(SEED)
    neighbours = rng.permuted(np.tile(np.arange(n_nodes), (n_nodes, 1)), axis=1)[:, :degree]
    indptr = np.arange(0, n_nodes * degree + 1, degree)
    shape = (n_nodes, n_nodes)
    X = csr_array((np.ones(n_nodes * degree), neighbours.ravel(), indptr), shape=shape)
    hidden = rng.random(n_nodes)
    return Work(X, X @ hidden / degree + 0.01 * rng.standard_normal(n_nodes), n_frequencies)


# -- ours ----------------------------------------------------------------------


def make_our_model(work: Work, seed: int = SEED, *, shuffle: bool = True) -> SKGRegressor:
    return SKGRegressor(
        sigma2=SIGMA2,
        n_frequencies=work.n_frequencies,
        learning_rate=LEARNING_RATE,
        n_epochs=N_EPOCHS,
        shuffle=shuffle,
        random_state=seed,
    )


def run_ours(work: Work, seed: int = SEED) -> NDArray[np.float64]:
    return make_our_model(work, seed).fit(work.X, work.y).predict(work.X)


def time_our_stages(work: Work) -> dict[str, float]:
    """The same work as :func:`run_ours`, in the parts that the estimator calls."""
    watch = Stopwatch()
    model = make_our_model(work).fit(work.X, work.y)
    rows, n = to_row_arrays(work.X), work.X.shape[0]
    rng = np.random.default_rng(SEED)
    theta = np.zeros((1, 2 * work.n_frequencies))

    def draw() -> NDArray[np.float32]:
        frequencies = FrequencyTable(SEED, work.n_frequencies, "gaussian", n_numbered=n)
        return frequencies.prepare(rows.indices)

    def run_sequential_pass() -> None:
        for _ in range(N_EPOCHS):
            run_lms_pass(Z, rng.permutation(n), work.y[:, None], 2.0 * LEARNING_RATE, theta)

    units = watch.time(STAGES[0], draw)
    Z = watch.time(STAGES[1], lambda: compute_fourier_features(rows, units, 1.0 / np.sqrt(SIGMA2)))
    watch.time(STAGES[2], run_sequential_pass)
    watch.time(STAGES[3], lambda: model.predict(work.X))
    return watch.stages


# -- scikit-learn --------------------------------------------------------------


def make_their_sampler(work: Work, seed: int) -> RBFSampler:
    gamma = 1.0 / (2.0 * SIGMA2)
    return RBFSampler(n_components=2 * work.n_frequencies, gamma=gamma, random_state=seed)


def make_their_regressor(seed: int, *, shuffle: bool = True) -> SGDRegressor:
    # Its loss is (y − f)²/2, so its step eta0 (y − f) z is ours for eta0 = 2η.
    return SGDRegressor(
        learning_rate="constant",
        eta0=2.0 * LEARNING_RATE,
        penalty=None,
        fit_intercept=False,
        max_iter=N_EPOCHS,
        tol=None,
        shuffle=shuffle,
        random_state=seed,
    )


def run_theirs(work: Work, seed: int = SEED) -> Any:
    sampler = make_their_sampler(work, seed).fit(work.X)
    regressor = make_their_regressor(seed).fit(sampler.transform(work.X), work.y)
    return regressor.predict(sampler.transform(work.X))


def time_their_stages(work: Work) -> dict[str, float]:
    watch = Stopwatch()
    sampler = make_their_sampler(work, SEED)
    watch.time(STAGES[0], lambda: sampler.fit(work.X))
    Z = watch.time(STAGES[1], lambda: sampler.transform(work.X))
    regressor = watch.time(STAGES[2], lambda: make_their_regressor(SEED).fit(Z, work.y))
    watch.time(STAGES[3], lambda: regressor.predict(sampler.transform(work.X)))
    return watch.stages


# -- NumPy ---------------------------------------------------------------------


def run_numpy_loop(
    work: Work, frequencies: NDArray[np.float64], orders: Sequence[NDArray[np.intp]]
) -> NDArray[np.float64]:
    """Equations (1) to (4), row by row."""
    indptr, indices, data = work.X.indptr, work.X.indices, work.X.data

    def features(n: int) -> Any:
        row = slice(indptr[n], indptr[n + 1])
        projection = data[row] @ frequencies[indices[row]]  # [D]
        both = np.concatenate((np.sin(projection), np.cos(projection)))  # [2D]
        return both / np.sqrt(projection.size)

    theta = np.zeros(2 * frequencies.shape[1])
    for order in orders:
        for n in order:
            z = features(n)
            theta += 2.0 * LEARNING_RATE * (work.y[n] - theta @ z) * z
    return np.array([theta @ features(n) for n in range(work.y.size)])


def run_numpy(work: Work) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    n = work.y.size
    frequencies = rng.standard_normal((n, work.n_frequencies)) / np.sqrt(SIGMA2)
    return run_numpy_loop(work, frequencies, [rng.permutation(n) for _ in range(N_EPOCHS)])


# -- the benchmark -------------------------------------------------------------


def check_agreements(work: Work, n_seeds: int) -> list[Agreement]:
    in_order = [np.arange(work.y.size)] * N_EPOCHS
    model = make_our_model(work, shuffle=False).fit(work.X, work.y)
    looped = run_numpy_loop(work, model.frequencies_, in_order)
    on_our_features = make_their_regressor(SEED, shuffle=False).fit(model.features(work.X), work.y)
    # scikit-learn draws its own features: errors agree only on average over seeds.
    seeds = range(n_seeds)
    our_error = np.mean([gnmse(work.y, run_ours(work, seed)) for seed in seeds])
    their_error = np.mean([gnmse(work.y, run_theirs(work, seed)) for seed in seeds])
    return [
        Agreement(
            "predictions of the NumPy loop",
            _measure_difference(looped, model.predict(work.X)),
            1e-10,
        ),
        Agreement(
            "coef_ of SGDRegressor on z",
            _measure_difference(on_our_features.coef_, model.coef_),
            1e-8,
        ),
        Agreement(
            f"GNMSE {our_error:.4f}, scikit-learn {their_error:.4f}",
            float(abs(our_error / their_error - 1.0)),
            0.2,
        ),
    ]


def _measure_difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(abs(a - b).max() / abs(b).max())


def compute_median_stages(
    stages: Callable[[Work], dict[str, float]], work: Work, repeats: int
) -> dict[str, float]:
    measured = [stages(work) for _ in range(repeats)]
    return {name: float(np.median([run[name] for run in measured])) for name in STAGES}


def format_stages(
    total: dict[str, Timing], ours: dict[str, float], theirs: dict[str, float]
) -> str:
    rows = [
        [name, milliseconds(theirs[name]), milliseconds(ours[name]), f"{b / a:.1f}×"]
        for name in STAGES
        for a, b in [(ours[name], theirs[name])]
    ]
    ours_all, theirs_all = total["gradraker"], total["scikit-learn"]
    both = ((theirs_all, theirs), (ours_all, ours))
    rest = [max(0.0, timing.median - sum(stages.values())) for timing, stages in both]
    rows.append(["checks and the rest", *map(milliseconds, rest), ""])
    whole = [milliseconds(theirs_all.median), milliseconds(ours_all.median)]
    rows.append(["fit + predict", *whole, f"{ratio(theirs_all, ours_all):.1f}×"])
    return table(["", "scikit-learn", "gradraker", "ratio"], rows)


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    work = make_work(100, 5, 50) if arguments.tiny else make_work(2000, 5, 1000)
    times = interleaved(
        {
            "scikit-learn": lambda: run_theirs(work),
            "NumPy loop": lambda: run_numpy(work),
            "gradraker": lambda: run_ours(work),
        },
        tiny=arguments.tiny,
    )
    repeats = 2 if arguments.tiny else 9
    parts = (
        compute_median_stages(stages, work, repeats)
        for stages in (time_our_stages, time_their_stages)
    )
    numpy_line = f"NumPy loop, draw to predict: {milliseconds(times['NumPy loop'].median)}"
    report = Report(
        f"Fit and predict: {work.y.size} nodes, 5 neighbours, D = {work.n_frequencies}, E = 3",
        findings=(
            Finding("against scikit-learn", ratio(times["scikit-learn"], times["gradraker"]), 10),
            Finding("against a NumPy loop", ratio(times["NumPy loop"], times["gradraker"])),
        ),
        agreements=tuple(check_agreements(work, 5)),
        tables=(format_stages(times, *parts), numpy_line),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
