"""How walks of several edges are counted, against enumerated walks and by hand."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gradraker import adjacency_vectors
from gradraker.graph import hops as hops_module
from oracles.hops import walk_rows

# a → b (2), a → c (½), c → b (1), c → c (3); nothing leads out of b
EDGES = [("a", "b", 2.0), ("a", "c", 0.5), ("c", "b", 1.0), ("c", "c", 3.0)]
WEIGHTS = ["count", "binary", "random_walk"]

seeds = st.integers(0, 2**32 - 1)


def rows(graph: NDArray[np.float64] | list[Any], **arguments: Any) -> Any:
    return adjacency_vectors(graph, **arguments).rows.toarray()


def random_matrix(seed: int, n: int = 4, *, lowest: Any = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).integers(lowest, 3, size=(n, n)).astype(float)


@settings(deadline=None)
@given(seeds, st.integers(1, 4), st.sampled_from(WEIGHTS))
def test_rows_are_those_of_enumerated_walks(seed: Any, hops: Any, hop_weights: Any) -> None:
    A = random_matrix(seed)
    found = rows(A, hops=hops, hop_weights=hop_weights)
    np.testing.assert_allclose(found, walk_rows(A, hops, hop_weights), rtol=1e-13, atol=0)


@settings(deadline=None)
@given(seeds, st.integers(1, 3), st.sampled_from(WEIGHTS))
def test_chosen_nodes_and_references_are_a_part_of_all(
    seed: Any, hops: Any, hop_weights: Any
) -> None:
    A = random_matrix(seed, 5)
    everything = rows(A, hops=hops, hop_weights=hop_weights)
    chosen = rows(A, hops=hops, hop_weights=hop_weights, nodes=[3, 1], references=[0, 4, 2])
    np.testing.assert_allclose(chosen, everything[np.ix_([3, 1], [0, 4, 2])], rtol=1e-13, atol=0)


def test_one_hop_by_hand() -> None:
    assert rows(EDGES, hop_weights="binary").tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 1]]
    walk = [[0, 0.8, 0.2], [0, 0, 0], [0, 0.25, 0.75]]
    assert rows(EDGES, hop_weights="random_walk").tolist() == walk


def test_two_hops_by_hand() -> None:
    assert rows(EDGES, hops=2, hop_weights="binary").tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 1]]
    # a → c → b: 0.2 · 0.25, a → c → c: 0.2 · 0.75; a walk that enters b ends there.
    found = rows(EDGES, hops=2, hop_weights="random_walk")
    np.testing.assert_allclose(found, [[0, 0.05, 0.15], [0, 0, 0], [0, 0.1875, 0.5625]])  # type: ignore[arg-type]


@settings(deadline=None)
@given(seeds, st.integers(1, 4))
def test_random_walks_that_cannot_end_have_rows_of_sum_1(seed: Any, hops: Any) -> None:
    A = random_matrix(seed) + np.eye(4)
    found = rows(A, hops=hops, hop_weights="random_walk")
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-13)
    assert (found >= 0).all()


@settings(deadline=None)
@given(seeds, st.permutations(range(5)), st.sampled_from(WEIGHTS))
def test_relabelling_permutes_rows_and_columns(seed: Any, order: Any, hop_weights: Any) -> None:
    A = random_matrix(seed, 5)
    original = rows(A, hops=3, hop_weights=hop_weights)
    relabelled = rows(A[np.ix_(order, order)], hops=3, hop_weights=hop_weights)
    expected = original[np.ix_(order, order)]
    np.testing.assert_allclose(relabelled, expected, rtol=1e-13, atol=0)


def test_binary_walks_exist_even_where_signed_counts_cancel() -> None:
    # Two walks from 0 to 3, one of weight +1 and one of −1.
    edges = [(0, 1, 1.0), (1, 3, 1.0), (0, 2, 1.0), (2, 3, -1.0)]
    counted = adjacency_vectors(edges, hops=2)
    assert counted.rows.nnz == 0
    assert rows(edges, hops=2, hop_weights="binary")[0].tolist() == [0, 0, 0, 1]


def test_binary_hops_do_not_overflow_and_counts_do() -> None:
    edges = [("a", "b", 1e200), ("b", "a", 1e200)]
    with pytest.raises(ValueError, match="weights overflow after hops=2"):
        adjacency_vectors(edges, hops=2)
    assert rows(edges, hops=2, hop_weights="binary").tolist() == [[1, 0], [0, 1]]
    assert rows(edges, hops=2, hop_weights="random_walk").tolist() == [[1, 0], [0, 1]]


def test_random_walks_refuse_negative_weights_and_sums_that_overflow() -> None:
    with pytest.raises(ValueError, match=r"random walk needs weights of at least 0, got -2.*False"):
        adjacency_vectors([("a", "b", -2.0)], hop_weights="random_walk")
    allowed = rows([("a", "b", -2.0)], weight=False, hop_weights="random_walk")
    assert allowed.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match="weights of a node overflow when added"):
        adjacency_vectors([("a", "b", 1.5e308), ("a", "c", 1.5e308)], hop_weights="random_walk")


def test_nodes_without_edges_have_rows_of_zeros() -> None:
    for hop_weights in WEIGHTS:
        found = rows(EDGES, nodes=["lonely", "b"], hops=2, hop_weights=hop_weights)
        assert not found.any()


def test_direction_in_reverses_walks() -> None:
    A = random_matrix(3)
    out = rows(A, hops=2, hop_weights="binary")
    assert np.array_equal(rows(A, hops=2, hop_weights="binary", direction="in"), out.T)
    # The probability of a walk is not that of the walk back: rows are normalised after turning.
    np.testing.assert_allclose(
        rows(A, hops=2, hop_weights="random_walk", direction="in"),
        walk_rows(A.T, 2, "random_walk"),
        rtol=1e-13,
    )


def test_rectangular_graph_has_one_hop_only() -> None:
    matrix = np.array([[1.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    assert rows(matrix, hop_weights="random_walk").tolist() == [[0.25, 0.75, 0, 0], [0, 0, 0, 0]]
    with pytest.raises(ValueError, match="hops must be 1 for a rectangular graph"):
        adjacency_vectors(matrix, hops=2, hop_weights="binary")


def test_graph_is_not_modified() -> None:
    A = sp.csr_array(random_matrix(5))
    before = A.toarray()
    for hop_weights in WEIGHTS:
        adjacency_vectors(A, hops=3, hop_weights=hop_weights)  # type: ignore[arg-type]
    assert np.array_equal(A.toarray(), before)


@given(seeds)
def test_size_of_a_product_is_bounded(seed: Any) -> None:
    rng = np.random.default_rng(seed)
    left = sp.random_array((6, 8), density=0.3, random_state=rng).tocsr()
    right = sp.random_array((8, 5), density=0.3, random_state=rng).tocsr()
    bound = hops_module.bound_product_size(left, right)
    assert (left @ right).nnz <= bound <= 6 * 5
    full = hops_module.bound_product_size(
        sp.csr_array(np.ones((6, 8))), sp.csr_array(np.ones((8, 5)))
    )
    assert full == 6 * 5


@pytest.mark.parametrize("hop_weights", WEIGHTS)
def test_size_is_checked_before_multiplying(
    hop_weights: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = np.column_stack([np.arange(50), (np.arange(50) + 1) % 50])
    monkeypatch.setattr(hops_module, "MAX_ENTRIES", 49)
    with pytest.raises(ValueError, match="hops: 2 hops give up to 50 entries"):
        adjacency_vectors(ring, hops=2, hop_weights=hop_weights)
    assert adjacency_vectors(ring, hops=2, hop_weights=hop_weights, nodes=[0]).rows.nnz == 1


@pytest.mark.parametrize("hop_weights", ["counts", None, 1])
def test_unknown_hop_weights_are_refused(hop_weights: Any) -> None:
    with pytest.raises(ValueError, match="hop_weights must be one of 'count', 'binary', 'random_w"):
        adjacency_vectors(EDGES, hop_weights=hop_weights)
