"""Centred chains against dense powers of the walk less where walks from all nodes end."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.features.engine import CpuEngine
from gradraker.features.walks import WalkMatrices
from gradraker.models.walks.operators.centred_chains import CentredChains, measure_common
from gradraker.models.walks.operators.chains import scale_walk
from oracles import nodes as oracle

N = 23
LENGTHS = (1, 2, 8, 16)
WALKS = [("both", ()), ("out", ()), ("in", ()), ("both", (2, 5)), ("out", (2, 5))]


def _make_graph() -> Any:
    """Weighted and directed, with negative weights, a loop, a node without edges and a pair."""
    rng = np.random.default_rng(0)
    A = (rng.random((N, N)) < 0.2) * rng.uniform(0.2, 3.0, (N, N))
    A *= rng.choice([-1.0, 1.0], A.shape)
    A[[3, 7, 8]] = A[:, [3, 7, 8]] = 0.0
    A[7, 8], A[5, 5] = 2.0, 2.0
    return A


def _make_chains(
    A: Any, direction: Any = "both", hidden: Any = (), dtype: Any = np.float64
) -> tuple[CentredChains, Any]:
    mask = np.isin(np.arange(len(A)), hidden) if hidden else None
    matrices = WalkMatrices(csr_array(A), direction=direction, hidden=mask)
    is_symmetric = direction == "both" and not hidden
    T = scale_walk(matrices).astype(dtype)
    chains = CentredChains(T, CpuEngine(), dtype, matrices, is_symmetric=is_symmetric)
    probes: Any = np.random.default_rng(7).normal(size=(len(A), 64)).astype(np.float32)
    chains.set_norms(LENGTHS, probes)
    return chains, probes


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("direction", "hidden"), WALKS)
def test_products_equal_dense_powers(direction: Any, hidden: Any, dtype: Any) -> None:
    A = _make_graph()
    chains, probes = _make_chains(A, direction, hidden, dtype)
    unit = np.eye(N, dtype=dtype)
    by_units = dict(chains.multiply_units(unit, np.arange(N), LENGTHS))
    lengths = []
    for length, product in chains.multiply(unit, LENGTHS):
        lengths.append(length)
        assert product.dtype == dtype
        expected = oracle.operator_kernel(A, f"centred{length}", direction, hidden, probes=probes)
        assert abs(expected).max() > 0.5
        np.testing.assert_allclose(product, expected, atol=1e-10 if dtype is np.float64 else 2e-4)
        np.testing.assert_allclose(by_units[length], product, atol=1e-4)
    assert lengths == list(LENGTHS)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_what_is_common_is_a_pair_of_singular_vectors_of_the_largest_component(
    direction: Any,
) -> None:
    matrices = WalkMatrices(csr_array(_make_graph()), direction=direction)
    T = scale_walk(matrices)
    u, v = measure_common(matrices, T)
    np.testing.assert_allclose(T @ v, u, atol=1e-12)
    np.testing.assert_allclose(T.T @ u, v, atol=1e-12)
    assert [float(np.linalg.norm(x)) for x in (u, v)] == pytest.approx([1.0, 1.0])
    outside = [3, 7, 8]
    assert np.flatnonzero(u == 0.0).tolist() == outside
    assert np.flatnonzero(v == 0.0).tolist() == outside


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_where_all_walks_end_alike_at_once_nothing_is_alike(dtype: Any) -> None:
    complete = 0.5 * (np.ones((N, N)) - np.eye(N))  # twice, and with loops: one step leads anywhere
    chains, _ = _make_chains(complete, dtype=dtype)
    for _, product in chains.multiply(np.eye(N, dtype=dtype), LENGTHS):
        assert not product.any()


def test_groups_are_told_apart_after_walks_have_mixed() -> None:
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    A = np.triu(rng.random((200, 200)) < np.where(group[:, None] == group, 0.25, 0.1), 1)
    T = oracle.operator_walk(A + A.T, "both")
    assert np.linalg.matrix_power(T, 16).std(axis=0).max() < 0.01  # all walks end alike
    chains, _ = _make_chains(A + A.T, dtype=np.float32)
    ((_, K),) = chains.multiply(np.eye(200, dtype=np.float32), (8,))
    is_same = group[:, None] == group
    assert np.median(K[is_same]) > 0.5
    assert np.median(K[~is_same]) < -0.5
