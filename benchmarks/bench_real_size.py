"""Node models on graphs of real size, compared with scikit-network and LightGBM in the same run.

Accuracy on Facebook's page-page graph (22 470 nodes, 4 classes) and errors on Twitch (7 126 nodes,
log views scaled to [0, 1]), from 50 known nodes to all but 1000; ``default_rng(s).permutation(n)``
orders the nodes, and the first are known. Then: one value at a time, explanations, left-out errors
and intervals, and growth on generated graphs of 10⁴ to 10⁵ (``--full``: 10⁶) nodes with ten edges
each.

The two data sets are read from GRADRAKER_DATA; without them their parts are skipped.

Run ``python benchmarks/bench_real_size.py --full``.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, csr_matrix

from gradraker import NodeClassifier, NodeRegressor, gnmse
from peers import WHOLE_GRAPH, present
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

Nodes = NDArray[np.int64]
FACEBOOK, TWITCH = "musae_facebook", "twitch_ENGB"


class Graph(NamedTuple):
    """Undirected edges, and a class or a number at each node."""

    A: csr_array
    y: NDArray[Any]


def read_graph(folder: str, value: str) -> Graph | None:
    """A data set of the folder GRADRAKER_DATA, or None."""
    path = Path(os.environ.get("GRADRAKER_DATA", ".")) / folder
    if not path.is_dir():
        return None
    edges = pd.read_csv(next(path.glob("edges.csv*"))).to_numpy()[:, :2].astype(np.int64)
    values = pd.read_csv(path / "nodes.csv")[value]
    n = len(values)
    A = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    A = csr_array(A.maximum(A.T))
    A.setdiag(0.0)
    A.eliminate_zeros()
    return Graph(A, values.to_numpy())


def split(n: int, n_known: int, seed: int) -> tuple[Nodes, Nodes]:
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[:n_known]), np.sort(order[n_known:])


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# -- classes ----------------------------------------------------------------------------


def fit_classes(graph: Graph, known: Nodes) -> NodeClassifier:
    labels = np.full(graph.y.size, None, dtype=object)
    labels[known] = graph.y[known]
    return NodeClassifier().fit(graph.A, labels, kind="matrix")


def class_peers(graph: Graph, known: Nodes, unknown: Nodes) -> dict[str, float]:
    """Accuracies of scikit-network's classifiers, with their own defaults."""
    try:
        from sknetwork import classification
    except ImportError:
        return {}
    codes = np.unique(graph.y, return_inverse=True)[1]
    known_values = {int(node): int(codes[node]) for node in known}
    found = {}
    for name in ("PageRankClassifier", "DiffusionClassifier", "Propagation", "NNClassifier"):
        try:
            predicted = getattr(classification, name)().fit_predict(
                csr_matrix(graph.A), known_values
            )
            found[name] = float(np.mean(predicted[unknown] == codes[unknown]))
        except (ValueError, IndexError) as error:
            print(f"{name} failed: {error}", file=sys.stderr)
    return found


def classes_part(graph: Graph, sizes: Sequence[int], n_seeds: int) -> tuple[str, list[Finding]]:
    rows, findings = [], []
    for size in sizes:
        ours, estimated, took, peers = [], [], [], []
        for seed in range(n_seeds):
            known, unknown = split(graph.y.size, size, seed)
            start = time.perf_counter()
            model = fit_classes(graph, known)
            took.append(time.perf_counter() - start)
            ours.append(float(np.mean(model.predict(unknown.tolist()) == graph.y[unknown])))
            estimated.append(model.left_out_error_.accuracy)
            peers.append(class_peers(graph, known, unknown))
            print(f"{size} known, seed {seed}: {ours[-1]:.4f}, {took[-1]:.1f} s", file=sys.stderr)
        best = {name: np.mean([p[name] for p in peers]) for name in peers[0]}
        row = [str(size), f"{np.mean(ours):.4f} ± {np.std(ours):.4f}", f"{np.mean(estimated):.4f}"]
        row += [f"{value:.4f}" for value in best.values()]
        rows.append([*row, f"{np.median(took):.1f} s"])
        label = f"Facebook, {size} known"
        aim = {round(0.4 * graph.y.size): 0.942, round(0.05 * graph.y.size): 0.888}.get(size)
        findings.append(Finding(f"{label}: accuracy", float(np.mean(ours)), aim, ""))
        if aim:
            findings.append(
                Finding(f"{label}: fit and choice", float(np.median(took)), 20.0, " s", True)
            )
        if best:
            lead = np.mean(ours) - max(best.values())
            error = np.std(ours) / np.sqrt(n_seeds)
            findings.append(
                Finding(
                    f"{label}: accuracy over the best peer's",
                    float(1 + lead),
                    float(1 - 2 * error),
                    "",
                )
            )
    header = ["known", "NodeClassifier", "its own estimate", *best, "fit and choice"]
    return table(header, rows), findings


