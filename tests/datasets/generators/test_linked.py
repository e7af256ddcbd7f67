"""Graphs of drawn links against their own formulas and exact probabilities."""

from typing import Any

import numpy as np
import pytest

from gradraker.datasets import make_block_graph, make_preferential_graph


def test_preferential_values_are_degree_and_neighbours() -> None:
    options: dict[str, Any] = {"noise": 0.0, "weighted": True, "random_state": 3}
    data = make_preferential_graph(300, degree_share=1.0, **options)
    degree = data.adjacency.sum(axis=1)
    assert np.corrcoef(data.values, np.log(degree))[0, 1] == pytest.approx(1.0)
    data = make_preferential_graph(300, degree_share=0.0, **options)
    assert data.positions is not None
    mean = (data.adjacency @ data.positions[:, 0]) / degree
    assert np.corrcoef(data.values, mean)[0, 1] == pytest.approx(1.0)
    assert data.values.std() == pytest.approx(1.0)
    mixed = make_preferential_graph(300, degree_share=0.25, **options)
    parts = [(v - v.mean()) / v.std() for v in (np.log(degree), mean)]
    np.testing.assert_allclose(mixed.values, 0.5 * parts[0] + np.sqrt(0.75) * parts[1])


@pytest.mark.parametrize("directed", [True, False])
def test_block_graph_with_certain_links_is_exact(directed: bool) -> None:
    data = make_block_graph(23, n_blocks=4, p_in=1.0, p_out=0.0, directed=directed, random_state=0)
    assert data.positions is not None
    block = data.positions[:, 0]
    assert sorted(np.unique(block, return_counts=True)[1]) == [5, 6, 6, 6]
    inside = (block[:, np.newaxis] == block) & ~np.eye(23, dtype=bool)
    assert np.array_equal(data.adjacency.toarray(), inside)
    data = make_block_graph(23, n_blocks=4, p_in=0.0, p_out=1.0, directed=directed, random_state=0)
    assert data.positions is not None
    block = data.positions[:, 0]
    assert np.array_equal(data.adjacency.toarray(), block[:, np.newaxis] != block)


@pytest.mark.statistical
@pytest.mark.parametrize("directed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_pair_is_drawn_with_its_probability(directed: bool) -> None:
    rng = np.random.default_rng(5)
    n_draws = 3000
    inside, outside = np.zeros((6, 6)), np.zeros((6, 6))
    same_block = np.zeros((6, 6))
    for _ in range(n_draws):
        data = make_block_graph(
            6, n_blocks=2, p_in=0.6, p_out=0.2, directed=directed, random_state=rng
        )
        assert data.positions is not None
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


@pytest.mark.statistical
def test_directed_block_graph_draws_both_directions_independently() -> None:
    data = make_block_graph(400, n_blocks=1, p_in=0.2, directed=True, random_state=0)
    both = data.adjacency.multiply(data.adjacency.T).sum() / 2
    # 79800 pairs, each in both directions with probability 0.04.
    assert abs(both - 3192) < 5 * np.sqrt(79800 * 0.04 * 0.96)


def test_block_weights_are_counts_from_one() -> None:
    data = make_block_graph(300, weighted=True, random_state=0)
    plain = make_block_graph(300, random_state=0)
    assert (data.adjacency != data.adjacency.T).nnz == 0
    assert np.array_equal(data.adjacency.indices, plain.adjacency.indices)
    assert data.adjacency.data.min() == 1.0
    assert data.adjacency.data.mean() == pytest.approx(2.0, abs=0.1)


@pytest.mark.statistical
def test_preferential_attachment_has_the_exact_probabilities() -> None:
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


def test_preferential_attachment_links_and_hubs() -> None:
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
