"""Sweeps over σ² compared with literal NumPy: a loop per variance, per repeat and per step.

The literal loop does a part of the work, some variances of the first repeat, on the same split,
frequencies and orders, which are not counted in its time; it must give the same GNMSE. A second
NumPy loop is what a careful user would write: features of all nodes by matrix products, then one
step after another. Ratios are of the fastest times for one variance of one repeat: a busy machine
slows BLAS down more than other code, which would favour us.

Optimisations of the sweep are switched off one by one, to show how much each of them saves.

Run: python benchmarks/bench_sweep.py [--full | --tiny]
"""

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from gradraker import datasets, sigma2_sweep
from gradraker.datasets import GraphDataset
from gradraker.features import FrequencyTable
from gradraker.sweep import repeats
from gradraker.sweep.sweep_result import draw_repeat
from report import Agreement, Finding, Report, Timing, finish, options, run_alone, table

N_VARIANCES = 40
N_EPOCHS = 3
FRACTION = 0.4
TOLERANCE = 1e-8
Array = NDArray[np.float64]


class Job(NamedTuple):
    """A data set with the paper's settings."""

    data: GraphDataset
    n_frequencies: int
    learning_rate: float
    n_repeats: int

    def sweep(
        self, *, n_repeats: int, n_variances: int = N_VARIANCES, checkpoint: Path | None = None
    ) -> Array:
        """GNMSE by gradraker."""
        found = sigma2_sweep(
            self.data,
            sigma2=np.geomspace(0.05, 500.0, n_variances),
            n_repeats=n_repeats,
            fraction=FRACTION,
            n_frequencies=self.n_frequencies,
            learning_rate=self.learning_rate,
            n_epochs=N_EPOCHS,
            checkpoint=checkpoint,
        )
        return found.gnmse


def features(a: Array, xi: Array) -> Array:
    """Equation (1) for one row or for all."""
    angles = a @ xi
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1) / math.sqrt(xi.shape[1])


def run_literal_loop(
    X: Array, y: Array, X_unknown: Array, xi: Array, order: NDArray[np.int64], eta: float
) -> Array:
    """Equations (1) to (4), one node at a time."""
    theta = np.zeros(2 * xi.shape[1])
    for i in order:
        z = features(X[i], xi)
        theta = theta + 2 * eta * (y[i] - theta @ z) * z
    return np.array([theta @ features(a, xi) for a in X_unknown])


def run_careful_loop(
    X: Array, y: Array, X_unknown: Array, xi: Array, order: NDArray[np.int64], eta: float
) -> Array:
    """Features of all nodes at once; only the steps are a loop."""
    Z = features(X, xi)
    theta = np.zeros(2 * xi.shape[1])
    for i in order:
        theta += 2 * eta * (y[i] - theta @ Z[i]) * Z[i]
    return np.asarray(features(X_unknown, xi) @ theta)


LOOPS: dict[str, Callable[..., Array]] = {"literal": run_literal_loop, "careful": run_careful_loop}


def make_numpy_task(
    job: Job, variances: Sequence[float], loop: Callable[..., Array]
) -> Callable[[], Array]:
    """A function that computes GNMSE of the first repeat at some variances."""
    y = job.data.scale_values()
    draw = draw_repeat(job.data.n_nodes, FRACTION, 0, 0)
    A = job.data.adjacency[:, draw.known].toarray()
    X, X_unknown = A[draw.known], A[draw.unknown]
    names = FrequencyTable(draw.seed, job.n_frequencies, "gaussian", n_numbered=X.shape[1])
    unit = names.compute_frequencies(1.0)
    rng = np.random.default_rng([draw.seed, 1])
    order = np.concatenate([rng.permutation(X.shape[0]) for _ in range(N_EPOCHS)])
    true = y[draw.unknown]

    def run() -> Array:
        errors = []
        for sigma2 in variances:
            xi = unit / math.sqrt(sigma2)
            predicted = loop(X, y[draw.known], X_unknown, xi, order, job.learning_rate)
            errors.append(np.sum((true - predicted) ** 2) / np.sum(true**2))
        return np.array(errors)

    return run