# -- numbers ----------------------------------------------------------------------------


def fit_numbers(graph: Graph, known: Nodes) -> NodeRegressor:
    values = np.full(graph.y.size, np.nan)
    values[known] = graph.y[known]
    return NodeRegressor().fit(graph.A, values, kind="matrix")


def number_peers(graph: Graph, known: Nodes, unknown: Nodes) -> dict[str, float]:
    """GNMSE of the mean, scikit-network and LightGBM."""
    y = graph.y
    found = {"the mean": gnmse(y[unknown], np.full(unknown.size, y[known].mean()))}
    try:
        from sknetwork.regression import Diffusion, Dirichlet

        known_values = {int(node): float(y[node]) for node in known}
        for name, peer in (("Diffusion", Diffusion()), ("Dirichlet", Dirichlet())):
            found[name] = gnmse(
                y[unknown], peer.fit_predict(csr_matrix(graph.A), known_values)[unknown]
            )
    except ImportError:
        pass
    for name, peer in present(WHOLE_GRAPH).items():
        if name.startswith("LightGBM"):
            found["LightGBM"] = gnmse(y[unknown], peer(graph.A, y, known, unknown))
    return found


def numbers_part(graph: Graph, sizes: Sequence[int], n_seeds: int) -> tuple[str, list[Finding]]:
    rows, findings = [], []
    for size in sizes:
        ours, took, peers, inside = [], [], [], []
        for seed in range(n_seeds):
            known, unknown = split(graph.y.size, size, seed)
            start = time.perf_counter()
            model = fit_numbers(graph, known)
            took.append(time.perf_counter() - start)
            predicted, ends = model.predict(unknown.tolist(), return_interval=True)
            ours.append(gnmse(graph.y[unknown], predicted))
            inside.append(
                np.mean((ends[:, 0] <= graph.y[unknown]) & (graph.y[unknown] <= ends[:, 1]))
            )
            peers.append(number_peers(graph, known, unknown))
        best = {name: np.mean([p[name] for p in peers]) for name in peers[0]}
        row = [str(size), f"{np.mean(ours):.5f} ± {np.std(ours):.5f}"]
        row += [f"{value:.5f}" for value in best.values()]
        rows.append([*row, f"{100 * np.mean(inside):.1f} %", f"{np.median(took):.1f} s"])
        aim = 0.0360 if size == round(0.4 * graph.y.size) else None
        findings += [
            Finding(f"Twitch, {size} known: GNMSE", float(np.mean(ours)), aim, "", True),
            Finding(
                f"Twitch, {size} known: GNMSE over the best peer's",
                float(np.mean(ours) / min(best.values())),
                1.0 + 2 * float(np.std(ours) / np.sqrt(n_seeds) / np.mean(ours)),
                "",
                True,
            ),
        ]
    header = ["known", "NodeRegressor", *best, "in 90 % intervals", "fit and choice"]
    return table(header, rows), findings


# -- online and explained -----------------------------------------------------------------


def online_part(graph: Graph, n_known: int, n_steps: int) -> list[Finding]:
    """One value and a prediction; one node with two edges, its value and a prediction."""
    known, unknown = split(graph.y.size, n_known, SEED)
    model = fit_classes(graph, known)
    n = graph.y.size
    unknown = np.random.default_rng(SEED).permutation(unknown)

    def learn_and_predict(edges: Any, values: dict[int, Any]) -> None:
        model.partial_fit(edges, values).predict([int(unknown[-1])])

    values, nodes = [], []
    for i in range(n_steps):
        node = int(unknown[i])
        label = graph.y[node]
        values.append(seconds_of(partial(learn_and_predict, None, {node: label})))
    for i in range(n_steps):
        edges = [(n + i, int(unknown[2 * i])), (n + i, int(unknown[2 * i + 1]))]
        edges += [(b, a) for a, b in edges]
        new_values = {n + i: graph.y[int(unknown[2 * i])]}
        nodes.append(seconds_of(partial(learn_and_predict, edges, new_values)))
    explained = seconds_of(lambda: model.explain(unknown[-10:].tolist()))
    label = f"Facebook, {n_known} known"
    return [
        Finding(f"{label}: a value and a prediction", float(np.median(values)), 0.3, " s", True),
        Finding(
            f"{label}: a node, two edges, a value, a prediction",
            float(np.median(nodes)),
            0.6,
            " s",
            True,
        ),
        Finding(f"{label}: ten explanations", explained, 5.0, " s", True),
    ]


# -- growth -------------------------------------------------------------------------------


