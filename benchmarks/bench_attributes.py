"""Node models with attributes of nodes, compared with peers that use them, on the same splits.

The data sets are those of the cited papers, in folders under ``$GRADRAKER_DATA``; missing ones are
named and skipped. Nothing is tuned per data set, and no validation label and no value of an unknown
node is used. ``--full`` takes all splits: ten of london and election, the public split of planetoid
and ten random ones with 20 labels per class, three of musae_facebook; without it one split each and
no peers on musae_facebook.

Run ``GRADRAKER_DATA=folder python benchmarks/bench_attributes.py --full``.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attribute_peers import CLASSES, NUMBERS, Peer
from gradraker import NodeClassifier, NodeRegressor
from report import SEED, Agreement, Finding, Report, finish, options, run_alone, table

Nodes = NDArray[np.int64]
# Aims: R² or accuracy, and seconds of fit and choice.
LONDON = {"education": 0.930, "age": 0.860, "income": 0.900, "vote": 0.893}
ELECTION = {"income": 0.819, "education": 0.725, "unemployment": 0.803, "vote": 0.760}
PLANETOID = {"cora": 0.83, "citeseer": 0.72}
FACEBOOK = {0.4: 0.948, 0.05: 0.907}
MOST_SECONDS, MOST_SECONDS_FACEBOOK = 20.0, 60.0


class Task(NamedTuple):
    """Data, and splits into known and unknown nodes."""

    name: str
    A: csr_array
    X: Any
    y: NDArray[Any]
    splits: Sequence[tuple[Nodes, Nodes]]
    are_classes: bool
    aim: float | None
    most_seconds: float = MOST_SECONDS
    has_peers: bool = True


def predict_by_node_model(task: Task, known: Nodes, unknown: Nodes, *, attributes: bool) -> Any:
    """Predictions of a node model that chooses everything itself."""
    X = task.X if attributes else None
    if task.are_classes:
        labels = {int(i): int(task.y[i]) for i in known}
        return NodeClassifier().fit(task.A, labels, attributes=X).predict(unknown)
    values = np.full(task.y.size, np.nan)
    values[known] = task.y[known]
    return NodeRegressor().fit(task.A, values, attributes=X).predict(unknown)


def score(task: Task, unknown: Nodes, predictions: NDArray[Any]) -> float:
    """Accuracy, or R²."""
    y = task.y[unknown]
    if task.are_classes:
        return float(np.mean(predictions == y))
    return float(1.0 - ((predictions - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def measure(task: Task) -> tuple[dict[str, list[float]], float]:
    """Scores of each method by split, and the median seconds of the node model."""
    packaged: Mapping[str, tuple[Peer, str]] = CLASSES if task.are_classes else NUMBERS
    listed = {name: peer for name, (peer, package) in packaged.items() if find_spec(package)}
    found: dict[str, list[float]] = {}
    seconds = []
    for known, unknown in task.splits:
        for name, peer in listed.items() if task.has_peers else ():
            predictions = peer(task.A, task.X, task.y, known, unknown)
            found.setdefault(name, []).append(score(task, unknown, predictions))
        for name, attributes in (("node model, graph alone", False), ("node model", True)):
            start = time.perf_counter()
            predictions = predict_by_node_model(task, known, unknown, attributes=attributes)
            found.setdefault(name, []).append(score(task, unknown, predictions))
            if attributes:
                seconds.append(time.perf_counter() - start)
    summary = ", ".join(f"{name} {np.mean(scores):.3f}" for name, scores in found.items())
    print(f"{task.name}, {len(task.splits)} splits: {summary}", file=sys.stderr, flush=True)
    return found, float(np.median(seconds))


# -- data ------------------------------------------------------------------------------------


def read_edges_of(folder: Path, n: int) -> csr_array:
    """An undirected graph of n nodes."""
    path = next(folder.glob("edges.csv*"))
    edges = pd.read_csv(path).to_numpy()
    A = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    return csr_array(A + A.T)


def read_words_of(folder: Path, n: int) -> csr_array:
    """Words of n nodes."""
    words = pd.read_csv(next(folder.glob("attributes.csv*")))
    places = words["node"], words["attribute"]
    width = int(words["attribute"].max()) + 1
    return csr_array((words["value"].to_numpy(dtype=float), places), shape=(n, width))


def list_values(
    folder: Path, aims: Mapping[str, float], n_splits: int, part: float
) -> Iterator[Task]:
    """Each column that is a target, with all others as attributes."""
    nodes = pd.read_csv(folder / "nodes.csv")
    n = len(nodes)
    A = read_edges_of(folder, n)
    orders = [np.random.default_rng(s).permutation(n) for s in range(n_splits)]
    n_known = int(np.ceil(part * n))
    # london predicts all other nodes, election the last fifth, as in the papers.
    first = n_known if folder.name == "london" else n - n // 5
    splits = [(np.sort(order[:n_known]), np.sort(order[first:])) for order in orders]
    for target, aim in aims.items():
        y = nodes[f"y_{target}"].to_numpy(dtype=float)
        X = nodes.drop(columns=["node", f"y_{target}"]).to_numpy(dtype=float)
        yield Task(f"{folder.name}, {target}", A, X, y, splits, False, aim)


def list_planetoid(folder: Path, aim: float, n_random: int) -> Iterator[Task]:
    """The public split, and random ones with 20 labels per class."""
    y = pd.read_csv(folder / "nodes.csv")["y_class"].fillna(-1).to_numpy(dtype=np.int64)
    A, X = read_edges_of(folder, y.size), read_words_of(folder, y.size)
    public = json.loads((folder / "splits.json").read_text())["splits"][0]
    splits = [(np.array(public["train"]), np.array(public["test"]))]
    yield Task(f"{folder.name}, public", A, X, y, splits, True, aim)
    labelled = np.flatnonzero(y >= 0)
    splits = []
    for s in range(n_random):
        order = np.random.default_rng(s).permutation(labelled)
        known = np.concatenate([order[y[order] == c][:20] for c in range(y.max() + 1)])
        rest = order[~np.isin(order, known)]
        splits.append((np.sort(known), rest[500:1500]))
    if splits:
        yield Task(f"{folder.name}, random", A, X, y, splits, True, None)


def list_facebook(folder: Path, n_splits: int, *, peers: bool) -> Iterator[Task]:
    """Pages by type, 40 % and 5 % known."""
    y = pd.Categorical(pd.read_csv(folder / "nodes.csv")["y_page_type"]).codes.astype(np.int64)
    A, X = read_edges_of(folder, y.size), read_words_of(folder, y.size)
    for part, aim in FACEBOOK.items():
        orders = [np.random.default_rng(s).permutation(y.size) for s in range(n_splits)]
        k = int(part * y.size)
        splits = [(np.sort(order[:k]), order[k:]) for order in orders]
        name = f"{folder.name}, {100 * part:g} %"
        yield Task(name, A, X, y, splits, True, aim, MOST_SECONDS_FACEBOOK, peers)


def make_tiny() -> Iterator[Task]:
    """Small generated graphs, for tests of this file."""
    rng = np.random.default_rng(SEED)
    n = 60
    ring = csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    A, X = csr_array(ring + ring.T), rng.normal(size=(n, 3))
    split = [(np.arange(0, n, 2), np.arange(1, n, 2))]
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    yield Task("made values", A, X, y, split, False, None)
    words = csr_array((rng.random((n, 80)) < 0.1).astype(float))
    yield Task("made classes", A, words, (y > 0.0).astype(np.int64), split, True, None)


def list_tasks(*, tiny: bool, full: bool) -> Iterator[Task]:
    """All data sets that are available."""
    if tiny:
        yield from make_tiny()
        return
    root = Path(os.environ.get("GRADRAKER_DATA", "data"))
    n_splits = 10 if full else 1
    kinds: dict[str, Callable[[Path], Iterator[Task]]] = {
        "london": lambda f: list_values(f, LONDON, n_splits, 0.3),
        "election": lambda f: list_values(f, ELECTION, n_splits, 0.6),
        "planetoid_cora": lambda f: list_planetoid(f, PLANETOID["cora"], n_splits),
        "planetoid_citeseer": lambda f: list_planetoid(f, PLANETOID["citeseer"], n_splits),
        "musae_facebook": lambda f: list_facebook(f, 3 if full else 1, peers=full),
    }
    for name, list_own in kinds.items():
        if (root / name).is_dir():
            yield from list_own(root / name)
        else:
            print(f"{name} is not in {root}: left out", file=sys.stderr)


def check_chunks() -> Agreement:
    """Attributes given in two parts give the same predictions as attributes given at once."""
    task = next(make_tiny())
    values = {int(i): float(task.y[i]) for i in task.splits[0][0]}
    at_once = NodeRegressor().fit(task.A, values, attributes=task.X)
    parts = [{i: task.X[i] for i in some} for some in (range(40), range(40, len(task.y)))]
    chunks = NodeRegressor().fit(task.A, values, attributes=parts[0])
    chunks.partial_fit(attributes=parts[1])
    difference = float(np.abs(chunks.predict() - at_once.predict()).max())
    return Agreement("attributes in two parts", difference, 1e-8)


def main(argv: Sequence[str] | None = None) -> Report:
    """Measure, print and return the report."""
    arguments = options(argv, __doc__)
    rows, findings = [], []
    for task in list_tasks(tiny=arguments.tiny, full=arguments.full):
        found, seconds = measure(task)
        peers = {k: v for k, v in found.items() if not k.startswith("node model")}
        best = max(peers, key=lambda name: float(np.mean(peers[name])), default="—")
        means = {name: float(np.mean(scores)) for name, scores in found.items()}
        summary = "; ".join(f"{name} {means[name]:.3f}" for name in peers)
        rows.append(
            [
                task.name,
                f"{means['node model']:.3f} ± {np.std(found['node model']):.3f}",
                f"{means['node model, graph alone']:.3f}",
                "—" if best == "—" else f"{best} {means[best]:.3f}",
                summary,
                f"{seconds:.1f} s",
            ]
        )
        findings.append(Finding(task.name, means["node model"], task.aim, ""))
        findings.append(
            Finding(f"{task.name}, time", seconds, task.most_seconds, " s", at_most=True)
        )
    headings = [
        "R² or accuracy",
        "node model",
        "graph alone",
        "best peer",
        "peers",
        "fit and choice",
    ]
    report = Report(
        "Attributes of nodes",
        tuple(findings),
        (check_chunks(),),
        (table(headings, rows),),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
