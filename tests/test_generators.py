"""Generated graphs against brute force, their own formulas and exact probabilities."""

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

FAMILIES = [
    make_arriving_graph,
    make_block_graph,
    make_geometric_graph,
    make_preferential_graph,
    make_threshold_graph,
]


def same(one, other):
    return (
        np.array_equal(one.values, other.values)
        and (one.adjacency != other.adjacency).nnz == 0
        and np.array_equal(one.positions, other.positions)
    )


def edge_correlation(data):
    """Correlation of the values at the two ends of the edges."""
    source, target = data.adjacency.nonzero()
    return np.corrcoef(data.values[source], data.values[target])[0, 1]


def gaps(points):
    return np.sqrt(((points[:, np.newaxis] - points) ** 2).sum(axis=-1))


@pytest.mark.parametrize("make", FAMILIES)
def test_the_seed_decides_the_graph(make):
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
def test_a_generator_moves_on_and_the_global_one_does_not(make):
    rng = np.random.default_rng(0)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert not same(make(60, random_state=rng), make(60, random_state=rng))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("make", FAMILIES)
def test_a_hundred_thousand_nodes_need_no_dense_matrix(make):
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
def test_tiny_graphs(make, n_nodes):
    blocks = {"n_blocks": 1} if make is make_block_graph else {}
    assert make(n_nodes, random_state=0, **blocks).n_nodes == n_nodes


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_threshold_graph_equals_brute_force(weighted, self_loops):
    data = make_threshold_graph(
        80, threshold=0.1, weighted=weighted, self_loops=self_loops, random_state=1
    )
    gap = gaps(data.positions)
    expected = np.where(gap < 0.1, np.exp(-gap / 0.1) if weighted else 1.0, 0.0)
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_geometric_graph_equals_brute_force(weighted, self_loops):
    data = make_geometric_graph(
        80, radius=0.2, weighted=weighted, self_loops=self_loops, random_state=1
    )
    gap = gaps(data.positions)
    expected = np.where(gap <= 0.2, np.exp(-gap / 0.2) if weighted else 1.0, 0.0)
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("lifetime", [None, 0.3])
def test_arriving_graph_equals_brute_force(lifetime, weighted, directed):
    data = make_arriving_graph(
        80, radius=0.3, lifetime=lifetime, weighted=weighted, directed=directed, random_state=1
    )
    time = data.positions[:, 0]
    assert np.all(np.diff(time) > 0)
    assert time[0] > 0
    assert time[-1] < 1
    gap = gaps(data.positions[:, 1:])
    age = time[:, np.newaxis] - time
    link = (gap <= 0.3) & (age > 0) & (age <= (lifetime or 1.0))
    expected = np.where(link, np.exp(-gap / 0.3) if weighted else 1.0, 0.0)
    expected = expected if directed else expected + expected.T
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)


def test_values_without_noise_are_the_documented_ones():
    data = make_threshold_graph(50, frequency=1.5, noise=0.0, random_state=2)
    np.testing.assert_allclose(data.values, np.cos(3.0 * np.pi * data.positions[:, 0]))
    data = make_geometric_graph(50, frequency=1.0, noise=0.0, random_state=2)
    wave = np.cos(2.0 * np.pi * data.positions)
    np.testing.assert_allclose(data.values, wave[:, 0] * wave[:, 1])
    data = make_arriving_graph(50, frequency=1.0, drift=0.4, noise=0.0, random_state=2)
    time, x, y = data.positions.T
    wave = np.cos(2.0 * np.pi * (x - 0.4 * time)) * np.cos(2.0 * np.pi * y)
    np.testing.assert_allclose(data.values, wave)
    data = make_block_graph(50, n_blocks=3, noise=0.0, random_state=2)
    np.testing.assert_allclose(data.values, data.positions[:, 0] - 1.0)


def test_preferential_values_are_degree_and_neighbours():
    options = {"noise": 0.0, "weighted": True, "random_state": 3}
    data = make_preferential_graph(300, degree_share=1.0, **options)
    degree = data.adjacency.sum(axis=1)
    assert np.corrcoef(data.values, np.log(degree))[0, 1] == pytest.approx(1.0)
    data = make_preferential_graph(300, degree_share=0.0, **options)
    mean = (data.adjacency @ data.positions[:, 0]) / degree
    assert np.corrcoef(data.values, mean)[0, 1] == pytest.approx(1.0)
    assert data.values.std() == pytest.approx(1.0)
    mixed = make_preferential_graph(300, degree_share=0.25, **options)
    parts = [(v - v.mean()) / v.std() for v in (np.log(degree), mean)]
    np.testing.assert_allclose(mixed.values, 0.5 * parts[0] + np.sqrt(0.75) * parts[1])


