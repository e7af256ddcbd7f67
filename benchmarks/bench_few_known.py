"""Few known values with attributes, on generated graphs: never clearly worse than the better part.

300 nodes in communities, in a plane, or grown by preferential attachment; six attributes that
determine the values completely, partly or not at all. The error of a node model with attributes is
compared with those of the same model without them and of ridge regression on the attributes, tuned
by its left-out errors.

Run ``python benchmarks/bench_few_known.py --full``.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV

from gradraker import NodeRegressor
from report import Agreement, Finding, Report, finish, options, run_alone, table

Vector = NDArray[np.float64]
N_NODES = 300


class Made(NamedTuple):
    """A graph, a signal that is smooth on it, means over neighbours, attributes and noise."""

    graph: Any
    smooth: Vector
    P: NDArray[np.float64]
    X: NDArray[np.float64]
    noise: Vector


KINDS: dict[str, Callable[[Made], Vector]] = {
    "attributes": lambda m: m.X[:, 0] + 0.7 * m.X[:, 1] + 0.3 * m.noise,
    "graph": lambda m: m.smooth + 0.4 * m.noise,
    "both": lambda m: m.smooth + m.X[:, 0] + 0.3 * m.noise,
    "attributes of neighbours": lambda m: _scale(m.P @ m.X[:, 0]) + 0.3 * m.noise,
    "x₁x₂ + x₃": lambda m: m.X[:, 0] * m.X[:, 1] + m.X[:, 2] + 0.2 * m.noise,
    "x₁²": lambda m: m.X[:, 0] ** 2 + 0.1 * m.noise,
    "nothing": lambda m: m.noise,
}


def _scale(values: Vector) -> Vector:
    return np.asarray((values - values.mean()) / values.std())


def make(seed: int) -> Made:
    """One of three kinds of graphs, by the seed."""
    rng, n = np.random.default_rng(seed), N_NODES
    graphs = (
        lambda: nx.planted_partition_graph(4, n // 4, 24 / n, 2 / n, seed=seed),
        lambda: nx.random_geometric_graph(n, np.sqrt(8 / (np.pi * n)), seed=seed),
        lambda: nx.barabasi_albert_graph(n, 3, seed=seed),
    )
    graph = graphs[seed % 3]()
    A = nx.to_numpy_array(graph, weight=None) + np.eye(n)
    P = A / A.sum(axis=1, keepdims=True)
    smooth = np.linalg.matrix_power(P, 6) @ rng.standard_normal(n)
    return Made(graph, _scale(smooth), P, rng.standard_normal((n, 6)), rng.standard_normal(n))


def measure(made: Made, y: Vector, n_known: int, seed: int) -> list[float]:
    """Squared errors over the variance: of the mean, ridge, graph alone and the model."""
    order = np.random.default_rng([seed, n_known]).permutation(y.size)
    known, unknown = order[:n_known], order[n_known:]
    values = {int(i): float(y[i]) for i in known}
    edges = list(made.graph.edges())
    found = [np.full(unknown.size, y[known].mean())]
    ridge = RidgeCV(np.logspace(-3, 4, 30)).fit(made.X[known], y[known])
    found.append(ridge.predict(made.X[unknown]))
    for attributes in (None, made.X):
        model = NodeRegressor().fit(edges, values, nodes=range(y.size), attributes=attributes)
        found.append(model.predict(unknown))
    return [float(np.mean((y[unknown] - p) ** 2) / y[unknown].var()) for p in found]


def check_order() -> Agreement:
    """Attributes in another order of columns give the same predictions."""
    made = make(0)
    values = {i: float(made.smooth[i]) for i in range(8)}
    edges = list(made.graph.edges())
    found = [
        NodeRegressor().fit(edges, values, nodes=range(N_NODES), attributes=X).predict()
        for X in (made.X, made.X[:, ::-1])
    ]
    return Agreement("columns in another order", float(np.abs(found[0] - found[1]).max()), 1e-6)


def main(argv: Sequence[str] | None = None) -> Report:
    """Measure, print and return the report."""
    arguments = options(argv, __doc__)
    sizes, n_draws = [5] if arguments.tiny else [5, 10], 1 if arguments.tiny else 6
    if arguments.full:
        sizes, n_draws = [3, 5, 10, 20, 40, 100], 12
    rows, findings = [], []
    for n_known in sizes:
        excess = []
        for kind, compute in KINDS.items():
            drawn = [make(seed) for seed in range(n_draws)]
            logs = np.log([measure(m, compute(m), n_known, s) for s, m in enumerate(drawn)])
            means = logs.mean(axis=0)
            excess.append(means[3] - min(means[1], means[2]))
            rows.append([kind, str(n_known), *(f"{error:.2f}" for error in np.exp(means))])
        ratio = float(np.exp(np.mean(excess)))
        findings.append(
            Finding(f"{n_known} known: error over the better of both", ratio, None, "x")
        )
    headings = ["values depend on", "known", "mean", "ridge on X", "graph alone", "node model"]
    report = Report(
        "Few known values with attributes",
        tuple(findings),
        (check_order(),),
        (table(headings, rows),),
        judged=not arguments.tiny,
    )
    return finish(report)


if __name__ == "__main__":
    run_alone(main)