def time_in_turns(tasks: Mapping[str, Callable[[], object]], n_turns: int) -> dict[str, Timing]:
    """Time tasks alternately, with few runs, since the literal loop is slow."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(n_turns):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}


class Compared(NamedTuple):
    """Seconds for one variance of a repeat, and the difference of GNMSE."""

    job: Job
    seconds: dict[str, float]
    apart: float

    def compute_ratio(self, name: str) -> float:
        """How many times as long a NumPy loop takes."""
        return self.seconds[name] / self.seconds["gradraker"]

    def format_cells(self) -> list[str]:
        """A line of the table."""
        return [
            self.job.data.name,
            str(self.job.data.n_nodes),
            str(self.job.n_frequencies),
            f"{1e3 * self.seconds['gradraker']:.3f} ms",
            *(f"{1e3 * self.seconds[name]:.1f} ms" for name in LOOPS),
            *(f"{self.compute_ratio(name):.0f}×" for name in LOOPS),
        ]


def compare(job: Any, *, n_repeats: int, n_turns: int) -> Compared:
    grid = np.geomspace(0.05, 500.0, N_VARIANCES)
    parts = [20] if job.data.n_nodes > 500 else [5, 20]
    loops = {name: make_numpy_task(job, grid[parts], loop) for name, loop in LOOPS.items()}  # type: ignore[arg-type]
    ours = job.sweep(n_repeats=1)[0, parts]  # compiles the loops
    apart = max(float(np.max(np.abs(ours - loop()))) for loop in loops.values())
    times = time_in_turns({"gradraker": lambda: job.sweep(n_repeats=n_repeats), **loops}, n_turns)
    seconds = {name: times[name].best / len(parts) for name in LOOPS}
    seconds["gradraker"] = times["gradraker"].best / (n_repeats * N_VARIANCES)
    return Compared(job, seconds, apart)


def compute_total_ratio(results: Sequence[Compared], name: str) -> float:
    """How many times as long a NumPy loop takes for all sweeps of the paper together."""

    def sum_seconds(who: str) -> float:
        return sum(found.job.n_repeats * found.seconds[who] for found in results)

    return sum_seconds(name) / sum_seconds("gradraker")


def list_jobs(tiny: bool) -> list[Job]:
    """The paper's sweeps on the available data."""
    found = [Job(datasets.load_temperature(), 200, 0.1, 50)]
    if tiny:
        return found
    found.append(Job(datasets.load_temperature(weighted=True, self_loops=False), 200, 0.1, 50))
    fetchers = (
        (datasets.fetch_cora_con, 888, 0.05, 30),
        (datasets.fetch_email_eu_core, 403, 0.05, 50),
        (_load_wikipedia, 500, 0.03, 50),
    )
    for fetch, *settings in fetchers:
        try:
            found.append(Job(fetch(), *settings))  # type: ignore[arg-type]
        except datasets.DatasetUnavailableError as error:
            print(f"left out: {error}")
    return found


def _load_wikipedia() -> GraphDataset:
    """The graph of Wikipedia-Math; visits are a separate download, so degrees are the values."""
    adjacency = datasets.fetch_wikipedia_math_graph()
    degrees = np.log1p(np.asarray(adjacency.sum(axis=0)).ravel())
    names = tuple(map(str, range(adjacency.shape[0])))
    return GraphDataset(adjacency, degrees, names, name="Wikipedia-Math")


def measure_growth(job: Job, *, n_repeats: int, n_turns: int) -> list[list[str]]:
    """How time grows with repeats, variances and D: seconds, and the ratio to the smallest."""

    def sweep(grown: str, factor: int) -> Callable[[], Array]:
        larger = {name: factor if name == grown else 1 for name in ("repeats", "variances", "D")}
        larger_job = job._replace(n_frequencies=larger["D"] * job.n_frequencies)
        return lambda: larger_job.sweep(
            n_repeats=larger["repeats"] * n_repeats, n_variances=larger["variances"] * N_VARIANCES
        )

    lines = []
    for name in ("repeats", "variances", "D"):
        times = time_in_turns({str(f): sweep(name, f) for f in (1, 2, 4)}, n_turns)
        first = times["1"].median
        cells = (f"{t.median:.3f} s ({t.median / first:.1f}×)" for t in times.values())
        lines.append([name, *cells])
    return lines


