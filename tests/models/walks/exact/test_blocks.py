"""Blocks of walks against dense powers."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.features import walks as propagation
from gradraker.features.walks import describe_walks
from gradraker.models.walks.choice import Term
from gradraker.models.walks.exact import blocks
from oracles import nodes as oracle
from walk_examples import get_walk, make_matrix, make_walks

NAMES = ("hop1", "hop2", "hop3", "hop12", "degree", *propagation.REACHES[:7])


@pytest.mark.parametrize("direction", ["both", "out", "in"])
@pytest.mark.parametrize("block", NAMES)
def test_exact_distances_equal_those_of_dense_powers(block: Any, direction: Any) -> None:
    A = make_matrix()
    d2 = oracle.squared_distances(oracle.block_rows(A, block, direction))
    exact = blocks.ExactBlocks(make_walks(A, direction))
    first, second = np.arange(4), np.arange(23)
    median = exact.median(block)
    assert median == pytest.approx(oracle.median(d2), rel=1e-11)
    found = exact.distances(block, first, second) * median
    np.testing.assert_allclose(found, d2[:4], atol=1e-12, rtol=0)
    # Whichever side walks.
    found = exact.distances(block, second, first) * median
    np.testing.assert_allclose(found, d2[:, :4], atol=1e-12, rtol=0)


def test_negative_weights_count_by_their_size() -> None:
    A = make_matrix()
    signs = np.where(np.random.default_rng(3).random(A.shape) < 0.5, -1.0, 1.0)
    np.testing.assert_array_equal(get_walk(make_walks(A)), get_walk(make_walks(A * signs)))
    np.testing.assert_array_equal(make_walks(A).degrees, make_walks(A * signs).degrees)


def test_degree_distances_are_zero_in_a_regular_graph() -> None:
    ring = np.roll(np.eye(8), 1, axis=1)
    exact = blocks.ExactBlocks(make_walks(ring))
    assert exact.median("degree") == 0.0
    everyone = np.arange(8)
    np.testing.assert_array_equal(exact.distances("degree", everyone, everyone), 0.0)


def test_community_distances_are_zero_in_a_complete_graph() -> None:
    complete = np.ones((9, 9))
    exact = blocks.ExactBlocks(make_walks(complete))
    assert exact.median("community") == 0.0
    pairs = np.kron(np.eye(2), np.ones((4, 4)))  # two cliques: two rows, opposite to each other
    exact = blocks.ExactBlocks(make_walks(pairs))
    everyone = np.arange(8)
    found = exact.distances("community", everyone, everyone) * exact.median("community")
    np.testing.assert_allclose(found, 4.0 * (1.0 - pairs), atol=1e-12)


def test_community_row_of_a_node_like_the_mean_is_zero() -> None:
    # The node in the middle sees both cliques alike, so its row is the mean of all rows.
    A = np.kron(np.eye(2), np.ones((4, 4)))
    A = np.pad(A, (0, 1))
    A[8, :8] = A[:8, 8] = 1.0
    rows = oracle.reach(A, "community")
    assert np.linalg.norm(rows[8]) < 0.1 * np.linalg.norm(rows[0])
    hidden = np.zeros(9, dtype=bool)
    hidden[8] = True  # a new node, which the others do not see
    walks = describe_walks(
        csr_array(A), np.arange(9), direction="both", seed=1, hidden=hidden, n_old=8
    )
    exact = blocks.ExactBlocks(walks)
    exact.medians["community"] = 1.0
    everyone = np.arange(9)
    d2 = exact.distances("community", everyone, everyone)
    np.testing.assert_allclose(d2[8, :8], 1.0, atol=1e-9)  # 0 against a row of length 1
    assert d2[8, 8] == pytest.approx(0.0, abs=1e-12)


def test_kernel_of_several_terms_is_their_weighted_sum() -> None:
    exact = blocks.ExactBlocks(make_walks(make_matrix()))
    everyone = np.arange(23)
    distances = {name: exact.distances(name, everyone, everyone) for name in ("hop2", "degree")}
    one = blocks.compute_kernel(distances, (Term("hop2", 0.5, 1.0),))
    two = blocks.compute_kernel(distances, (Term("degree", 2.0, 1.0),))
    both = blocks.compute_kernel(distances, (Term("hop2", 0.5, 0.25), Term("degree", 2.0, 0.75)))
    np.testing.assert_allclose(both, 0.25 * one + 0.75 * two, atol=1e-15)
    expected = np.exp(-distances["hop2"] / (2.0 * 0.5))
    np.testing.assert_allclose(one, expected, atol=1e-15)
