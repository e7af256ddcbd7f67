"""Blocks of walks against dense powers, and random features against exact kernels."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.features import walks as propagation
from gradraker.models.walks import blocks
from gradraker.models.walks.blocks import Walks
from oracles import nodes as oracle

NAMES = ("hop1", "hop2", "hop3", "hop12", "degree", *propagation.REACHES[:6])


def _graph(seed: Any = 0, n: Any = 23, weighted: Any = True) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) < 0.12
    A = A * rng.uniform(0.2, 3.0, (n, n)) if weighted else A.astype(float)  # type: ignore[assignment]
    A[3] = A[:, 3] = 0.0  # without edges
    A[5, 5] = 2.0
    return A  # type: ignore[return-value]


def _walks(
    A: NDArray[np.float64],
    direction: str = "both",
    hidden: NDArray[np.bool_] | None = None,
    seed: Any = 1,
) -> Walks:
    nodes = np.arange(len(A))
    return blocks.walks_of(csr_array(A), nodes, direction=direction, seed=seed, hidden=hidden)


def _walk(walks: Walks) -> Any:
    return walks.matrices.P.toarray()


@pytest.mark.parametrize("direction", ["both", "out", "in"])
@pytest.mark.parametrize("block", NAMES)
def test_exact_distances_equal_those_of_dense_powers(block: str, direction: str) -> None:
    A = _graph()
    d2 = oracle.squared_distances(oracle.block_rows(A, block, direction))
    exact = blocks.ExactBlocks(_walks(A, direction))
    first, second = np.arange(4), np.arange(23)
    median = exact.median(block)
    assert median == pytest.approx(oracle.median(d2), rel=1e-11)
    found = exact.distances(block, first, second) * median
    np.testing.assert_allclose(found, d2[:4], atol=1e-12, rtol=0)
    # Whichever side walks.
    found = exact.distances(block, second, first) * median
    np.testing.assert_allclose(found, d2[:, :4], atol=1e-12, rtol=0)


def test_negative_weights_walk_by_their_size() -> None:
    A = _graph()
    signs = np.where(np.random.default_rng(3).random(A.shape) < 0.5, -1.0, 1.0)
    np.testing.assert_array_equal(_walk(_walks(A)), _walk(_walks(A * signs)))
    np.testing.assert_array_equal(_walks(A).degrees, _walks(A * signs).degrees)


def test_a_node_without_edges_stays_where_it_is() -> None:
    P = _walk(_walks(_graph()))
    np.testing.assert_array_equal(P[3], np.eye(23)[3])


def test_nobody_walks_to_a_hidden_node() -> None:
    A = _graph()
    hidden = np.zeros(23, dtype=bool)
    hidden[[2, 5]] = True
    walks = _walks(A, hidden=hidden)
    np.testing.assert_allclose(_walk(walks), oracle.walk(A, hidden=[2, 5]), atol=1e-15)
    seen = A.copy()
    rest = np.delete(np.arange(23), [2, 5])
    P = _walk(_walks(seen[np.ix_(rest, rest)]))
    np.testing.assert_allclose(_walk(walks)[np.ix_(rest, rest)], P, atol=1e-15)


def test_a_regular_graph_has_no_distances_of_degrees() -> None:
    ring = np.roll(np.eye(8), 1, axis=1)
    exact = blocks.ExactBlocks(_walks(ring))
    assert exact.median("degree") == 0.0
    everyone = np.arange(8)
    np.testing.assert_array_equal(exact.distances("degree", everyone, everyone), 0.0)
    features = blocks.RandomBlocks(_walks(ring), 8).features(
        (blocks.Term("degree", 1.0, 1.0),), everyone
    )
    np.testing.assert_allclose(features @ features.T, 1.0, atol=1e-12)


def test_walks_that_forgot_where_they_began_tell_no_community() -> None:
    complete = np.ones((9, 9))
    exact = blocks.ExactBlocks(_walks(complete))
    random = blocks.RandomBlocks(_walks(complete), 8)
    assert exact.median("community") == random.median("community") == 0.0
    pairs = np.kron(np.eye(2), np.ones((4, 4)))  # two cliques: two rows, opposite to each other
    exact = blocks.ExactBlocks(_walks(pairs))  # type: ignore[arg-type]
    everyone = np.arange(8)
    found = exact.distances("community", everyone, everyone) * exact.median("community")
    np.testing.assert_allclose(found, 4.0 * (1.0 - pairs), atol=1e-12)


def test_a_node_like_the_mean_has_no_community() -> None:
    # The node in the middle sees both cliques alike, so its row is the mean of all rows.
    A = np.kron(np.eye(2), np.ones((4, 4)))
    A = np.pad(A, (0, 1))
    A[8, :8] = A[:8, 8] = 1.0
    rows = oracle.reach(A, "community")  # type: ignore[arg-type]
    assert np.linalg.norm(rows[8]) < 0.1 * np.linalg.norm(rows[0])
    hidden = np.zeros(9, dtype=bool)
    hidden[8] = True  # a new node, which the others do not see
    walks = blocks.walks_of(
        csr_array(A), np.arange(9), direction="both", seed=1, hidden=hidden, n_old=8
    )
    exact, random = blocks.ExactBlocks(walks), blocks.RandomBlocks(walks, 4000)
    exact.medians["community"] = random.medians["community"] = 1.0
    everyone = np.arange(9)
    d2 = exact.distances("community", everyone, everyone)
    np.testing.assert_allclose(d2[8, :8], 1.0, atol=1e-9)  # 0 against a row of length 1
    assert d2[8, 8] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(random.projections("community")[8], 0.0, atol=1e-12)


@pytest.mark.parametrize("block", NAMES)
def test_products_of_random_features_estimate_the_kernel(block: str) -> None:
    A = _graph()
    walks = _walks(A)
    everyone = np.arange(23)
    kernel = (blocks.Term(block, 0.7, 1.0),)
    exact = blocks.ExactBlocks(walks)
    K = blocks.kernel_of_distances({block: exact.distances(block, everyone, everyone)}, kernel)
    random = blocks.RandomBlocks(walks, 20_000)
    Z = random.features(kernel, everyone)
    # The error of one entry has standard deviation ≤ 1/√(2D) = 0.005, that of the median of 253
    # distances about 1 %, which moves an entry by 0.004 at most: 6 deviations in all.
    np.testing.assert_allclose(Z @ Z.T, K, atol=0.035)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, atol=1e-12)


def test_a_sum_of_blocks_has_the_features_of_all_of_them() -> None:
    walks = _walks(_graph())
    everyone = np.arange(23)
    random = blocks.RandomBlocks(walks, 16)
    one = random.features((blocks.Term("hop2", 0.5, 1.0),), everyone)
    two = random.features((blocks.Term("degree", 2.0, 1.0),), everyone)
    both = random.features(
        (blocks.Term("hop2", 0.5, 0.25), blocks.Term("degree", 2.0, 0.75)), everyone
    )
    np.testing.assert_allclose(both @ both.T, 0.25 * one @ one.T + 0.75 * two @ two.T, atol=1e-12)


def test_lengths_of_rows_are_exact_where_products_fit_and_estimated_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walks = _walks(_graph())
    hop3 = propagation.get_reach("hop3")
    exact = propagation.compute_squared_norms(walks.matrices, hop3)
    expected = (oracle.reach(_graph(), "hop3") ** 2).sum(axis=1)
    np.testing.assert_allclose(exact, expected, rtol=1e-12)  # type: ignore[arg-type]
    monkeypatch.setattr(propagation, "_MOST_ENTRIES", 10)
    assert propagation.compute_squared_norms(walks.matrices, hop3) is None
    V = blocks.RandomBlocks(walks, 20_000).projections("hop3")
    np.testing.assert_allclose((V**2).mean(axis=1), 1.0, atol=1e-12)


def test_features_of_nodes_far_from_a_change_stay() -> None:
    A = np.zeros((30, 30))
    A[np.arange(29), np.arange(1, 30)] = 1.0  # a path
    changed = A.copy()
    changed[28, 0] = 0.0
    changed[27, 29] = 1.0
    before = blocks.RandomBlocks(_walks(A), 8).projections("hop3")
    after = blocks.RandomBlocks(_walks(changed), 8).projections("hop3")
    np.testing.assert_allclose(before[:20], after[:20], atol=1e-14)
    assert np.abs(before[28] - after[28]).max() > 0.01


def test_the_order_of_nodes_depends_on_names_and_seed_only() -> None:
    A = _graph()
    names = np.array([f"n{i}" for i in range(23)], dtype=object)
    shuffled = np.random.default_rng(0).permutation(23)

    def first(A: Any, names: Any, seed: Any) -> Any:
        walks = blocks.walks_of(csr_array(A), names, direction="both", seed=seed)
        return names[walks.order].tolist()

    moved = A[np.ix_(shuffled, shuffled)]
    assert first(A, names, 1) == first(moved, names[shuffled], 1)
    assert first(A, names, 1) != first(A, names, 2)
