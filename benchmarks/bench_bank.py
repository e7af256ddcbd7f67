"""A bank of kernels: its cost in fits of one kernel, and its errors.

Members of a bank share the draws and the projections; sines, cosines and the sequential pass
are each member's own. The cost of a bank of P = 16 variances is compared with one fit of
``SKGRegressor`` on the same rows, in CPU seconds, which other programs on the machine change
little, and in wall-clock seconds: members run on all cores, while one fit is sequential
for most of its time. Results must equal those of 16 fits with the weights computed outside.

The second table shows the paper's point on the available data sets: GNMSE of one kernel at
σ²_ed, of banks with suitable kernels, and of banks without any; and, in the last column, of
the bank of the ranges if later epochs did not change its weights.

Run ``python benchmarks/bench_bank.py [--full]`` (with GRADRAKER_DATA set for Email and Cora-Con).
"""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bench_fit import Work, make_work
from gradraker import GradrakerRegressor, SKGRegressor, gnmse, sigma2_ranges
from gradraker.datasets import GraphDataset, split_nodes
from gradraker.linear.hedge import Hedge
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    finish,
    interleaved,
    milliseconds,
    options,
    ratio,
    run_alone,
    table,
)
from signals import data_sets

N_MEMBERS, LEARNING_RATE = 16, 0.1
# Nodes, neighbours, D and epochs: the size of Email-Eu-core, denser, and the one of bench_fit.py.
SIZES = ((402, 25, 403, 3), (2000, 50, 200, 3), (2000, 5, 1000, 1), (2000, 5, 1000, 3))
TINY_SIZES = ((60, 5, 30, 3), (60, 5, 30, 1))
METHODS = ("one at σ²_ed", "bank, ranges", "bank, 16", "bank, chaos", "bank, averaging")
FIRST_EPOCH = "ranges, first epoch"


def list_variances(n_members: int) -> list[float]:
    return [float(sigma2) for sigma2 in np.geomspace(0.1, 100.0, n_members)]


def fit_bank(work: Work, n_members: int, n_epochs: int) -> GradrakerRegressor:
    return GradrakerRegressor(
        kernels=list_variances(n_members),
        n_frequencies=work.n_frequencies,
        learning_rate=LEARNING_RATE,
        n_epochs=n_epochs,
        random_state=SEED,
    ).fit(work.X, work.y)


def fit_single(work: Work, sigma2: float, n_epochs: int) -> SKGRegressor:
    return SKGRegressor(
        sigma2=sigma2,
        n_frequencies=work.n_frequencies,
        learning_rate=LEARNING_RATE,
        n_epochs=n_epochs,
        random_state=SEED,
    ).fit(work.X, work.y)


# -- cost ----------------------------------------------------------------------


def measure_cost(size: tuple[int, int, int, int], *, tiny: bool) -> tuple[list[str], float]:
    """A line of the table, and the CPU time of a bank of 16 in fits of one kernel."""
    n_nodes, degree, n_frequencies, n_epochs = size
    work = make_work(n_nodes, degree, n_frequencies)
    tasks = {
        "one": lambda: fit_single(work, 2.0, n_epochs),
        "4": lambda: fit_bank(work, 4, n_epochs),
        "16": lambda: fit_bank(work, N_MEMBERS, n_epochs),
    }
    clock = interleaved(tasks, tiny=tiny)
    used = measure_cpu_seconds(tasks, 2 if tiny else 9)
    label = f"{n_nodes} nodes, {degree} neighbours, D = {n_frequencies}, E = {n_epochs}"
    fits = used["16"] / used["one"]
    cells = [
        *(milliseconds(seconds) for seconds in used.values()),
        f"{used['4'] / used['one']:.1f}",
        f"{fits:.1f}",
        f"{ratio(clock['16'], clock['one']):.1f}",
    ]
    return [label, *cells], fits


