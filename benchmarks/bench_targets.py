"""Several targets: one kernel for all of them, or one per target.

A model with K targets chooses one kernel and solves once; K models choose K kernels. Known nodes
and targets are those of ``bench_attributes.py``: the four of london, 30 % known, and of election,
60 % known, without attributes. Missing folders under ``$GRADRAKER_DATA`` are skipped.

Run ``GRADRAKER_DATA=folder python benchmarks/bench_targets.py --full``.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench_attributes import ELECTION, LONDON, Task, list_values, make_tiny, score
from gradraker import NodeRegressor
from report import Agreement, Finding, Report, finish, options, run_alone, table


def list_data(*, tiny: bool, full: bool) -> Iterator[tuple[str, list[Task]]]:
    """Targets of each available data set."""
    if tiny:
        task = next(make_tiny())
        yield "made", [task._replace(name="y"), task._replace(name="−y", y=-task.y)]
        return
    root = Path(os.environ.get("GRADRAKER_DATA", "data"))
    kinds: Sequence[tuple[str, Mapping[str, float], float]] = (
        ("london", LONDON, 0.3),
        ("election", ELECTION, 0.6),
    )
    for name, aims, part in kinds:
        if (root / name).is_dir():
            yield name, list(list_values(root / name, aims, 4 if full else 1, part))
        else:
            print(f"{name} is not in {root}: left out", file=sys.stderr)


def measure(tasks: Sequence[Task]) -> tuple[list[float], list[float], float]:
    """R² of each target together and apart, and the ratio of the times, apart over together."""
    together, apart = np.zeros(len(tasks)), np.zeros(len(tasks))
    seconds = np.zeros(2)
    for known, unknown in tasks[0].splits:
        values = np.full((tasks[0].y.size, len(tasks)), np.nan)
        values[known] = np.column_stack([task.y[known] for task in tasks])
        start = time.perf_counter()
        predictions = NodeRegressor().fit(tasks[0].A, values).predict(unknown)
        seconds[0] += time.perf_counter() - start
        together += [score(task, unknown, p) for task, p in zip(tasks, predictions.T, strict=True)]
        start = time.perf_counter()
        own = [NodeRegressor().fit(task.A, v) for task, v in zip(tasks, values.T, strict=True)]
        found = [model.predict(unknown) for model in own]
        seconds[1] += time.perf_counter() - start
        apart += [score(task, unknown, p) for task, p in zip(tasks, found, strict=True)]
    n = len(tasks[0].splits)
    return (together / n).tolist(), (apart / n).tolist(), float(seconds[1] / seconds[0])


def check_scale() -> Agreement:
    """Targets that differ in sign have predictions that differ in sign."""
    (_, (task, _)), *_ = list_data(tiny=True, full=False)
    known = task.splits[0][0]
    values = np.full((task.y.size, 2), np.nan)
    values[known] = np.column_stack([task.y[known], -task.y[known]])
    found = NodeRegressor().fit(task.A, values).predict()
    return Agreement("a target and its negative", float(np.abs(found.sum(axis=1)).max()), 1e-8)


def main(argv: Sequence[str] | None = None) -> Report:
    """Measure, print and return the report."""
    arguments = options(argv, __doc__)
    rows, findings = [], []
    for name, tasks in list_data(tiny=arguments.tiny, full=arguments.full):
        together, apart, ratio = measure(tasks)
        for task, one, other in zip(tasks, together, apart, strict=True):
            rows.append([task.name, f"{one:.3f}", f"{other:.3f}"])
        findings.append(Finding(f"{name}: time apart over together", ratio, None, "x"))
    report = Report(
        "Several targets, together and apart",
        tuple(findings),
        (check_scale(),),
        (table(["R²", "together", "apart"], rows),),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
