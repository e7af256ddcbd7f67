"""Operators of a graph against dense kernels: products, rows, new nodes."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import NodeRegressor
from gradraker.features.walks import describe_walks, draw_vectors
from gradraker.models.walks.choice import Term
from gradraker.models.walks.operators.mixes import Mix
from gradraker.models.walks.operators.operators import N_PROBES, Operators, to_operator_block
from oracles import nodes as oracle

N = 29
BLOCKS = ("hop1", "hop4", "hop16", "alternating1", "alternating4", "same_targets", "same_sources")


def _graph(seed: Any = 0) -> Any:
    """Weighted and directed, with negative weights and a node without edges."""
    rng = np.random.default_rng(seed)
    A = (rng.random((N, N)) < 0.12) * rng.uniform(0.2, 3.0, (N, N))
    A *= rng.choice([-1.0, 1.0], A.shape)
    A[3] = A[:, 3] = 0.0
    return A


def _operators(A: Any, direction: Any = "both", hidden: Any = None, dtype: Any = np.float64) -> Any:
    walks = describe_walks(
        csr_array(A), np.arange(len(A)), direction=direction, seed=1, hidden=hidden
    )
    return Operators(walks, dtype=dtype)


def _probes(operators: Any) -> Any:
    """The random vectors of the operators: drawn from the seed and the names of nodes."""
    walks = operators.walks
    return draw_vectors(walks.identities, N_PROBES, walks.seed ^ 0x70726F6265)


@pytest.mark.parametrize("direction", ["both", "out", "in"])
@pytest.mark.parametrize("block", [*BLOCKS, "degree", "community"])
def test_rows_of_a_term_equal_the_dense_kernel(block: Any, direction: Any) -> None:
    A = _graph()
    operators = _operators(A, direction)
    everyone = np.arange(N)
    expected = oracle.operator_kernel(A, block, direction, probes=_probes(operators), width=2.0)
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
    expected = oracle.operator_kernel(A, "hop4", probes=_probes(operators))
    found = operators.compute_rows(everyone, Term("hop4", None, 1.0), everyone)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("block", ["hop1", "hop4", "alternating1", "alternating4"])
def test_chains_exclude_hidden_nodes(block: Any) -> None:
    A = _graph()
    hidden = np.zeros(N, dtype=bool)
    hidden[[2, 3, 8]] = True
    operators = _operators(A, hidden=hidden)
    everyone = np.arange(N)
    expected = oracle.operator_kernel(A, block, hidden=(2, 3, 8), probes=_probes(operators))
    found = operators.compute_rows(everyone, Term(block, None, 1.0), everyone)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("block", ["same_targets", "same_sources"])
def test_meetings_exclude_hidden_nodes(block: Any) -> None:
    A = _graph()
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
    A = _graph()
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
    A = _graph()
    operators = _operators(A, direction, dtype=dtype)
    kernel = Mix(degrees=0.2, alternating=0.15, direction=0.25, lean="near").to_kernel()
    assert len(kernel) == 9
    probes = _probes(operators)
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
    A = _graph()
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
    A = _graph()
    kernel = Mix(degrees=0.2, alternating=0.2, direction=0.2).to_kernel()
    found, again = (_operators(B).multiply(np.eye(N), kernel) for B in (A, abs(A)))
    np.testing.assert_array_equal(found, again)


def test_to_operator_block_replaces_blocks_of_exact_kernels() -> None:
    blocks = ("far", "wide", "pagerank", "alternating", "hop3", "degree", "community")
    found = [to_operator_block(block) for block in blocks]
    assert found == ["hop64", "hop128", "hop16", "alternating4", "hop3", "degree", "community"]


# -- nodes that are not in the graph -----------------------------------------------


def _extend(A: Any, out: Any, into: Any, block: Any, direction: Any, probes: Any) -> Any:
    """Kernel (N,) between a new node, which no walk comes back to, and the graph."""
    if block in ("same_targets", "same_sources"):
        own = {"same_targets": "out", "same_sources": "in"}[block]
        E, new = oracle.links(A, own), out if own == "out" else into
        T, columns, m = oracle.meeting_walk(A, own), E.sum(axis=0), 1
    else:
        sign = -1.0 if block.startswith("alternating") else 1.0
        new = sign * {"both": out + into, "out": out, "in": into}[direction]
        T = oracle.operator_walk(A, direction, sign=sign)
        columns = oracle.links(A, direction).sum(axis=0) + 1.0
        m = int(block.removeprefix("hop").removeprefix("alternating"))
    extended = np.zeros((len(A) + 1, len(A) + 1))
    extended[:-1, :-1] = T
    extended[-1, :-1] = oracle.divide_by_roots(new[np.newaxis], [abs(new).sum()], columns)[0]
    rows = np.linalg.matrix_power(extended, m)
    products = rows[-1] @ rows[:-1].T
    norms = oracle.chain_norms(rows[:-1, :-1], m, probes)
    # The norm of a new row is estimated from probes for one step as well.
    own_norm = np.mean((rows[-1, :-1] @ probes) ** 2)
    return oracle.divide_by_roots(products[np.newaxis], [own_norm], norms)[0]


@pytest.mark.parametrize(
    "block",
    ["hop1", "hop3", "hop8", "alternating1", "alternating4", "same_targets", "same_sources"],
)
@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_predict_new_equals_the_dense_extended_graph(block: Any, direction: Any) -> None:
    A = _graph(4)
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(
        blocks=block, width=1.0, alpha=0.1, solver="operators", direction=direction, tol=1e-12
    ).fit(A, values, kind="matrix")
    out, into = np.zeros(N), np.zeros(N)
    out[[3, 5]], into[[5, 8]] = (2.0, 1.0), (0.5, 1.5)
    edges = [("new", 3, -2.0), ("new", 5, 1.0), (5, "new", 0.5), (8, "new", 1.5)]
    predicted = model.predict_new([*edges, ("other", 9, 1.0)])
    operators = model._description
    probes = _probes(operators)
    K = oracle.operator_kernel(A, block, direction, probes=probes)[np.ix_(known, known)]
    k = _extend(A, out, into, block, direction, probes)[known]
    expected = oracle.fixed_mean_ridge(K, k[np.newaxis], values[known], 0.1)[0]
    assert predicted["new"] == pytest.approx(expected, abs=1e-7)
    assert model.predict_new(edges)["new"] == pytest.approx(predicted["new"], abs=1e-12)
    assert len(model.nodes_) == N


@pytest.mark.parametrize("direction", ["both", "out"])
def test_predict_new_by_communities_equals_the_dense_features(direction: Any) -> None:
    A = _graph(6)
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(
        blocks="community", width=0.5, alpha=0.1, solver="operators", direction=direction, tol=1e-12
    ).fit(A, values, kind="matrix")
    predicted = model.predict_new([("new", 5, -2.0), ("new", 8, 1.0)])["new"]
    new = np.zeros((1, N))
    new[0, [5, 8]] = 2.0, 1.0
    columns = oracle.links(A, direction).sum(axis=0) + 1.0
    step = oracle.divide_by_roots(new, [3.0], columns)
    T, probes = oracle.operator_walk(A, direction), _probes(model._description)
    rows = oracle.community_rows(T, probes)
    own = step @ np.linalg.matrix_power(T, 15) @ probes
    own /= np.linalg.norm(own)
    d2 = oracle.squared_distances(rows)
    scale = 1.0 / (2.0 * 0.5 * oracle.median(d2))
    eigenvalues, vectors = np.linalg.eigh(np.exp(-scale * d2))
    kept = eigenvalues > 1e-6 * eigenvalues[-1]
    to_features = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    z = np.exp(-scale * ((own - rows) ** 2).sum(axis=1)) @ to_features
    Z = np.exp(-scale * d2) @ to_features
    k = oracle.divide_by_roots((Z @ z)[np.newaxis], [z @ z], (Z**2).sum(axis=1))[:, known]
    K = oracle.low_rank_kernel(rows, 0.5)[np.ix_(known, known)]
    expected = oracle.fixed_mean_ridge(K, k, values[known], 0.1)[0]
    assert predicted == pytest.approx(expected, abs=1e-6)


def test_predict_new_by_degrees_equals_the_dense_features() -> None:
    A = abs(_graph(5))
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(blocks="degree", width=4.0, alpha=0.1, solver="operators", tol=1e-12)
    model.fit(A, values, kind="matrix")
    twin = 7  # a copy of a node, which the other nodes do not see
    edges: list[Any] = [("twin", int(j), A[twin, j]) for j in np.flatnonzero(A[twin])]
    edges += [(int(j), "twin", A[j, twin]) for j in np.flatnonzero(A[:, twin])]
    assert model.predict_new(edges)["twin"] == pytest.approx(model.predict([twin])[0], abs=1e-9)


@pytest.mark.parametrize("blocks", [("hop1", "hop4", "hop64"), ("degree",), ("same_targets",)])
def test_predict_new_without_links_is_finite(blocks: Any) -> None:
    A = _graph(4)
    values = np.where(np.arange(N) % 2, np.arange(N) * 1.0, np.nan)
    model = NodeRegressor(blocks=blocks, width=1.0, alpha=0.1, solver="operators")
    model.fit(A, values, kind="matrix")
    found = model.predict_new({"new": []}, return_interval=True)["new"]
    assert np.isfinite(found).all()
    if "degree" not in blocks:
        assert found[0] == pytest.approx(np.nanmean(values), abs=1e-6)
