"""Exact extreme distances of rows: graphs up to a million nodes, dense rows, and all pairs.

Run ``python benchmarks/bench_distances.py``; ``--full`` adds 20 000 dense rows of 1 000 columns.
Times exclude making the data and compiling.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from gradraker.kernels.distances.extremes import (
    PairDistance,
    extreme_squared_distances,
    find_largest_distance,
    find_smallest_nonzero_distance,
)
from graphs import power_law_graph
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    Timing,
    finish,
    options,
    ratio,
    run_alone,
    table,
)

DEGREE = 10
HEADER = ("rows", "weights", "distance", "time", "pairs compared", "of all", "by")


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    rng = np.random.default_rng(SEED)
    sizes = (200, 400, 800) if arguments.tiny else (10_000, 100_000, 1_000_000)
    dense_shape = (
        (100, 20) if arguments.tiny else (20_000, 1_000) if arguments.full else (5_000, 1_000)
    )
    repeats = 1 if arguments.tiny else 3
    _compile(rng)

    graphs = {n: power_law_graph(n, DEGREE * n, rng) for n in sizes}
    rows, times = [], {}
    for n, graph in graphs.items():
        weighted = graph.copy()
        weighted.data = rng.random(graph.nnz)
        for weights, X in (("none", graph), ("random", weighted)):
            for search in (find_largest_distance, find_smallest_nonzero_distance):
                times[n, weights, search], found = _time(lambda s=search, x=X: s(x), repeats)  # type: ignore[misc]
                rows.append(_format_line(n, weights, search, times[n, weights, search], found))
    all_pairs, agreements = _compare_all_pairs(graphs[sizes[0]])
    dense_rows, dense, processor = _measure_dense(dense_shape, rng)

    last = [
        times[sizes[-1], "none", s] for s in (find_largest_distance, find_smallest_nonzero_distance)
    ]
    growth = [
        f"{name}: time grows like n^{_compute_exponent(times, sizes, search):.2f} "
        f"from {sizes[0]} to {sizes[-1]} nodes"
        for name, search in (
            ("largest", find_largest_distance),
            ("smallest", find_smallest_nonzero_distance),
        )
    ]
    report = Report(
        f"Extreme distances: power-law graphs, {DEGREE} edges per node, and dense rows",
        findings=(
            Finding(f"largest, {sizes[-1]} nodes", last[0].median, 1.0, " s", at_most=True),
            Finding(f"smallest nonzero, {sizes[-1]} nodes", last[1].median, unit=" s"),
            Finding(
                f"both against all pairs by scikit-learn, {sizes[0]} nodes",
                ratio(all_pairs, _add_medians(times, sizes[0])),
            ),
            Finding(
                "both, {} dense rows of {} columns".format(*dense_shape),
                dense.median,
                10.0,
                " s",
                at_most=True,
            ),
            # On a shared machine this separates work from waiting.
            Finding("the same, processor time over all cores", processor, unit=" s"),
        ),
        agreements=tuple(agreements),
        tables=(table(HEADER, rows + dense_rows), "\n".join(growth)),
        judged=not arguments.tiny,
    )
    return finish(report)


def _compile(rng: np.random.Generator) -> None:
    """Compile every path by a call on a little data."""
    graph = power_law_graph(300, 3000, rng)
    weighted = graph.copy()
    weighted.data = rng.random(graph.nnz)
    for X in (graph, weighted, rng.random((1500, 20))):
        extreme_squared_distances(X)


def _time(task: Callable[[], Any], repeats: int) -> tuple[Timing, Any]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return Timing(tuple(seconds)), result


def _format_line(
    n: int, weights: str, search: Any, timing: Timing, found: PairDistance
) -> list[str]:
    share = found.pairs_checked / (n * (n - 1) / 2)
    name = search.__name__.removeprefix("find_").removesuffix("_distance").replace("_", " ")
    checked = f"{found.pairs_checked}"
    return [f"{n}", weights, name, f"{timing.median:.3f} s", checked, f"{share:.0e}", found.method]


def _compute_exponent(times: dict[Any, Timing], sizes: Sequence[int], search: Any) -> float:
    first, last = (times[n, "none", search].median for n in (sizes[0], sizes[-1]))
    return math.log(last / first) / math.log(sizes[-1] / sizes[0])


def _add_medians(times: dict[Any, Timing], n: int) -> Timing:
    both = (
        times[n, "none", s].median for s in (find_largest_distance, find_smallest_nonzero_distance)
    )
    return Timing((sum(both),))


def _compare_all_pairs(graph: Any) -> tuple[Timing, list[Agreement]]:
    """Both extremes from all pairs, in blocks of rows; exact, because entries are 0 or 1."""

    def search() -> tuple[float, float]:
        smallest, largest = math.inf, 0.0
        for start in range(0, graph.shape[0], 1000):
            block = euclidean_distances(graph[start : start + 1000], graph, squared=True)
            smallest = min(smallest, float(block[block > 0.5].min(initial=math.inf)))
            largest = max(largest, float(block.max()))
        return smallest, largest

    timing, (smallest, largest) = _time(search, 1)
    found = extreme_squared_distances(graph)
    assert found.smallest_nonzero is not None
    return timing, [
        Agreement("largest and all pairs", abs(found.largest - largest), 0.0),
        Agreement("smallest nonzero and all pairs", abs(found.smallest_nonzero - smallest), 0.0),
    ]


def _measure_dense(
    shape: tuple[int, int], rng: np.random.Generator
) -> tuple[list[list[str]], Timing, float]:
    X = rng.standard_normal(shape)  # equal spread in all directions: bounds rule out little
    used = time.process_time()
    timing, found = _time(lambda: extreme_squared_distances(X), 1)
    used = time.process_time() - used
    share = found.pairs_checked / (shape[0] * (shape[0] - 1) / 2)
    line = [f"{shape[0]}", f"dense, {shape[1]}", "both", f"{timing.median:.3f} s"]
    return [[*line, f"{found.pairs_checked}", f"{share:.0e}", found.methods[1]]], timing, used


if __name__ == "__main__":
    run_alone(main)
