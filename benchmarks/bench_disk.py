"""Edges larger than memory: read in parts into a folder, then a fit that streams over it.

Generated graphs of 10⁶ and 10⁷ edges (``--full``: 10⁸ among 10⁷ nodes) in Parquet files of 4·10⁶
edges, with whole-number names. A fresh process reads them, fits a model of neighbours in common and
predicts all nodes, while a thread records its anonymous memory (RssAnon of /proc: files mapped into
memory are not counted, since the system may drop them at any time).

Run ``python benchmarks/bench_disk.py --full``.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gradraker import NodeRegressor, read_edges
from gradraker.features.engines.disk import DiskEngine
from gradraker.models.walks.operators.disk_walk import build_disk_walk
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

EDGES_PER_FILE = 4_000_000
AIM = 1.5  # GB of anonymous memory with 10⁸ edges
SETTINGS: dict[str, Any] = {"blocks": ("hop1",), "width": 1.0, "alpha": 0.5}


def read_anonymous() -> int:
    """Bytes of anonymous memory of this process."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


class Watch:
    """The largest anonymous memory of each stage."""

    def __init__(self) -> None:
        self.stage, self.peaks, self.seconds = "start", dict[str, int](), dict[str, float]()
        self._began = time.perf_counter()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.note()
            time.sleep(0.02)

    def note(self) -> None:
        """Record the current memory."""
        self.peaks[self.stage] = max(self.peaks.get(self.stage, 0), read_anonymous())

    def enter(self, stage: str) -> None:
        """End a stage and begin another."""
        self.note()
        self.seconds[self.stage] = time.perf_counter() - self._began
        self.stage, self._began = stage, time.perf_counter()


def write_parts(folder: Path, n_nodes: int, n_edges: int) -> None:
    """Edges to nodes that are near on a ring of shuffled names."""
    rng = np.random.default_rng(SEED)
    names = rng.permutation(n_nodes).astype(np.int32)
    for number, start in enumerate(range(0, n_edges, EDGES_PER_FILE)):
        k = min(EDGES_PER_FILE, n_edges - start)
        places = rng.integers(0, n_nodes, k, dtype=np.int64)
        steps = 1 + (np.log1p(-rng.random(k)) / np.log(0.95)).astype(np.int64)
        ends = names[places], names[(places + steps) % n_nodes]
        frame = pl.DataFrame({"source": ends[0], "target": ends[1]})
        frame.write_parquet(folder / f"edges-{number:04d}.parquet")


def measure(folder: Path, n_nodes: int) -> dict[str, Any]:
    """Read, multiply, fit and predict; to be called in a fresh process."""
    watch = Watch()
    watch.enter("read")
    graph = read_edges(str(folder / "edges-*.parquet"), on_disk=folder / "graph")
    watch.enter("walk")
    T = build_disk_walk(graph.folder, graph.matrix, "hop", np.float32)
    engine = DiskEngine()
    loaded = engine.load_sparse(T, np.float32)
    watch.enter("product")
    X, product = np.ones((len(graph), 1), np.float32), np.empty((len(graph), 1), np.float32)
    engine.multiply(loaded, X, 1, product)
    watch.enter("fit")
    del X, product
    values = np.full(len(graph), np.nan)
    values[::10] = np.sin(graph.nodes[::10] * (2 * np.pi / 2000))
    model = NodeRegressor(**SETTINGS).fit(graph, values)
    predicted = model.predict()
    watch.enter("end")
    return {
        "peaks": {stage: peak for stage, peak in watch.peaks.items() if stage != "end"},
        "seconds": watch.seconds,
        "entries": int(graph.matrix.nnz),
        "some": predicted[:100].tolist(),
    }


def compare(folder: Path) -> Agreement:
    """The same edges in memory, counted both ways."""
    frames = [pl.read_parquet(path) for path in sorted(folder.glob("edges-*.parquet"))]
    edges = pl.concat(frames).to_numpy()
    graph = read_edges(str(folder / "edges-*.parquet"), on_disk=folder / "again")
    values = dict.fromkeys(graph.nodes[::10].tolist(), 0.0)
    values |= {node: float(np.sin(node)) for node in values}
    both = NodeRegressor(solver="operators", **SETTINGS).fit(edges, values, kind="edges")
    found = NodeRegressor(**SETTINGS).fit(graph, values).predict(both.unknown_nodes_)
    difference = np.abs(both.predict(both.unknown_nodes_) - found).max()
    return Agreement("predictions from disk and from memory", float(difference), 1e-2)


def run_size(n_nodes: int, n_edges: int, *, alone: bool) -> tuple[dict[str, Any], Agreement | None]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("GRADRAKER_SCRATCH")) as name:
        folder = Path(name)
        write_parts(folder, n_nodes, n_edges)
        if not alone:
            return measure(folder, n_nodes), compare(folder)
        command = [sys.executable, str(Path(__file__)), "--measure", name, str(n_nodes)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return dict(json.loads(run.stdout)), None


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    sizes = [(10**5, 10**6), (10**6, 10**7)]
    if arguments.full:
        sizes.append((10**7, 10**8))
    if arguments.tiny:
        sizes = []
    rows, findings = [], []
    for n_nodes, n_edges in sizes:
        run, _ = run_size(n_nodes, n_edges, alone=True)
        peak = max(run["peaks"].values()) / 1e9
        each = [f"{run['seconds'][stage]:.1f} s" for stage in ("read", "walk", "product", "fit")]
        parts = [f"{run['peaks'].get(stage, 0) / 1e9:.2f}" for stage in ("read", "fit")]
        rate = 8 * run["entries"] / run["seconds"]["product"] / 1e9
        rows.append([f"{n_edges:.0e}", f"{n_nodes:.0e}", *each, f"{rate:.1f} GB/s", *parts])
        print(rows[-1], file=sys.stderr)
        aim = AIM if n_edges == 10**8 else None
        label = f"{n_edges:.0e} edges: anonymous memory, reading and fit"
        findings.append(Finding(label, peak, aim, " GB", True))
    run, check = run_size(2000, 20_000, alone=False)
    findings.append(Finding("entries of the smallest graph", run["entries"], None, ""))
    assert check is not None
    header = ["edges", "nodes", "read", "walk", "product", "fit", "streamed", "read,GB", "fit,GB"]
    report = Report(
        "Edges on disk",
        tuple(findings),
        (check,),
        (table(header, rows),) if rows else (),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        run_alone(main)
