"""A large power-law graph: time, its growth with size, and peak memory.

D = 256, one epoch, ten edges per node. Short: 10⁴ and 10⁵ nodes; ``--full``: 10⁵ and 10⁶ nodes.
Each size is fitted in a separate process, which loads the graph from a file, so that memory for
making the graph does not count. The memory counted is the peak above the process with the graph
and the values loaded, minus the table of frequencies.

Run ``python benchmarks/bench_large.py --full``.
"""

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker import SKGRegressor
from graphs import power_law_graph
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

N_FREQUENCIES, DEGREE, SIGMA2, LEARNING_RATE = 256, 10, 10.0, 0.1
GIGABYTE = 1e9


@dataclass(frozen=True)
class Fit:
    """Measurements of one process."""

    n_nodes: int
    n_edges: int
    seconds: float  # the best of the repeats
    graph_bytes: int
    frequency_bytes: int
    extra_bytes: int  # peak above the process with graph and frequencies
    difference: float  # from a NumPy loop over the same rows


def make_model(*, shuffle: bool = True) -> SKGRegressor:
    return SKGRegressor(
        sigma2=SIGMA2,
        n_frequencies=N_FREQUENCIES,
        learning_rate=LEARNING_RATE,
        n_epochs=1,
        shuffle=shuffle,
        random_state=SEED,
    )


def write_graph(path: Path, n_nodes: int) -> None:
    rng = np.random.default_rng(SEED)
    X = power_law_graph(n_nodes, DEGREE * n_nodes, rng)
    y = np.log1p(X @ rng.random(n_nodes))
    np.savez(path, indptr=X.indptr, indices=X.indices, data=X.data, y=y)


def measure(path: Path, repeats: int) -> Fit:
    """Fit the graph in a file; to be called in a fresh process."""
    with np.load(path) as file:
        indptr, indices, data, y = (file[name] for name in ("indptr", "indices", "data", "y"))
    n = y.size
    X = csr_array((data, indices, indptr), shape=(n, n))
    before = _measure_memory()
    make_model().fit(X[:50], y[:50])  # loads the compiled loops
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        make_model().fit(X, y)
        seconds.append(time.perf_counter() - start)
    peak = _measure_peak_memory()
    frequency_bytes = 4 * n * N_FREQUENCIES
    return Fit(
        n_nodes=n,
        n_edges=int(indices.size),
        seconds=min(seconds),
        graph_bytes=indptr.nbytes + indices.nbytes + data.nbytes + y.nbytes,
        frequency_bytes=frequency_bytes,
        extra_bytes=max(1, peak - before - frequency_bytes),
        difference=_compare_with_loop(X, y),
    )


def _compare_with_loop(X: csr_array, y: Any) -> float:
    """Train on some rows by a literal loop, and compare the parameters."""
    part = X[:200]
    model = make_model(shuffle=False).fit(part, y[:200])
    # The same nodes without the others: their names give them the same frequencies.
    used = np.unique(part.indices)
    part = part[:, used]
    frequencies = make_model().fit(part, y[:200], references=used).frequencies_  # [used, D]
    theta = np.zeros(2 * N_FREQUENCIES)
    for n in range(part.shape[0]):
        row = part[[n]]
        projection = row.data @ frequencies[row.indices]
        z = np.concatenate((np.sin(projection), np.cos(projection))) / math.sqrt(N_FREQUENCIES)
        theta += 2.0 * LEARNING_RATE * (y[n] - theta @ z) * z
    return float(abs(model.coef_ - theta).max() / abs(theta).max())


def _measure_memory() -> int:
    """Bytes of memory that the process holds now."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
    return _measure_peak_memory()  # the peak so far is the current memory


def _measure_peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def run_in_fresh_process(n_nodes: int, repeats: int) -> Fit:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        write_graph(path, n_nodes)
        command = [sys.executable, __file__, "--measure", str(path), str(repeats)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Fit(**json.loads(run.stdout))


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    if arguments.tiny:
        sizes, repeats = (300, 900), 1
    else:
        sizes, repeats = ((100_000, 1_000_000) if arguments.full else (10_000, 100_000)), 3
    fits = [run_in_fresh_process(n_nodes, repeats) for n_nodes in sizes]
    small, large = fits
    growth, more = large.seconds / small.seconds, large.n_nodes / small.n_nodes
    exponent = f"Time grows like nodes to the power of {math.log(growth) / math.log(more):.2f}."
    extra = large.extra_bytes / GIGABYTE
    report = Report(
        f"Large graphs: {DEGREE} edges per node, power law, D = {N_FREQUENCIES}, one epoch",
        findings=(
            Finding(f"seconds for {large.n_nodes} nodes", large.seconds, unit=" s"),
            Finding(f"time of {more:g}× the nodes", growth),
            Finding("memory above graph and frequencies", extra, 1.0, " GB", at_most=True),
        ),
        agreements=tuple(
            Agreement(f"coef_ of a NumPy loop, {fit.n_nodes} nodes", fit.difference, 1e-10)
            for fit in fits
        ),
        tables=(format_sizes(fits), exponent),
        judged=not arguments.tiny,
    )
    return finish(report)


def format_sizes(fits: Sequence[Fit]) -> str:
    rows = [
        [
            f"{fit.n_nodes}",
            f"{fit.n_edges}",
            f"{fit.seconds:.3f} s",
            f"{1e6 * fit.seconds / fit.n_nodes:.2f} µs",
            f"{1e-6 * fit.graph_bytes:.0f} MB",
            f"{1e-6 * fit.frequency_bytes:.0f} MB",
            f"{1e-6 * fit.extra_bytes:.0f} MB",
        ]
        for fit in fits
    ]
    return table(["nodes", "edges", "fit", "per node", "graph", "frequencies", "peak above"], rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(asdict(measure(Path(sys.argv[2]), int(sys.argv[3])))))
    else:
        run_alone(main)
