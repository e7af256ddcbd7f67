"""Edges from a CSV file: ours compared with NumPy, pandas and networkx, and one large file.

Run ``python benchmarks/bench_readers.py``; ``--full`` reads 10⁷ edges instead of 10⁶.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from gradraker import adjacency_vectors, read_edges
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    Stopwatch,
    finish,
    interleaved,
    options,
    ratio,
    run_alone,
    table,
)


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    n_part = 1_000 if arguments.tiny else 100_000
    n_whole = 2_000 if arguments.tiny else 10_000_000 if arguments.full else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        part = _write(Path(folder, "part.csv"), n_part)
        ratios, agreements, peers = _compare_with_others(part, arguments.tiny)
        whole = _write(Path(folder, "whole.csv"), n_whole)
        seconds, stages = _measure_whole(whole, n_whole)
    report = Report(
        f"Readers: {n_part} edges against others, {n_whole} edges to the end",
        findings=(*ratios, *seconds),
        agreements=tuple(agreements),
        tables=(peers, stages),
        judged=not arguments.tiny,
    )
    return finish(report)


def _write(path: Path, n_edges: int) -> Path:
    """Write a CSV file of weighted edges, with a tenth as many nodes as edges."""
    rng = np.random.default_rng(SEED)
    n_nodes = max(n_edges // 10, 10)
    edges = pd.DataFrame(
        {
            "source": rng.integers(0, n_nodes, n_edges),
            "target": rng.integers(0, n_nodes, n_edges),
            "weight": rng.random(n_edges).round(6),
        }
    )
    edges.to_csv(path, index=False)
    return path


def _compare_with_others(path: Path, tiny: bool) -> tuple[list[Finding], list[Agreement], str]:
    def read_with_networkx() -> nx.DiGraph:
        with path.open("rb") as file:
            next(file)  # the header
            return nx.read_weighted_edgelist(
                file, delimiter=",", create_using=nx.DiGraph, nodetype=int
            )

    tasks = {
        "numpy.loadtxt": lambda: np.loadtxt(path, delimiter=",", skiprows=1),
        "pandas.read_csv": lambda: pd.read_csv(path),
        "networkx.read_weighted_edgelist": read_with_networkx,
        "gradraker": lambda: read_edges(path),
    }
    times = interleaved(tasks, tiny=tiny)
    ours = times["gradraker"]
    findings = [
        Finding(f"reading against {name}", ratio(timing, ours))
        for name, timing in times.items()
        if name != "gradraker"
    ]
    found = adjacency_vectors(read_edges(path), duplicates="last")
    others = {
        "numpy.loadtxt": adjacency_vectors(tasks["numpy.loadtxt"](), duplicates="last"),  # type: ignore[no-untyped-call]
        "pandas.read_csv": adjacency_vectors(tasks["pandas.read_csv"](), duplicates="last"),  # type: ignore[no-untyped-call]
        "networkx": adjacency_vectors(
            read_with_networkx(), nodes=found.nodes, references=found.references
        ),
    }
    agreements = [
        Agreement(f"rows as from {name}", float(abs(found.rows - other.rows).sum()), 0.0)
        for name, other in others.items()
    ]
    shown = table(
        ["", "ms", "against gradraker"],
        [
            [name, f"{1e3 * timing.median:.1f}", f"{timing.median / ours.median:.2f}"]
            for name, timing in times.items()
        ],
    )
    return findings, agreements, shown


def _measure_whole(path: Path, n_edges: int) -> tuple[list[Finding], str]:
    watch = Stopwatch()
    edges = watch.time("read_edges", lambda: read_edges(path))
    watch.time("adjacency_vectors", lambda: adjacency_vectors(edges))
    megabytes = path.stat().st_size / 1e6
    rows = [[stage, f"{seconds:.2f}"] for stage, seconds in watch.stages.items()]
    total = sum(watch.stages.values())
    rows.append([f"{n_edges} edges, {megabytes:.0f} MB", f"{total:.2f}"])
    finding = Finding(
        "CSV to adjacency vectors, for 10⁷ edges", total * 1e7 / n_edges, 10.0, " s", at_most=True
    )
    return [finding], table(["", "seconds"], rows)


if __name__ == "__main__":
    run_alone(main)