@pytest.mark.parametrize("make", FAMILIES)
def test_noise_has_the_asked_deviation(make):
    clean = make(5000, noise=0.0, random_state=0, **_sparse(make))
    noisy = make(5000, noise=0.5, random_state=0, **_sparse(make))
    # The standard deviation of 5000 draws is known to 0.5 / sqrt(10000).
    assert (noisy.values - clean.values).std() == pytest.approx(0.5, abs=4 * 0.005)


def _sparse(make):
    return {
        make_arriving_graph: {"radius": 0.03},
        make_block_graph: {"p_in": 0.01, "p_out": 0.001},
        make_geometric_graph: {"radius": 0.03},
        make_threshold_graph: {"threshold": 0.002},
        make_preferential_graph: {},
    }[make]


@pytest.mark.parametrize("directed", [True, False])
def test_block_graph_with_certain_links_is_exact(directed):
    data = make_block_graph(23, n_blocks=4, p_in=1.0, p_out=0.0, directed=directed, random_state=0)
    block = data.positions[:, 0]
    assert sorted(np.unique(block, return_counts=True)[1]) == [5, 6, 6, 6]
    inside = (block[:, np.newaxis] == block) & ~np.eye(23, dtype=bool)
    assert np.array_equal(data.adjacency.toarray(), inside)
    data = make_block_graph(23, n_blocks=4, p_in=0.0, p_out=1.0, directed=directed, random_state=0)
    block = data.positions[:, 0]
    assert np.array_equal(data.adjacency.toarray(), block[:, np.newaxis] != block)


@pytest.mark.parametrize("directed", [True, False])
def test_every_pair_is_drawn_with_its_probability(directed):
    rng = np.random.default_rng(5)
    n_draws = 3000
    inside, outside = np.zeros((6, 6)), np.zeros((6, 6))
    same_block = np.zeros((6, 6))
    for _ in range(n_draws):
        data = make_block_graph(
            6, n_blocks=2, p_in=0.6, p_out=0.2, directed=directed, random_state=rng
        )
        together = data.positions == data.positions.T
        same_block += together
        inside += data.adjacency.toarray() * together
        outside += data.adjacency.toarray() * ~together
        if not directed:
            assert (data.adjacency != data.adjacency.T).nnz == 0
    off = ~np.eye(6, dtype=bool)
    # At least 1000 draws each: standard deviations below 0.0155.
    assert np.abs(inside[off] / same_block[off] - 0.6).max() < 5 * 0.0155
    assert np.abs(outside[off] / (n_draws - same_block)[off] - 0.2).max() < 5 * 0.0155


def test_directed_block_graph_draws_both_directions_independently():
    data = make_block_graph(400, n_blocks=1, p_in=0.2, directed=True, random_state=0)
    both = data.adjacency.multiply(data.adjacency.T).sum() / 2
    # 79800 pairs, each in both directions with probability 0.04.
    assert abs(both - 3192) < 5 * np.sqrt(79800 * 0.04 * 0.96)


def test_block_weights_are_counts_from_one():
    data = make_block_graph(300, weighted=True, random_state=0)
    plain = make_block_graph(300, random_state=0)
    assert (data.adjacency != data.adjacency.T).nnz == 0
    assert np.array_equal(data.adjacency.indices, plain.adjacency.indices)
    assert data.adjacency.data.min() == 1.0
    assert data.adjacency.data.mean() == pytest.approx(2.0, abs=0.1)


def test_values_along_edges_are_smooth_or_not_as_asked():
    assert edge_correlation(make_block_graph(random_state=0)) > 0.5
    assert edge_correlation(make_block_graph(p_in=0.01, p_out=0.1, random_state=0)) < -0.2
    bipartite = make_block_graph(n_blocks=2, p_in=0.0, p_out=0.1, random_state=0)
    assert edge_correlation(bipartite) < -0.9
    assert edge_correlation(make_threshold_graph(self_loops=False, random_state=0)) > 0.9
    rough = make_threshold_graph(frequency=14.0, self_loops=False, random_state=0)
    assert edge_correlation(rough) < 0.0
    assert edge_correlation(make_geometric_graph(random_state=0)) > 0.8
    assert abs(edge_correlation(make_geometric_graph(frequency=6.0, random_state=0))) < 0.3


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
def test_adjacency_vectors_carry_information(make, options, unexplained):
    # Part of the variance left by kernel ridge regression with σ² = 10, mean of five draws.
    left = []
    for seed in range(5):
        data = make(random_state=seed, **options)
        sampled, tested = split_nodes(400, 0.4, np.random.default_rng(seed))
        X, y = data.adjacency[:, sampled], data.values
        mean = y[sampled].mean()
        model = KernelRidge(kernel="rbf", gamma=1 / (2 * 10.0), alpha=0.3)
        predicted = model.fit(X[sampled], y[sampled] - mean).predict(X[tested]) + mean
        left.append(np.mean((predicted - y[tested]) ** 2) / y[tested].var())
    assert np.mean(left) < unexplained


