"""Random walks on a graph, against dense matrices."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker.features.walks import describe_walks
from oracles import nodes as oracle
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
