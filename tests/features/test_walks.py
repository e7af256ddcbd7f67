"""Random walks on a graph, against dense matrices."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker.features.walks import WalkMatrices, compute_commutes, describe_walks
from oracles import nodes as oracle
from oracles.hops import compute_commute_times
from walk_examples import get_walk, make_matrix, make_walks


def test_walk_stays_at_a_node_without_edges() -> None:
    P = get_walk(make_walks(make_matrix()))
    np.testing.assert_array_equal(P[3], np.eye(23)[3])


def test_walks_exclude_hidden_nodes() -> None:
    A = make_matrix()
    hidden = np.zeros(23, dtype=bool)
    hidden[[2, 5]] = True
    walks = make_walks(A, hidden=hidden)
    np.testing.assert_allclose(get_walk(walks), oracle.walk(A, hidden=[2, 5]), atol=1e-15)
    seen = A.copy()
    rest = np.delete(np.arange(23), [2, 5])
    P = get_walk(make_walks(seen[np.ix_(rest, rest)]))
    np.testing.assert_allclose(get_walk(walks)[np.ix_(rest, rest)], P, atol=1e-15)


def test_order_of_nodes_depends_on_names_and_seed_only() -> None:
    A = make_matrix()
    names = np.array([f"n{i}" for i in range(23)], dtype=object)
    shuffled = np.random.default_rng(0).permutation(23)

    def first(A: Any, names: Any, seed: Any) -> Any:
        walks = describe_walks(csr_array(A), names, direction="both", seed=seed)
        return names[walks.order].tolist()

    moved = A[np.ix_(shuffled, shuffled)]
    assert first(A, names, 1) == first(moved, names[shuffled], 1)
    assert first(A, names, 1) != first(A, names, 2)


def _measure_commutes(A: Any, hidden: Any = None) -> Any:
    G = compute_commutes(WalkMatrices(csr_array(A), hidden=hidden))
    own = np.diag(G)
    return G, own[:, np.newaxis] + own - 2.0 * G


def test_squared_distances_of_commutes_are_commute_times() -> None:
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4), 1) + np.eye(12, k=1)
    _, squared = _measure_commutes(A)
    np.testing.assert_allclose(squared, compute_commute_times(A + A.T), rtol=1e-3)


def test_commutes_of_nodes_that_no_walk_connects_are_0() -> None:
    A = np.zeros((5, 5))
    A[0, 1] = A[2, 3] = 1.0
    G, squared = _measure_commutes(A)
    assert (G[:2, 2:] == 0.0).all()
    assert (G[4, :4] == 0.0).all()
    np.testing.assert_allclose([squared[0, 1], squared[2, 3]], 1.0, rtol=1e-2)


def test_commutes_of_hidden_nodes_are_those_of_a_node_that_is_appended() -> None:
    rng = np.random.default_rng(1)
    A = np.triu(rng.random((9, 9)) < 0.6, 1) + np.eye(9, k=1)
    hidden = np.arange(9) == 8
    _, alone = _measure_commutes(A[:8, :8])
    _, squared = _measure_commutes(A, hidden)
    np.testing.assert_allclose(squared[:8, :8], alone, atol=1e-9)
    whole = A + A.T
    links = whole[8, :8] / whole[8].sum()
    place = np.linalg.pinv(np.diag(whole[:8, :8].sum(axis=1)) - whole[:8, :8])
    own = links @ place @ links + 1.0 / whole[8].sum()
    np.testing.assert_allclose(
        squared[8, :8], own + np.diag(place) - 2.0 * place @ links, rtol=1e-2
    )
