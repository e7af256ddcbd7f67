"""Chains as operators against dense powers and dense low passes."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.features.engine import CpuEngine
from gradraker.features.walks import WalkMatrices
from gradraker.models.walks.operators.chains import (
    StepwiseChains,
    SymmetricChains,
    build_meeting_walk,
    make_chains,
    scale_walk,
)
from oracles import nodes as oracle

N = 23
LENGTHS = (1, 2, 4, 8, 16, 64)


def _graph(seed: Any = 0) -> Any:
    """Weighted and directed, with negative weights, a loop and a node without edges."""
    rng = np.random.default_rng(seed)
    A = (rng.random((N, N)) < 0.12) * rng.uniform(0.2, 3.0, (N, N))
    A *= rng.choice([-1.0, 1.0], A.shape)
    A[3] = A[:, 3] = 0.0
    A[5, 5] = 2.0
    return A


def _hide(hidden: Any) -> Any:
    mask = np.zeros(N, dtype=bool)
    mask[list(hidden)] = True
    return mask if hidden else None


def _scale_walk(A: Any, direction: Any, hidden: Any = None, sign: float = 1.0) -> Any:
    return scale_walk(WalkMatrices(csr_array(A), direction=direction, hidden=hidden), sign)


def _probes(n_probes: Any = 64) -> Any:
    return np.random.default_rng(7).normal(size=(N, n_probes)).astype(np.float32)


def _multiply_identity(chains: Any, lengths: Any, dtype: Any = np.float64, **options: Any) -> Any:
    products = chains.multiply(np.eye(N, dtype=dtype), lengths, **options)
    return {length: np.array(product) for length, product in products}


@pytest.mark.parametrize("hidden", [(), (2, 5, 3)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_scale_walk_equals_the_dense_walk(direction: Any, sign: Any, hidden: Any) -> None:
    A = _graph()
    T = _scale_walk(A, direction=direction, hidden=_hide(hidden), sign=sign)
    expected = oracle.operator_walk(A, direction, hidden, sign)
    np.testing.assert_allclose(T.toarray(), expected, atol=1e-14)


@pytest.mark.parametrize("direction", ["out", "in"])
def test_build_meeting_walk_equals_the_dense_walk(direction: Any) -> None:
    A = _graph()
    T = build_meeting_walk(csr_array(A), direction)
    np.testing.assert_allclose(T.toarray(), oracle.meeting_walk(A, direction), atol=1e-14)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("direction", "hidden", "kind"),
    [
        ("both", (), SymmetricChains),
        ("out", (), StepwiseChains),
        ("in", (), StepwiseChains),
        ("both", (2, 5), StepwiseChains),
        ("out", (2, 5), StepwiseChains),
    ],
)
def test_products_of_chains_equal_dense_kernels(
    direction: Any, hidden: Any, kind: Any, sign: Any
) -> None:
    A = _graph()
    T = _scale_walk(A, direction=direction, hidden=_hide(hidden), sign=sign)
    chains = make_chains(T, CpuEngine(), np.float64)
    assert isinstance(chains, kind)
    probes = _probes()
    chains.set_norms(LENGTHS, probes)
    found = _multiply_identity(chains, LENGTHS)
    assert found.keys() == set(LENGTHS)
    dense = oracle.operator_walk(A, direction, hidden, sign)
    for length, K in found.items():
        expected = oracle.chain_kernel(dense, length, probes)
        np.testing.assert_allclose(K, expected, atol=1e-10, err_msg=str(length))


@pytest.mark.parametrize("order", [(16, 1, 4), (4, 16, 1), (1,), (64, 1)])
@pytest.mark.parametrize("direction", ["both", "out"])
def test_products_do_not_depend_on_the_chains_beside_them(direction: Any, order: Any) -> None:
    chains = make_chains(_scale_walk(_graph(), direction=direction), CpuEngine(), np.float64)
    chains.set_norms(LENGTHS, _probes())
    X = np.random.default_rng(0).normal(size=(N, 3))
    all_of_them = dict(chains.multiply(X, LENGTHS))
    some = dict(chains.multiply(X, order))
    assert list(some) == sorted(order)
    for length in order:
        np.testing.assert_allclose(some[length], all_of_them[length], atol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 3, 5])
@pytest.mark.parametrize("direction", ["both", "out"])
def test_sum_of_chains_equals_the_sum_of_dense_kernels(direction: Any, n_columns: int) -> None:
    A, probes, shares = _graph(), _probes(), {4: 0.3, 64: 0.5, 1: 0.2}
    chains = make_chains(_scale_walk(A, direction=direction), CpuEngine(), np.float64)
    chains.set_norms(LENGTHS, probes)
    X = np.random.default_rng(0).normal(size=(N, n_columns))
    dense = oracle.operator_walk(A, direction, (), 1.0)
    expected = sum(
        share * oracle.chain_kernel(dense, length, probes) @ X for length, share in shares.items()
    )
    np.testing.assert_allclose(chains.multiply_sum(X, shares), expected, atol=1e-10)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_single_precision_comes_near_double_precision(direction: Any) -> None:
    T = _scale_walk(_graph(), direction=direction)
    found = {}
    for dtype in (np.float32, np.float64):
        chains = make_chains(T, CpuEngine(), dtype)
        chains.set_norms(LENGTHS, _probes())
        found[dtype] = _multiply_identity(chains, LENGTHS, dtype)
    for length in LENGTHS:
        assert found[np.float32][length].dtype == np.float32
        # Some 40 products of numbers below 1, each rounded to 6e-8.
        np.testing.assert_allclose(found[np.float32][length], found[np.float64][length], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("direction", ["both", "out"])
def test_norms_and_sketches_do_not_change_the_probes(direction: Any, dtype: Any) -> None:
    chains = make_chains(_scale_walk(_graph(), direction=direction), CpuEngine(), dtype)
    probes = _probes().astype(dtype)
    before = probes.copy()
    chains.set_norms(LENGTHS, probes)
    chains.sketch_rows(LENGTHS, probes)
    np.testing.assert_array_equal(probes, before)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_norm_of_one_step_is_exact_and_others_are_unbiased(direction: Any) -> None:
    n_probes = 40_000
    chains = make_chains(_scale_walk(_graph(), direction=direction), CpuEngine(), np.float64)
    chains.set_norms(LENGTHS, _probes(n_probes))
    found = _multiply_identity(chains, LENGTHS)
    np.testing.assert_allclose(np.diag(found[1]), 1.0, atol=1e-13)
    for length in LENGTHS[1:]:
        # The mean of squared normal numbers has a relative standard error of √(2/p) = 0.007;
        # the largest of 23 is within 5 of them.
        np.testing.assert_allclose(np.diag(found[length]), 1.0, atol=5 * np.sqrt(2 / n_probes))


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_remainders_times_a_new_row_are_rows_of_the_extended_graph(direction: Any) -> None:
    A = _graph()
    T = oracle.operator_walk(A, direction)
    chains = make_chains(_scale_walk(A, direction=direction), CpuEngine(), np.float64)
    probes = _probes()
    lengths = (1, 2, 4, 8)
    chains.set_norms(lengths, probes)
    remainders = _multiply_identity(chains, lengths, after_step=True)
    sketches = chains.sketch_rows(lengths, probes)
    new = np.zeros(N)
    new[[4, 7]] = 0.6, 0.3
    extended = np.zeros((N + 1, N + 1))
    extended[:N, :N], extended[N, :N] = T, new
    for length in lengths:
        rows = np.linalg.matrix_power(extended, length)
        norms = oracle.chain_norms(rows[:N, :N], length, probes)
        expected = (rows @ rows.T)[N, :N] / np.sqrt(norms)
        np.testing.assert_allclose(new @ remainders[length], expected, atol=1e-11)
        np.testing.assert_allclose(new @ sketches[length], (rows[N, :N] @ probes), atol=1e-9)


def test_remainders_of_long_chains_are_quotients() -> None:
    A = _graph()
    T = oracle.operator_walk(A)
    chains = make_chains(_scale_walk(A, direction="both"), CpuEngine(), np.float64)
    probes = _probes()
    chains.set_norms((16, 64), probes)
    remainders = _multiply_identity(chains, (16, 64), after_step=True)
    for length in (16, 64):
        P = oracle.series_power(T, length)
        at_zero = oracle.series_power(np.zeros((1, 1)), length)[0, 0]
        roots = 1.0 / np.sqrt(oracle.chain_norms(P, length, probes))
        # T times the remainder is the kernel without its constant.
        expected = (P @ P - at_zero**2 * np.eye(N)) * roots
        np.testing.assert_allclose(T @ remainders[length], expected, atol=1e-10)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_products_with_unit_vectors_are_columns_of_the_kernels(direction: Any) -> None:
    chains = make_chains(_scale_walk(_graph(), direction), CpuEngine(), np.float64)
    assert isinstance(chains, SymmetricChains if direction == "both" else StepwiseChains)
    chains.set_norms(LENGTHS, _probes())
    rows = np.array([7, 0, 12])
    expected = _multiply_identity(chains, LENGTHS)
    found = dict(chains.multiply_units(np.eye(N)[:, rows], rows, LENGTHS))
    assert found.keys() == expected.keys()
    for length, product in found.items():
        np.testing.assert_allclose(product, expected[length][:, rows], atol=1e-12)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_a_lazy_walk_stays_with_probability_one_half(direction: Any) -> None:
    A = _graph()
    matrices = WalkMatrices(csr_array(A), direction=direction)
    T = scale_walk(matrices, is_lazy=True).toarray()
    E = np.abs(A) + np.abs(A).T if direction == "both" else np.abs(A)
    sums = E.sum(axis=1)
    loops = np.where(sums > 0.0, sums, 1.0)
    rows, columns = sums + loops, E.sum(axis=0) + loops
    expected = (E + np.diag(loops)) / np.sqrt(np.outer(rows, columns))
    np.testing.assert_allclose(T, expected, atol=1e-12)
    assert T[3, 3] == 1.0  # a node without edges stays
    if direction == "both":
        assert np.linalg.eigvalsh(T).min() > -1e-12  # no walk comes and goes
