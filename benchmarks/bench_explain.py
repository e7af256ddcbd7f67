"""Contribution weights: the adjoint pass compared with the paper's recursion and its B matrix.

Cora-Con as in the paper: 40 % of the 2222 papers are known and are the referencing nodes,
D = 888, E = 3, so T = 2667 training steps; one unknown node, and 500. The recursion is a direct
NumPy implementation: B by one matrix product, then a loop over times with the product of a vector
and a vector (for 500 nodes: a matrix). Without the files of Cora, a random graph with as many nodes
and edges is used.

Many papers cite the same few, and equal rows are computed once; "no equal rows" has none.

Run ``python benchmarks/bench_explain.py``.
"""

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker import SKGRegressor
from gradraker.datasets import fetch_cora_con, split_nodes
from gradraker.exceptions import DatasetUnavailableError
from gradraker.explain import contribution_weights
from graphs import power_law_graph
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

# σ²_ed of the paper for Cora-Con, and its learning rate.
SIGMA2, LEARNING_RATE, N_EPOCHS = 1.05, 0.05, 3


@dataclass(frozen=True)
class Work:
    """Features of known and unknown nodes, and the order of training."""

    name: str
    Z: NDArray[np.float64]  # [n, 2D]
    order: NDArray[np.int64]  # [T]
    stars: NDArray[np.float64]  # [m, 2D]

    def take_first(self, n: int) -> "Work":
        """The first n unknown nodes only."""
        return Work(self.name, self.Z, self.order, self.stars[:n])


def load_citations() -> tuple[str, csr_array]:
    try:
        return "Cora-Con", fetch_cora_con(download=False).adjacency
    except DatasetUnavailableError:
        graph = power_law_graph(2222, 3749, np.random.default_rng(SEED))
        return "a random graph of the size of Cora-Con", graph


def make_work(name: str, graph: csr_array, n_frequencies: int, n_unknown: int) -> Work:
    rng = np.random.default_rng(SEED)
    known, unknown = split_nodes(graph.shape[0], 0.4, rng)
    X, X_unknown = graph[known][:, known], graph[unknown[:n_unknown]][:, known]
    model = SKGRegressor(
        sigma2=SIGMA2, n_frequencies=n_frequencies, n_epochs=1, random_state=SEED
    ).fit(X, np.zeros(X.shape[0]))
    order = np.concatenate([rng.permutation(X.shape[0]) for _ in range(N_EPOCHS)])
    return Work(name, model.features(X), order, model.features(X_unknown))


def make_random_work(work: Work) -> Work:
    """Random features of the same sizes."""
    rng = np.random.default_rng(SEED)

    def features(shape: tuple[int, ...]) -> Any:
        angles = rng.uniform(0.0, 2.0 * np.pi, (shape[0], shape[1] // 2))
        return np.hstack((np.sin(angles), np.cos(angles))) / np.sqrt(angles.shape[1])

    return Work("no equal rows", features(work.Z.shape), work.order, features(work.stars.shape))


def compute_by_recursion(work: Work) -> NDArray[np.float64]:
    """Equation (fijdef): B of all times and unknown nodes, then F from the last time backwards."""
    n_steps = work.order.size
    Z_all = np.vstack((work.Z[work.order], work.stars))  # [T + m, 2D]
    B = 2.0 * LEARNING_RATE * (Z_all[:n_steps] @ Z_all.T)  # [T, T + m]
    if work.stars.shape[0] == 1:
        F = np.empty(n_steps)
        for i in range(n_steps - 1, -1, -1):
            F[i] = B[i, n_steps] - B[i, i + 1 : n_steps] @ F[i + 1 :]
        return F[np.newaxis]
    F = np.empty((n_steps, work.stars.shape[0]))
    for i in range(n_steps - 1, -1, -1):
        F[i] = B[i, n_steps:] - B[i, i + 1 : n_steps] @ F[i + 1 :]
    return F.T


def compute_by_adjoint(work: Work) -> NDArray[np.float64]:
    return contribution_weights(work.Z, work.order, work.stars, LEARNING_RATE)


def measure_peak_megabytes(task: Callable[[], object]) -> float:
    """Peak memory of a task, beyond its input."""
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    if arguments.tiny:
        graph = power_law_graph(100, 200, np.random.default_rng(SEED))
        work = make_work("a small random graph", graph, 20, 10)
    else:
        work = make_work(*load_citations(), 888, 500)
    cases = {
        "1 tested node": (work.take_first(1), 30.0),
        f"{work.stars.shape[0]} tested nodes": (work, 10.0),
        f"{work.stars.shape[0]}, no equal rows": (make_random_work(work), None),
    }
    findings, agreements, lines = [], [], []
    for name, (case, aim) in cases.items():
        tasks = {
            "slow": lambda case=case: compute_by_recursion(case),
            "fast": lambda case=case: compute_by_adjoint(case),
        }
        times = interleaved(tasks, tiny=arguments.tiny)
        memory = {side: measure_peak_megabytes(task) for side, task in tasks.items()}
        sides = (milliseconds(times[side].median) for side in tasks)
        lines.append([name, *sides, *(f"{memory[side]:.1f} MB" for side in tasks)])
        findings.append(Finding(name, ratio(times["slow"], times["fast"]), aim))
        apart = float(abs(compute_by_recursion(case) - compute_by_adjoint(case)).max())
        agreements.append(Agreement(f"weights, {name}", apart, 1e-12))
    header = ["", "recursion", "gradraker", "peak memory", "peak memory"]
    n, width = work.Z.shape
    title = f"Contribution weights: {work.name}, T = {work.order.size}, D = {width // 2}"
    distinct = f"{n} known nodes, {len(np.unique(work.Z, axis=0))} of them with different rows"
    return finish(
        Report(
            title,
            findings=tuple(findings),
            agreements=tuple(agreements),
            tables=(table(header, lines), distinct),
            judged=not arguments.tiny,
        )
    )


if __name__ == "__main__":
    run_alone(main)