def test_preferential_attachment_has_the_exact_probabilities():
    # Node 1 links to 0. Node 2 links to 0 or 1, evenly; degrees are then (2, 1, 1) or
    # (1, 2, 1) of 4, so node 3 links to 0, 1, 2 with 3/8, 3/8, 2/8.
    rng = np.random.default_rng(0)
    n_draws = 3000
    counts = np.zeros((4, 4))
    for _ in range(n_draws):
        data = make_preferential_graph(4, n_links=1, directed=True, random_state=rng)
        counts += data.adjacency.toarray()
    expected = np.array([[0, 0, 0, 0], [8, 0, 0, 0], [4, 4, 0, 0], [3, 3, 2, 0]]) / 8
    assert np.abs(counts / n_draws - expected).max() < 5 * 0.5 / np.sqrt(n_draws)
    assert np.array_equal(counts == 0, expected == 0)


def test_preferential_attachment_links_and_hubs():
    data = make_preferential_graph(20_000, n_links=3, weighted=True, directed=True, random_state=0)
    assert data.adjacency.sum(axis=1)[1:].tolist() == [3.0] * 19_999
    assert data.adjacency[[0]].nnz == 0
    in_degree = data.adjacency.sum(axis=0)
    # Hubs grow like sqrt(n); without preference the largest would be near 3 log(n) = 30.
    assert in_degree.max() > 150
    undirected = make_preferential_graph(20_000, n_links=3, weighted=True, random_state=0)
    assert (undirected.adjacency != data.adjacency + data.adjacency.T).nnz == 0
    plain = make_preferential_graph(20_000, n_links=3, directed=True, random_state=0)
    assert np.array_equal(plain.adjacency.indices, data.adjacency.indices)
    assert set(plain.adjacency.data) == {1.0}


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (make_block_graph, {"n_nodes": 0}, ValueError, "n_nodes must be 1 or larger; got 0"),
        (make_block_graph, {"n_nodes": 4.0}, TypeError, "n_nodes must be an int; got float 4.0"),
        (make_block_graph, {"n_nodes": True}, TypeError, "n_nodes must be an int; got bool"),
        (make_block_graph, {"p_in": 1.5}, ValueError, "p_in must be finite and at least 0 and at"),
        (make_block_graph, {"p_out": -0.1}, ValueError, "p_out must .* got -0.1"),
        (make_block_graph, {"n_blocks": 401}, ValueError, "n_blocks must be at most n_nodes=400"),
        (make_preferential_graph, {"n_nodes": 1}, ValueError, "n_nodes must be 2 or larger"),
        (make_preferential_graph, {"n_links": 0}, ValueError, "n_links must be 1 or larger"),
        (make_preferential_graph, {"degree_share": 2}, ValueError, "degree_share must .* got 2"),
        (make_threshold_graph, {"threshold": 0.0}, ValueError, "threshold .* larger than 0; got"),
        (make_threshold_graph, {"frequency": np.inf}, ValueError, "frequency must be finite"),
        (make_geometric_graph, {"radius": "far"}, TypeError, "radius must be a number; got str"),
        (make_geometric_graph, {"noise": np.nan}, ValueError, "noise must be .* got nan"),
        (make_arriving_graph, {"lifetime": 0}, ValueError, "lifetime .* larger than 0; got 0"),
        (make_arriving_graph, {"drift": np.nan}, ValueError, "drift must be finite; got nan"),
        (make_arriving_graph, {"random_state": -1}, ValueError, "random_state must be 0 or larger"),
        (make_arriving_graph, {"random_state": "a"}, TypeError, "random_state must be an int"),
    ],
)
def test_generators_refuse(make, options, error, message):
    with pytest.raises(error, match=message):
        make(**options)
