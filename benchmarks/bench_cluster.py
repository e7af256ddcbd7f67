"""Node models on a Dask cluster of two processes, compared with one process.

Explains many nodes of a generated graph on the cluster and in one process, kills a worker during
the run, and sends independent fits to the workers by joblib. Results must be equal each time.

Run ``python benchmarks/bench_cluster.py [--full | --tiny]``.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import joblib
import numpy as np
from distributed import Client, LocalCluster

from bench_gpu import Graph, make_ring
from gradraker import NodeRegressor
from gradraker.dask import DaskNodeRegressor
from report import Agreement, Finding, Report, finish, options, run_alone, table

SETTINGS: dict[str, Any] = {
    "solver": "operators",
    "blocks": ("hop1", "hop4"),
    "width": 1.0,
    "alpha": 0.5,
}


def measure_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def fit_one(graph: Graph, alpha: float) -> Any:
    """One of many independent fits."""
    values = np.where(np.arange(graph.y.size) % 10 == 0, graph.y, np.nan)
    model = NodeRegressor(**SETTINGS | {"alpha": alpha})
    return model.fit(graph.A, values, kind="matrix").predict()


def measure(client: Client, n_nodes: int, n_explained: int) -> Report:
    graph = make_ring(n_nodes)
    values = np.where(np.arange(n_nodes) % 10 == 0, graph.y, np.nan)
    nodes = list(range(1, n_explained + 1))
    plain = NodeRegressor(**SETTINGS).fit(graph.A, values, kind="matrix")
    spread = DaskNodeRegressor(client=client, **SETTINGS).fit(graph.A, values, kind="matrix")
    spread.explain(nodes[:64])  # workers load the compiled loops
    alone, expected = measure_seconds(lambda: plain.explain(nodes))
    both, found = measure_seconds(lambda: spread.explain(nodes))
    victim = min(client.run(os.getpid).values())
    killer = threading.Timer(0.3 * both, os.kill, (victim, signal.SIGKILL))
    killer.start()
    lost, after = measure_seconds(lambda: spread.explain(nodes))
    killer.join()
    alphas = (0.1, 0.3, 1.0, 3.0)
    here, one_by_one = measure_seconds(lambda: [fit_one(graph, alpha) for alpha in alphas])
    with joblib.parallel_config(backend="dask", client=client):
        there, together = measure_seconds(
            lambda: joblib.Parallel()(joblib.delayed(fit_one)(graph, alpha) for alpha in alphas)
        )
    rows = [
        [f"{n_explained} nodes explained", f"{alone:.2f} s", f"{both:.2f} s"],
        ["the same, a worker killed", "", f"{lost:.2f} s"],
        [f"{len(alphas)} independent fits", f"{here:.2f} s", f"{there:.2f} s"],
    ]
    return Report(
        "Node models on a cluster of two processes",
        (
            Finding("explained nodes: how many times as fast as one process", alone / both),
            Finding("independent fits: how many times as fast as one process", here / there),
        ),
        (
            Agreement("explanations", _measure_apart(found.weights, expected.weights), 0.0),
            Agreement(
                "explanations, a worker killed",
                _measure_apart(after.weights, expected.weights),
                0.0,
            ),
            Agreement("independent fits", _measure_apart(together, one_by_one), 0.0),
        ),
        (table(["work", "one process", "cluster"], rows),),
    )


def _measure_apart(one: Any, other: Any) -> float:
    return float(np.abs(np.asarray(one) - np.asarray(other)).max())


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    n_nodes, n_explained = (2000, 128) if arguments.tiny else (20_000, 640)
    if arguments.full:
        n_nodes = 100_000
    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        report = measure(client, n_nodes, n_explained)
    if arguments.tiny:
        report = Report(
            report.title, report.findings, report.agreements, report.tables, judged=False
        )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