def measure_cpu_seconds(
    tasks: Mapping[str, Callable[[], object]], repeats: int
) -> dict[str, float]:
    """Median CPU time of each task, all threads together, in alternating runs."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            seconds[name].append(time.process_time() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}


def check_agreements(work: Work) -> list[Agreement]:
    """A bank compared with separate fits, with the weights computed from their predictions."""
    model = fit_bank(work, N_MEMBERS, 3)
    fits = [fit_single(work, sigma2, 3) for sigma2 in list_variances(N_MEMBERS)]
    apart = max(float(abs(f.coef_ - c).max()) for f, c in zip(fits, model.coef_, strict=True))
    losses = np.array([compute_member_losses(work, sigma2) for sigma2 in list_variances(N_MEMBERS)])
    hedge = Hedge(N_MEMBERS, "auto", 0.0)
    zeros = np.zeros_like(losses)
    hedge.update(np.sqrt(losses)[:, :, np.newaxis], zeros, zeros[:1].T, keep_weights=False)
    predictions = hedge.compute_member_weights() @ [f.predict(work.X) for f in fits]
    return [
        Agreement("coef_ of 16 fits", apart, 0.0),
        Agreement(
            "predictions of 16 fits, weighed outside",
            float(abs(predictions - model.predict(work.X)).max() / abs(predictions).max()),
            1e-10,
        ),
    ]


def compute_member_losses(work: Work, sigma2: float) -> NDArray[np.float64]:
    """Squared errors of a member before each training step, row by row."""
    n = work.y.size
    model = fit_single(work, sigma2, 3)
    Z, theta = model.features(work.X), np.zeros(2 * work.n_frequencies)
    rng = np.random.default_rng([SEED, 1])
    errors = []
    for i in np.concatenate([rng.permutation(n) for _ in range(3)]):
        error = work.y[i] - theta @ Z[i]
        theta += 2.0 * LEARNING_RATE * error * Z[i]
        errors.append(error**2)
    return np.array(errors)


# -- errors -----------------------------------------------------------------------


def choose_kernels(data: GraphDataset, known: NDArray[np.int64], D: int) -> dict[str, object]:
    """The kernels of each method, placed by the ranges of the known nodes."""
    ranges = sigma2_ranges(data.adjacency[known][:, known], n_frequencies=D)
    ce, ed = ranges.chaos_extending, ranges.extending_disturbing
    da = ranges.disturbing_averaging
    # Five of each, as "ranges" has.
    kernels = ([ed], "ranges", np.geomspace(ce, da, 16), np.geomspace(ce / 100, ce / 2, 5))
    return dict(zip(METHODS, (*kernels, np.geomspace(10 * da, 1000 * da, 5)), strict=True))


def measure_errors(
    data: GraphDataset, n_frequencies: int, learning_rate: float, n_repeats: int
) -> dict[str, float]:
    """Mean GNMSE of each method on unknown nodes over splits, with 40 % of the nodes known."""
    y = data.scale_values()
    errors = np.empty((n_repeats, len(METHODS) + 1))
    for repeat in range(n_repeats):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(repeat))
        rows, unknown_rows = data.adjacency[known][:, known], data.adjacency[unknown][:, known]
        kernels = choose_kernels(data, known, n_frequencies)
        for column, method in enumerate(METHODS):
            model = GradrakerRegressor(
                kernels=kernels[method],
                n_frequencies=n_frequencies,
                learning_rate=learning_rate,
                random_state=repeat,
            ).fit(rows, y[known])
            errors[repeat, column] = gnmse(y[unknown], model.predict(unknown_rows))
            if method == "bank, ranges":
                # The first epoch is the same for every number of epochs.
                early = clone(model).set_params(n_epochs=1).fit(rows, y[known]).kernel_weights_
                errors[repeat, -1] = gnmse(y[unknown], early @ model.predict_members(unknown_rows))
    return dict(zip((*METHODS, FIRST_EPOCH), errors.mean(axis=0).tolist(), strict=True))


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__.splitlines()[0])
    costs = [
        measure_cost(size, tiny=arguments.tiny)
        for size in (TINY_SIZES if arguments.tiny else SIZES)
    ]
    n_repeats = 2 if arguments.tiny else 50 if arguments.full else 20
    found = {
        data.name: measure_errors(data, D, rate, n_repeats)
        for data, D, rate in data_sets(arguments.tiny)
    }
    columns = (*METHODS, FIRST_EPOCH)
    lines = [[name, *(f"{row[m]:.4f}" for m in columns)] for name, row in found.items()]
    against = {
        method: [row[method] / row[METHODS[0]] for row in found.values()] for method in columns
    }
    report = Report(
        f"A bank of {N_MEMBERS} kernels against one",
        findings=(
            *(
                Finding(
                    f"16 kernels: {line[0]}", fits, round(N_MEMBERS / 3, 2), " fits", at_most=True
                )
                for line, fits in costs
            ),
            *(
                Finding(f"GNMSE over that of one at σ²_ed, average: {method}", np.mean(ratios))  # type: ignore[arg-type]
                for method, ratios in against.items()
                if method != METHODS[0]
            ),
        ),
        agreements=tuple(check_agreements(make_work(60, 5, 30))),
        tables=(
            "Processor time, and the clock's\n"
            + table(
                ["", "one kernel", "4", "16", "4 in fits", "16 in fits", "16, clock"],
                [line for line, _ in costs],
            ),
            f"GNMSE of unknown nodes, mean of {n_repeats} splits\n" + table(["", *columns], lines),
        ),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