def _run_alone(loop: Callable[[int, int], None], n: int, _: int) -> None:
    loop(0, n)


def _keep_all_rows(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    every = np.arange(rows.indptr.size - 1)
    return every, every


# Parts of a repeat: the name in sweep/repeats.py, and a value that switches the part off.
PARTS: dict[str, tuple[str, object]] = {
    "threads": ("parallel_for", _run_alone),
    "equal rows once": ("group_equal_rows", _keep_all_rows),
    "features kept": ("KEPT_BYTES", 0),
    "dense search": ("DENSE_ENTRIES", 0),
}


def measure_savings(job: Job, *, n_repeats: int, n_turns: int) -> list[str]:
    """A line of the table: how many times as long a sweep takes without each part."""

    def run_without(name: str, value: object) -> Array:
        with mock.patch.object(repeats, name, value):
            return job.sweep(n_repeats=n_repeats)

    def run_with_file() -> Array:
        with tempfile.TemporaryDirectory() as folder:
            return job.sweep(n_repeats=n_repeats, checkpoint=Path(folder, "sweep.jsonl"))

    tasks: dict[str, Callable[[], Array]] = {"all": lambda: job.sweep(n_repeats=n_repeats)}
    for part, (name, value) in PARTS.items():
        tasks[part] = lambda name=name, value=value: run_without(name, value)  # type: ignore[misc]
    tasks["with a file"] = run_with_file
    times = time_in_turns(tasks, n_turns)
    whole = times.pop("all").best
    return [
        job.data.name,
        f"{1e3 * whole / n_repeats:.2f} ms",
        *(f"{one.best / whole:.2f}×" for one in times.values()),
    ]


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, "sweeps over the kernel variance")
    available = list_jobs(arguments.tiny)
    n_turns = 2 if arguments.tiny else 9 if arguments.full else 3
    n_repeats = 1 if arguments.tiny else 5
    results = [
        # Small graphs with as many repeats as in the paper, since they take little time.
        compare(job, n_repeats=50 if job.data.n_nodes < 500 else n_repeats, n_turns=n_turns)
        for job in available
    ]
    header = ["one variance of a repeat", "n", "D", "gradraker", *LOOPS, "ratio", "ratio, careful"]
    grown = measure_growth(available[-1], n_repeats=n_repeats, n_turns=n_turns)
    saved = [
        measure_savings(job, n_repeats=50 if job.data.n_nodes < 500 else n_repeats, n_turns=n_turns)
        for job in available
    ]
    tables = (
        table(header, [found.format_cells() for found in results]),
        table(["a repeat without", "time", *PARTS, "with a file"], saved),
        table([available[-1].data.name, "1", "2", "4 times as many"], grown),
    )
    start = time.perf_counter()
    for job in available:
        job.sweep(n_repeats=2 if arguments.tiny else job.n_repeats)
    whole = time.perf_counter() - start
    literally, carefully = (compute_total_ratio(results, name) for name in LOOPS)
    return finish(
        Report(
            "Sweeps over the kernel variance",
            (
                Finding("the paper's sweeps, ratio to the literal loop", literally, 50),
                Finding(
                    "smallest such ratio of a data set",
                    min(r.compute_ratio("literal") for r in results),
                ),
                Finding("the paper's sweeps, ratio to the careful loop", carefully),
                Finding("the paper's sweeps on data at hand", whole, 60, " s", at_most=True),
            ),
            (Agreement("GNMSE", max(found.apart for found in results), TOLERANCE),),
            tables,
            judged=not arguments.tiny,
        )
    )


if __name__ == "__main__":
    run_alone(main)
