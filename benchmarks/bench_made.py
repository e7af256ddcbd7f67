"""Node models on generated graphs of many kinds, compared with off-the-shelf methods.

Grids, neighbours in a plane, preferential attachment and groups, with values that vary slowly, have
levels or classes by region or group, follow degrees, or are means over neighbours. 5 % and 40 % of
the nodes are known, and for classes also 12 nodes. LightGBM gets degrees and spectral features;
Tikhonov (PyGSP) chooses its penalty on the known nodes; the others are from scikit-network.

Run ``python benchmarks/bench_made.py --full`` (about 15 minutes).
"""

import sys
from collections.abc import Iterator, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from bench_real_size import Graph, class_peers, fit_classes, fit_numbers, number_peers, split
from gradraker import gnmse
from peers import WHOLE_GRAPH, present
from report import Finding, Report, finish, options, run_alone, table

PARTS = (0.05, 0.4)
FEW = 12  # known classes
_TIKHONOV = "PyGSP Tikhonov"
Nodes = NDArray[np.int64]


def link(pairs: Nodes, n: int) -> csr_array:
    """The undirected graph of pairs of nodes, without loops."""
    A = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    A = csr_array(((A + A.T) > 0).astype(float))
    A.setdiag(0.0)
    A.eliminate_zeros()
    return A


def link_plane(points: NDArray[np.float64]) -> csr_array:
    """Each point with its six nearest ones."""
    near = cKDTree(points).query(points, 7)[1][:, 1:]
    starts = np.repeat(np.arange(len(points)), 6)
    return link(np.column_stack([starts, near.ravel()]), len(points))


def link_grid(side: int) -> csr_array:
    """Each node of a square grid with the next in its row and column."""
    numbers = np.arange(side * side).reshape(side, side)
    right = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
    down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
    return link(np.vstack([right, down]), side * side)


def link_groups(group: Nodes, inside: float, outside: float, rng: np.random.Generator) -> csr_array:
    """Each node linked on average to ``inside`` others of its group and ``outside`` of all."""
    n = group.size
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    first = np.cumsum(counts) - counts
    starts = rng.integers(0, n, round(n * inside / 2))
    place = rng.random(starts.size) * counts[group[starts]]
    ends = order[first[group[starts]] + place.astype(int)]
    others = rng.integers(0, n, (round(n * outside / 2), 2))
    return link(np.vstack([np.column_stack([starts, ends]), others]), n)


def link_preferentially(n: int, edges: int) -> csr_array:
    """Barabási–Albert."""
    return link(np.array(nx.barabasi_albert_graph(n, edges, seed=3).edges()), n)


def make_numbers(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Graph]]:
    """Yield graphs with a number for each node."""
    x, y = points = rng.random((2, n))
    wave = np.sin(6.0 * x) * np.cos(5.0 * y)
    yield "plane, wave and noise", Graph(link_plane(points.T), wave + 0.3 * rng.normal(size=n))
    levels = (np.floor(4.0 * x) + 2.0 * np.floor(3.0 * y)) % 5
    yield "plane, levels by region", Graph(link_plane(points.T), levels + 0.1 * rng.normal(size=n))
    side = round(n**0.5)
    row, column = np.divmod(np.arange(side * side), side)
    wave = np.sin((4.0 * column + 3.0 * row) / side) + 0.4 * rng.normal(size=side * side)
    yield "grid, wave and noise", Graph(link_grid(side), wave)
    A = link_preferentially(n, 4)
    yield (
        "hubs, log of degree and noise",
        Graph(A, np.log(A.sum(axis=1)) + 0.3 * rng.normal(size=n)),
    )
    A = link_preferentially(n, 3)
    yield "hubs, mean of neighbours' noise", Graph(A, A @ rng.normal(size=n) / A.sum(axis=1))
    group = rng.integers(0, max(4, n // 300), n)
    levels = rng.normal(size=group.max() + 1)[group] + 0.5 * rng.normal(size=n)
    yield "groups, a level each and noise", Graph(link_groups(group, 8.0, 2.0, rng), levels)


def make_classes(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Graph]]:
    """Yield graphs with a class for each node."""
    group = rng.integers(0, 10, n)
    yield "groups, ten classes", Graph(link_groups(group, 6.0, 3.0, rng), group)
    points = rng.random((n, 2))
    region = (np.floor(5.0 * points[:, 0]) + 5.0 * np.floor(4.0 * points[:, 1])).astype(int) % 7
    yield "plane, classes by region", Graph(link_plane(points), region)
    A = link_preferentially(n, 4)
    yield "hubs, classes of degree", Graph(A, np.digitize(A.sum(axis=1), [4.5, 7.5]))


def compare_numbers(graph: Graph, known: Nodes, unknown: Nodes) -> tuple[float, dict[str, float]]:
    """GNMSE of a node model, and of peers."""
    graph = Graph(graph.A, (graph.y - graph.y.min()) / np.ptp(graph.y))
    peers = number_peers(graph, known, unknown)
    tikhonov = present(WHOLE_GRAPH).get(_TIKHONOV)
    if tikhonov is not None:
        peers[_TIKHONOV] = gnmse(graph.y[unknown], tikhonov(graph.A, graph.y, known, unknown))
    model = fit_numbers(graph, known)
    return gnmse(graph.y[unknown], np.asarray(model.predict(unknown.tolist()))), peers


def compare_classes(graph: Graph, known: Nodes, unknown: Nodes) -> tuple[float, dict[str, float]]:
    """Negative accuracies of a node model and of peers, so that smaller is better."""
    right = float(np.mean(fit_classes(graph, known).predict(unknown.tolist()) == graph.y[unknown]))
    peers = class_peers(graph, known, unknown)
    commonest = np.bincount(graph.y[known]).argmax()
    peers["the commonest class"] = float(np.mean(graph.y[unknown] == commonest))
    return -right, {name: -part for name, part in peers.items()}


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    sizes = (150,) if arguments.tiny else (1500, 4000, 12_000) if arguments.full else (1500,)
    rows, findings = [], []
    for n in sizes:
        for make, compare in ((make_numbers, compare_numbers), (make_classes, compare_classes)):
            for name, graph in make(n, np.random.default_rng(0)):
                counts = [round(part * graph.y.size) for part in PARTS]
                for count in [FEW, *counts] if make is make_classes else counts:
                    known, unknown = split(graph.y.size, count, 0)
                    ours, peers = compare(graph, known, unknown)
                    best = min(peers, key=lambda peer: peers[peer])
                    is_error = ours > 0.0
                    ours, theirs = abs(ours), abs(peers[best])
                    ratio = ours / theirs
                    label = f"{name}, {n} nodes, {count} known"
                    numbers = [f"{ours:.4f}", f"{theirs:.4f}", best, f"{ratio:.2f}"]
                    rows.append([name, f"{n}", f"{count}", *numbers])
                    print(rows[-1], file=sys.stderr, flush=True)
                    label = f"{label}: over the best peer's"
                    findings.append(Finding(label, ratio, 1.0, "", is_error))
    header = ["values", "nodes", "known", "node model", "best peer", "which", "ratio"]
    title = "Made graphs: GNMSE of numbers (small is good), accuracy of classes"
    report = Report(title, tuple(findings), (), (table(header, rows),), judged=arguments.full)
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
