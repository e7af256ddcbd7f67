"""Operators of a graph against dense kernels: products, rows, new nodes."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from dense_operators import N, get_probes, make_matrix
from gradraker.features.walks import describe_walks
from gradraker.models.walks.choice import Term
from gradraker.models.walks.operators.mixes import Mix
from gradraker.models.walks.operators.operators import Operators, to_operator_block
from oracles import nodes as oracle

BLOCKS = (
    *("hop1", "hop4", "hop16", "lazy1", "lazy4", "alternating1", "alternating4"),
    *("centred1", "centred4", "same_targets", "same_sources"),
)


def _operators(A: Any, direction: Any = "both", hidden: Any = None, dtype: Any = np.float64) -> Any:
    walks = describe_walks(
        csr_array(A), np.arange(len(A)), direction=direction, seed=1, hidden=hidden
    )
    return Operators(walks, dtype=dtype)


@pytest.mark.parametrize("direction", ["both", "out", "in"])
@pytest.mark.parametrize("block", [*BLOCKS, "degree", "community"])
def test_rows_of_a_term_equal_the_dense_kernel(block: Any, direction: Any) -> None:
    A = make_matrix()
    operators = _operators(A, direction)
    everyone = np.arange(N)
    expected = oracle.operator_kernel(A, block, direction, probes=get_probes(operators), width=2.0)
    term = Term(block, 2.0, 0.3)  # the share does not count
    found = operators.compute_rows(everyone, term, everyone)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    rows, others = np.array([5, 3, 5]), np.array([0, 9, 28, 2])
    found = operators.compute_rows(rows, term, others)
    np.testing.assert_allclose(found, expected[np.ix_(rows, others)], atol=1e-8)


def test_more_rows_than_fit_at_once_are_computed_in_parts() -> None:
    rng = np.random.default_rng(0)
    A = (rng.random((150, 150)) < 0.05) * 1.0
    operators = _operators(A)
    everyone = np.arange(150)
    expected = oracle.operator_kernel(A, "hop4", probes=get_probes(operators))
    found = operators.compute_rows(everyone, Term("hop4", None, 1.0), everyone)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(
    "block",
    ["hop1", "hop4", "lazy1", "lazy4", "centred1", "centred4", "alternating1", "alternating4"],
)
def test_chains_exclude_hidden_nodes(block: Any) -> None:
    A = make_matrix()
    hidden = np.zeros(N, dtype=bool)
    hidden[[2, 3, 8]] = True
    operators = _operators(A, hidden=hidden)
    everyone = np.arange(N)
    expected = oracle.operator_kernel(A, block, hidden=(2, 3, 8), probes=get_probes(operators))
    found = operators.compute_rows(everyone, Term(block, None, 1.0), everyone)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("block", ["same_targets", "same_sources"])
def test_meetings_exclude_hidden_nodes(block: Any) -> None:
    A = make_matrix()
    hidden = np.zeros(N, dtype=bool)
    hidden[[2, 8]] = True
    changed = A.copy()  # edges between hidden nodes are never looked at
    changed[2, 8] += 1.5
    everyone = np.arange(N)
    found, again = (
        _operators(B, hidden=hidden).compute_rows(everyone, Term(block, None, 1.0), everyone)
        for B in (A, changed)
    )
    np.testing.assert_allclose(found, again, atol=1e-12)


def test_degrees_exclude_hidden_nodes() -> None:
    A = make_matrix()
    hidden = np.zeros(N, dtype=bool)
    hidden[[2, 8]] = True
    changed = A.copy()
    changed[2, 8] += 1.5
    everyone = np.arange(N)
    found, again = (
        _operators(B, hidden=hidden).compute_rows(everyone, Term("degree", 4.0, 1.0), everyone)
        for B in (A, changed)
    )
    np.testing.assert_allclose(found, again, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("direction", ["both", "out"])
def test_product_of_a_mix_equals_the_dense_sum(direction: Any, dtype: Any) -> None:
    A = make_matrix()
    operators = _operators(A, direction, dtype=dtype)
    kernel = Mix(degrees=0.2, alternating=0.15, direction=0.25, lean="near").to_kernel()
    assert len(kernel) == 9
    probes = get_probes(operators)
    K = sum(
        t.share * oracle.operator_kernel(A, t.block, direction, probes=probes, width=4.0)
        for t in kernel
    )
    X = np.random.default_rng(0).normal(size=(N, 3)).astype(dtype)
    before = X.copy()
    found = operators.multiply(X, kernel)
    assert found.dtype == dtype
    atol = 1e-4 if dtype == np.float32 else 1e-6  # eigenvalues below 1e-6 are cut off
    np.testing.assert_allclose(found, K @ X, atol=atol)
    np.testing.assert_array_equal(X, before)
    terms = {t.block: np.array(p) for t, p in operators.multiply_terms(X, kernel)}
    assert terms.keys() == {t.block for t in kernel}
    total = sum(t.share * terms[t.block] for t in kernel)
    np.testing.assert_allclose(total, K @ X, atol=atol)


def test_two_widths_of_degrees_are_two_terms() -> None:
    A = make_matrix()
    operators = _operators(A)
    kernel = (Term("degree", 0.5, 0.4), Term("degree", 4.0, 0.6))
    K = 0.4 * oracle.degree_kernel(A, 0.5) + 0.6 * oracle.degree_kernel(A, 4.0)
    np.testing.assert_allclose(operators.multiply(np.eye(N), kernel), K, atol=1e-8)


def test_degrees_of_a_regular_graph_tell_nothing() -> None:
    ring = np.roll(np.eye(8), 1, axis=1)
    operators = _operators(ring + ring.T)
    found = operators.compute_rows(np.arange(8), Term("degree", 4.0, 1.0), np.arange(8))
    np.testing.assert_array_equal(found, 0.0)


def test_a_graph_without_edges_has_the_identity_for_a_kernel() -> None:
    operators = _operators(np.zeros((6, 6)))
    for block in ("hop1", "hop4", "hop64", "alternating4"):
        found = operators.compute_rows(np.arange(6), Term(block, None, 1.0), np.arange(6))
        # Norms are estimated from 64 random numbers each: √(2/64) = 0.18, 5 deviations.
        np.testing.assert_allclose(found, np.eye(6), atol=1e-12 if block == "hop1" else 0.9)
        np.testing.assert_array_equal(found[~np.eye(6, dtype=bool)], 0.0)


def test_negative_weights_count_by_their_size() -> None:
    A = make_matrix()
    kernel = Mix(degrees=0.2, alternating=0.2, direction=0.2).to_kernel()
    found, again = (_operators(B).multiply(np.eye(N), kernel) for B in (A, abs(A)))
    np.testing.assert_array_equal(found, again)


def test_to_operator_block_replaces_blocks_of_exact_kernels() -> None:
    blocks = ("far", "wide", "pagerank", "alternating", "hop3", "degree", "community")
    found = [to_operator_block(block) for block in blocks]
    assert found == ["hop64", "hop128", "hop16", "alternating4", "hop3", "degree", "community"]


# -- nodes that are not in the graph -----------------------------------------------
