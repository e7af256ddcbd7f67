"""Values of every kind: never worse than a constant by more than chance.

Each test has a fixed seed and compares 12 pairs (graph, draw). A fit loses if the mean logarithm of
its error over the constant's is above 3 standard errors and 1 %: for fits that are no better and no
worse than the constant, one test in 700 would be lost by chance.
"""

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker import NodeRegressor

Vector = NDArray[np.float64]
GRAPHS = {
    "Les Misérables": nx.convert_node_labels_to_integers(nx.les_miserables_graph()),
    "preferential": nx.barabasi_albert_graph(100, 3, seed=1),
    "geometric": nx.random_geometric_graph(100, 0.17, seed=2),
}
N_DRAWS = 4


def smooth(graph: Any, rng: np.random.Generator) -> Vector:
    A = nx.to_numpy_array(graph, weight=None) + np.eye(len(graph))
    z = rng.standard_normal(len(graph))
    for _ in range(6):
        z = A @ z / A.sum(axis=1)
    return np.asarray((z - z.mean()) / z.std())


def spoil(z: Vector, rng: np.random.Generator) -> Vector:
    values = z + 0.3 * rng.standard_normal(z.size)
    values[rng.random(z.size) < 0.03] *= 60.0
    return values


Draw = Callable[[Vector, np.random.Generator, Any], Vector]
KINDS: dict[str, Draw] = {
    "heavy-tailed": lambda z, rng, g: np.exp(2.0 * z + 0.5 * rng.standard_normal(z.size)),
    "heavy-tailed noise": lambda z, rng, g: np.exp(2.0 * rng.standard_normal(z.size)),
    "Pareto": lambda z, rng, g: np.exp(z) * rng.random(z.size) ** (-1.0 / 1.2),
    "Cauchy": lambda z, rng, g: z + 0.5 * rng.standard_cauchy(z.size),
    "left-skewed": lambda z, rng, g: -np.exp(1.5 * z + 0.4 * rng.standard_normal(z.size)),
    "zero-inflated": lambda z, rng, g: np.where(
        rng.random(z.size) < 1.0 / (1.0 + np.exp(2.0 * z)), 0.0, np.exp(1.5 * z)
    ),
    "counts": lambda z, rng, g: rng.poisson(np.exp(1.5 * z)).astype(float),
    "bounded": lambda z, rng, g: 1.0 / (1.0 + np.exp(-3.0 * z - rng.standard_normal(z.size))),
    "outliers": lambda z, rng, g: spoil(z, rng),
    "squared degrees": lambda z, rng, g: np.array([g.degree(i) ** 2.0 for i in range(z.size)]),
    "betweenness": lambda z, rng, g: np.array(list(nx.betweenness_centrality(g).values())),
    "normal noise": lambda z, rng, g: rng.standard_normal(z.size),
}


def list_ratios(draw: Draw, n_known: int, statistic: str) -> list[float]:
    ratios = []
    for graph in GRAPHS.values():
        edges, n = list(graph.edges()), len(graph)
        for seed in range(N_DRAWS):
            rng = np.random.default_rng([seed, n_known])
            y = draw(smooth(graph, rng), rng, graph)
            order = rng.permutation(n)
            known, unknown = order[:n_known], order[n_known:]
            model = NodeRegressor(statistic=statistic).fit(
                edges, dict(zip(known.tolist(), y[known].tolist(), strict=True)), nodes=range(n)
            )
            found = model.predict(unknown.tolist())
            assert np.isfinite(found).all()
            assert found.min() >= 0.0 or y[known].min() < 0.0
            errors, constant = y[unknown] - found, y[unknown]
            if statistic == "mean":
                constant = constant - y[known].mean()
                ratios.append(float(np.mean(errors**2) / np.mean(constant**2)))
            else:
                constant = constant - np.median(y[known])
                ratios.append(float(np.abs(errors).mean() / np.abs(constant).mean()))
    return ratios


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("n_known", [10, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_no_worse_than_a_constant(kind: str, n_known: int, statistic: str) -> None:
    logs = np.log(list_ratios(KINDS[kind], n_known, statistic))
    chance = 3.0 * logs.std(ddof=1) / np.sqrt(logs.size)
    assert logs.mean() <= chance + 0.01, f"{np.exp(logs.mean()):.3f} times the constant's error"


@pytest.mark.statistical
@pytest.mark.parametrize(
    "kind",
    [
        "heavy-tailed",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("counts", "squared degrees")),
    ],
)
def test_much_better_than_a_constant_where_the_graph_tells(kind: str) -> None:
    for statistic in ("mean", "median"):
        assert np.exp(np.mean(np.log(list_ratios(KINDS[kind], 40, statistic)))) < 0.75