def make_ring(n_nodes: int) -> Graph:
    """Ten edges per node to nodes near it on a ring of shuffled names; a wave with noise."""
    rng = np.random.default_rng(SEED)
    start = rng.integers(0, n_nodes, 10 * n_nodes)
    steps = rng.geometric(0.05, start.size) * rng.choice([-1, 1], start.size)
    names = rng.permutation(n_nodes)
    ends = names[start], names[(start + steps) % n_nodes]
    A = coo_array((np.ones(start.size), ends), shape=(n_nodes, n_nodes)).tocsr()
    y = np.empty(n_nodes)
    y[names] = np.sin(np.arange(n_nodes) * 2 * np.pi / 2000) + 0.3 * rng.normal(size=n_nodes)
    return Graph(csr_array(A), y)


def measure(n_nodes: int) -> dict[str, float]:
    """Fit, choose and predict all, 10 % known; to be called in a fresh process."""
    graph = make_ring(n_nodes)
    known, unknown = split(n_nodes, n_nodes // 10, SEED)
    small = make_ring(6000)
    fit_numbers(small, split(6000, 600, SEED)[0])  # loads the compiled loops
    start = time.perf_counter()
    predicted = fit_numbers(graph, known).predict()
    took = time.perf_counter() - start
    unexplained = float(np.mean((graph.y[unknown] - predicted) ** 2) / graph.y[unknown].var())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"n": n_nodes, "seconds": took, "peak": peak, "r2": 1.0 - unexplained}


def growth_part(sizes: Sequence[int], *, tiny: bool) -> tuple[str, list[Finding]]:
    runs = [measure(n) if tiny else _measure_alone(n) for n in sizes]
    rows = [
        [f"{r['n']:.0f}", f"{r['seconds']:.1f} s", f"{r['peak'] / 1e9:.2f} GB", f"{r['r2']:.3f}"]
        for r in runs
    ]
    findings = []
    aims = {10**5: 20.0, 10**6: 300.0}
    for run in runs:
        n = int(run["n"])
        if n in aims:
            label = f"{n} nodes: fit, choice and predictions"
            findings.append(Finding(label, run["seconds"], aims[n], " s", True))
    if len(runs) > 1:
        first, last = runs[-2], runs[-1]
        exponent = np.log(last["seconds"] / first["seconds"]) / np.log(last["n"] / first["n"])
        findings.append(Finding("growth with edges: exponent", float(exponent), 1.1, "", True))
    return table(["nodes, ten edges each", "fit, choice, predict", "peak", "R²"], rows), findings


def agree_part() -> Agreement:
    """The same values at once and one at a time, for the same choice."""
    graph = make_ring(6000)
    known, _ = split(6000, 300, SEED)
    settings: dict[str, Any] = {
        "blocks": ("hop1", "hop4", "degree"),
        "width": 4.0,
        "alpha": 0.5,
        "tol": 1e-8,
    }
    values = np.full(6000, np.nan)
    values[known] = graph.y[known]
    whole = NodeRegressor(**settings).fit(graph.A, values, kind="matrix")
    values[known[-5:]] = np.nan
    model = NodeRegressor(**settings).fit(graph.A, values, kind="matrix")
    for node in known[-5:].tolist():
        model.partial_fit(values={node: float(graph.y[node])}).predict([0])
    all_nodes = np.arange(6000).tolist()
    difference = np.abs(whole.predict(all_nodes) - model.predict(all_nodes)).max()
    return Agreement("one value at a time and at once, tol 1e-8", float(difference), 1e-6)


def _measure_alone(n_nodes: int) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__)), "--measure", str(n_nodes)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(run.stdout))


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    tiny, full = arguments.tiny, arguments.full
    tables: list[str] = []
    findings: list[Finding] = []
    facebook = None if tiny else read_graph(FACEBOOK, "y_page_type")
    twitch = None if tiny else read_graph(TWITCH, "y_log_views")
    n_seeds = 5 if full else 2
    if facebook is not None:
        n = facebook.y.size
        sizes = [round(0.05 * n), round(0.4 * n)]
        if full:
            sizes = sorted([50, 150, 500, 1000, 1300, *sizes, 4000, n - 1000])
        shown, found = classes_part(facebook, sizes, n_seeds)
        tables.append(shown)
        findings += found + online_part(facebook, round(0.05 * n), 9)
    if twitch is not None:
        y = (twitch.y - twitch.y.min()) / np.ptp(twitch.y)
        n = y.size
        sizes = [round(0.4 * n)]
        if full:
            sizes = sorted([50, 150, 500, 1100, 1300, *sizes, 4000, n - 1000])
        shown, found = numbers_part(Graph(twitch.A, y), sizes, n_seeds)
        tables.append(shown)
        findings += found
    grown = [6000] if tiny else [10**4, 10**5, *([10**6] if full else [])]
    shown, found = growth_part(grown, tiny=tiny)
    report = Report(
        "Node models at real size",
        (*findings, *found, Finding("sizes measured", len(grown), None, "")),
        (agree_part(),),
        (*tables, shown),
        judged=not tiny,
    )
    return finish(report)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        run_alone(main)
