"""Generated graphs against brute force, their own formulas and exact probabilities."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from gradraker.datasets import (
    make_arriving_graph,
    make_block_graph,
    make_geometric_graph,
    make_preferential_graph,
    make_threshold_graph,
    split_nodes,
)
from gradraker.datasets.dataset import GraphDataset

FAMILIES = [
    make_arriving_graph,
    make_block_graph,
    make_geometric_graph,
    make_preferential_graph,
    make_threshold_graph,
]


def same(one: Any, other: Any) -> bool:
    return (
        np.array_equal(one.values, other.values)
        and (one.adjacency != other.adjacency).nnz == 0
        and np.array_equal(one.positions, other.positions)
    )


def edge_correlation(data: GraphDataset) -> Any:
    """Correlation of the values at the two ends of the edges."""
    source, target = data.adjacency.nonzero()
    return np.corrcoef(data.values[source], data.values[target])[0, 1]


@pytest.mark.parametrize("make", FAMILIES)
def test_the_seed_decides_the_graph(make: Callable[..., Any]) -> None:
    data = make(60, random_state=7)
    assert data.n_nodes == 60
    assert data.n_edges > 0
    assert data.node_names[:2] == ("0", "1")
    assert same(data, make(60, random_state=7))
    assert same(data, make(60, random_state=np.int64(7)))
    assert same(data, make(60, random_state=np.random.default_rng(7)))
    assert not same(data, make(60, random_state=8))
    assert not same(make(60), make(60))


@pytest.mark.parametrize("make", FAMILIES)
def test_a_given_generator_advances_and_the_global_one_does_not(make: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    before = np.random.get_state(legacy=True)[1].copy()  # type: ignore[index] # noqa: NPY002
    assert not same(make(60, random_state=rng), make(60, random_state=rng))
    assert np.array_equal(np.random.get_state(legacy=True)[1], before)  # type: ignore[index] # noqa: NPY002


@pytest.mark.parametrize("make", FAMILIES)
def test_a_hundred_thousand_nodes_need_no_dense_matrix(make: Callable[..., Any]) -> None:
    sparse = {
        make_arriving_graph: {"radius": 0.005},
        make_block_graph: {"p_in": 1e-4, "p_out": 1e-5},
        make_geometric_graph: {"radius": 0.005},
        make_threshold_graph: {"threshold": 3e-5},
    }
    data = make(100_000, random_state=0, **sparse.get(make, {}))
    assert 100_000 < data.n_edges < 2_000_000


@pytest.mark.parametrize("n_nodes", [2, 3])
@pytest.mark.parametrize("make", FAMILIES)
def test_graphs_of_two_or_three_nodes_can_be_made(make: Callable[..., Any], n_nodes: int) -> None:
    blocks = {"n_blocks": 1} if make is make_block_graph else {}
    assert make(n_nodes, random_state=0, **blocks).n_nodes == n_nodes


def test_values_without_noise_are_the_documented_ones() -> None:
    data = make_threshold_graph(50, frequency=1.5, noise=0.0, random_state=2)
    assert data.positions is not None
    np.testing.assert_allclose(data.values, np.cos(3.0 * np.pi * data.positions[:, 0]))
    data = make_geometric_graph(50, frequency=1.0, noise=0.0, random_state=2)
    wave = np.cos(2.0 * np.pi * data.positions)  # type: ignore[operator]
    np.testing.assert_allclose(data.values, wave[:, 0] * wave[:, 1])
    data = make_arriving_graph(50, frequency=1.0, drift=0.4, noise=0.0, random_state=2)
    assert data.positions is not None
    time, x, y = data.positions.T
    wave = np.cos(2.0 * np.pi * (x - 0.4 * time)) * np.cos(2.0 * np.pi * y)
    np.testing.assert_allclose(data.values, wave)
    data = make_block_graph(50, n_blocks=3, noise=0.0, random_state=2)
    assert data.positions is not None
    np.testing.assert_allclose(data.values, data.positions[:, 0] - 1.0)


@pytest.mark.parametrize("make", FAMILIES)
def test_noise_has_the_given_deviation(make: Callable[..., Any]) -> None:
    clean = make(5000, noise=0.0, random_state=0, **_sparse(make))
    noisy = make(5000, noise=0.5, random_state=0, **_sparse(make))
    # The standard deviation of 5000 draws is known to 0.5 / sqrt(10000).
    assert (noisy.values - clean.values).std() == pytest.approx(0.5, abs=4 * 0.005)


def _sparse(make: Callable[..., Any]) -> dict[Any, Any]:
    return {
        make_arriving_graph: {"radius": 0.03},
        make_block_graph: {"p_in": 0.01, "p_out": 0.001},
        make_geometric_graph: {"radius": 0.03},
        make_threshold_graph: {"threshold": 0.002},
        make_preferential_graph: {},
    }[make]


def test_values_along_edges_are_smooth_or_not_by_parameters() -> None:
    assert edge_correlation(make_block_graph(random_state=0)) > 0.5
    assert edge_correlation(make_block_graph(p_in=0.01, p_out=0.1, random_state=0)) < -0.2
    bipartite = make_block_graph(n_blocks=2, p_in=0.0, p_out=0.1, random_state=0)
    assert edge_correlation(bipartite) < -0.9
    assert edge_correlation(make_threshold_graph(self_loops=False, random_state=0)) > 0.9
    rough = make_threshold_graph(frequency=14.0, self_loops=False, random_state=0)
    assert edge_correlation(rough) < 0.0
    assert edge_correlation(make_geometric_graph(random_state=0)) > 0.8
    assert abs(edge_correlation(make_geometric_graph(frequency=6.0, random_state=0))) < 0.3


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("make", "options", "unexplained"),
    [
        (make_threshold_graph, {}, 0.05),
        (make_threshold_graph, {"frequency": 10.0}, 0.4),
        (make_geometric_graph, {}, 0.4),
        (make_arriving_graph, {}, 0.4),
        (make_block_graph, {}, 0.6),
        (make_block_graph, {"p_in": 0.01, "p_out": 0.1}, 0.8),
        (make_preferential_graph, {}, 0.9),
        (make_preferential_graph, {"directed": True}, 0.97),
    ],
)
def test_adjacency_vectors_carry_information(
    make: Callable[..., Any], options: dict[Any, Any], unexplained: float
) -> None:
    # Part of the variance left by kernel ridge regression with σ² = 10, mean of five draws.
    left = []
    for seed in range(5):
        data = make(random_state=seed, **options)
        known, unknown = split_nodes(400, 0.4, np.random.default_rng(seed))
        X, y = data.adjacency[:, known], data.values
        mean = y[known].mean()
        model = KernelRidge(kernel="rbf", gamma=1 / (2 * 10.0), alpha=0.3)
        predicted = model.fit(X[known], y[known] - mean).predict(X[unknown]) + mean
        left.append(np.mean((predicted - y[unknown]) ** 2) / y[unknown].var())
    assert np.mean(left) < unexplained


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (
            make_block_graph,
            {"n_nodes": 0},
            ValueError,
            "n_nodes must .* of at least 1, got 0",
        ),
        (make_block_graph, {"n_nodes": 4.0}, TypeError, "n_nodes must be an integer .* got 4.0"),
        (make_block_graph, {"n_nodes": True}, TypeError, "n_nodes must be an integer .* got True"),
        (
            make_block_graph,
            {"p_in": 1.5},
            ValueError,
            "p_in must .* at least 0 and at most 1",
        ),
        (make_block_graph, {"p_out": -0.1}, ValueError, "p_out must .* got -0.1"),
        (make_block_graph, {"n_blocks": 401}, ValueError, "n_blocks must be at most n_nodes=400"),
        (
            make_preferential_graph,
            {"n_nodes": 1},
            ValueError,
            "n_nodes must .* at least 2",
        ),
        (
            make_preferential_graph,
            {"n_links": 0},
            ValueError,
            "n_links must .* at least 1",
        ),
        (make_preferential_graph, {"degree_share": 2}, ValueError, "degree_share must .* got 2"),
        (make_threshold_graph, {"threshold": 0.0}, ValueError, "threshold .* larger than 0, got"),
        (make_threshold_graph, {"frequency": np.inf}, ValueError, "frequency must be a finite"),
        (
            make_geometric_graph,
            {"radius": "far"},
            TypeError,
            "radius must .* number .* got 'far'",
        ),
        (make_geometric_graph, {"noise": np.nan}, ValueError, "noise must be .* got nan"),
        (make_arriving_graph, {"lifetime": 0}, ValueError, "lifetime .* larger than 0, got 0"),
        (
            make_arriving_graph,
            {"drift": np.nan},
            ValueError,
            "drift must be .* number, got nan",
        ),
        (
            make_arriving_graph,
            {"random_state": -1},
            ValueError,
            "random_state must .* at least 0",
        ),
        (make_arriving_graph, {"random_state": "a"}, TypeError, "random_state must be an integer"),
    ],
)
def test_generators_refuse_arguments_outside_their_bounds(
    make: Callable[..., Any], options: dict[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(**options)
