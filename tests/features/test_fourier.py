"""Random Fourier features: equation (1), chunks, threads; the table of frequencies."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from gradraker.features import (
    FrequencyTable,
    compute_fourier_features,
    count_chunk_rows,
    fourier,
    iterate_feature_chunks,
    predict_linear,
    to_row_arrays,
)
from gradraker.features import engine as threads
from gradraker.kernels.shift_invariant import KERNELS
from oracles import skg as oracle

EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)


def table_for(
    n_columns: int, n_frequencies: int, *, kernel: str = "gaussian", seed: int = 0
) -> FrequencyTable:
    return FrequencyTable(seed, n_frequencies, kernel, n_numbered=n_columns)


def features_of(
    X: Any,
    *,
    n_frequencies: int = 9,
    sigma2: float = 1.0,
    kernel: str = "gaussian",
    dtype: type[Any] = np.float64,
    seed: int = 0,
) -> NDArray[Any]:
    rows = to_row_arrays(X)
    table = table_for(X.shape[1], n_frequencies, kernel=kernel, seed=seed)
    units = table.prepare(rows.indices)
    return compute_fourier_features(rows, units, 1 / math.sqrt(sigma2), dtype=dtype)


@EVERY_KERNEL
@pytest.mark.parametrize("n_neighbours", [0, 1, 2, 3, 4, 5, 7, 8, 9, 13])
def test_features_equal_equation_1(kernel: str, n_neighbours: int) -> None:
    # Neighbours are summed four at a time, so numbers around multiples of four count.
    rng = np.random.default_rng(n_neighbours)
    X = np.zeros((3, 13))
    for row in X:
        row[rng.permutation(13)[:n_neighbours]] = rng.normal(size=n_neighbours)
    table = table_for(13, 11, kernel=kernel)
    expected = oracle.features(X, table.compute_frequencies(1 / 1.5))
    found = features_of(X, n_frequencies=11, sigma2=2.25, kernel=kernel)
    # Cauchy frequencies reach some hundreds here, whose angles are rounded to 1e-13.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_features_by_hand() -> None:
    units = np.array([[1.0, 2.0], [0.5, -1.0]], dtype=np.float32)
    Z = compute_fourier_features(to_row_arrays(np.array([[1.0, 2.0]])), units, 0.5)
    # Projections: 1 + 2·0.5 = 2 and 2 − 2 = 0, halved.
    expected = np.array([[math.sin(1), 0.0, math.cos(1), 1.0]]) / math.sqrt(2)
    np.testing.assert_allclose(Z, expected, rtol=1e-15)


@EVERY_KERNEL
def test_features_of_angles_beyond_a_million(kernel: str) -> None:
    # Weights that are powers of 2 keep the angles exact, so the libm path shows its own error.
    X = np.ldexp(np.eye(6), np.array([[20, 24, 30, 40, 60, 900]]).T)
    table = table_for(6, 50, kernel=kernel)
    assert np.abs(X @ table.compute_frequencies(1.0)).min() > 1e3
    expected = oracle.features(X, table.compute_frequencies(1.0))
    np.testing.assert_allclose(
        features_of(X, n_frequencies=50, kernel=kernel), expected, atol=1e-16
    )


FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)


@EVERY_KERNEL
@given(
    row=st.lists(FINITE, min_size=1, max_size=6),
    n_frequencies=st.integers(1, 200),
    sigma2=st.floats(1e-6, 1e6),
    seed=st.integers(0, 2**64 - 1),
)
@settings(deadline=None, derandomize=True)
def test_features_have_norm_one(
    kernel: str, row: Any, n_frequencies: Any, sigma2: Any, seed: Any
) -> None:
    X = np.array([row])
    options = {"n_frequencies": n_frequencies, "sigma2": sigma2, "kernel": kernel, "seed": seed}
    Z = features_of(X, **options)
    assert Z.shape == (1, 2 * n_frequencies)
    assert np.linalg.norm(Z) == pytest.approx(1.0, abs=1e-14)
    # 400 float32 numbers, each rounded to 6e-8 of itself.
    assert np.linalg.norm(features_of(X, **options, dtype=np.float32)) == pytest.approx(1, abs=1e-6)


@EVERY_KERNEL
@given(power=st.integers(-200, 200), seed=st.integers(0, 1000))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_features_keep_when_rows_and_sigma_scale_together(
    kernel: str, power: Any, seed: Any
) -> None:
    X = np.random.default_rng(seed).normal(size=(4, 5))
    Z = features_of(X, sigma2=2.0, kernel=kernel)
    scaled = features_of(np.ldexp(X, power), sigma2=math.ldexp(2.0, 2 * power), kernel=kernel)
    # Powers of 2 scale without rounding, all the way through the square root.
    np.testing.assert_array_equal(scaled, Z)


def test_scaling_by_any_factor_changes_features_by_rounding_only() -> None:
    X = np.random.default_rng(0).normal(size=(20, 5))
    Z = features_of(X, sigma2=2.0)
    np.testing.assert_allclose(features_of(X * 0.37, sigma2=2.0 * 0.37**2), Z, rtol=0, atol=1e-14)


def test_features_of_a_row_of_zeros() -> None:
    Z = features_of(np.zeros((1, 4)), n_frequencies=25)
    np.testing.assert_array_equal(Z, [[0.0] * 25 + [0.2] * 25])


def test_dense_and_sparse_formats_give_equal_features() -> None:
    X = np.random.default_rng(0).normal(size=(8, 10)) * (np.arange(10) % 3 == 0)
    Z = features_of(X)
    with_zeros = sparse.csr_array((X.ravel(), np.tile(np.arange(10), 8), np.arange(0, 81, 10)))
    assert with_zeros.nnz == 80
    for rows in (sparse.csr_array(X), sparse.csr_matrix(X), with_zeros):
        np.testing.assert_array_equal(features_of(rows), Z)


def test_features_add_repeated_entries() -> None:
    twice = sparse.csr_array(([0.5, 1.0, 0.5], [2, 0, 2], [0, 3]), shape=(1, 3))
    np.testing.assert_allclose(
        features_of(twice), features_of(np.array([[1.0, 0.0, 1.0]])), rtol=0, atol=1e-15
    )


def test_features_accept_64_bit_indices() -> None:
    X = sparse.csr_array(np.eye(4))
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert to_row_arrays(wide).indices.dtype == np.int32
    np.testing.assert_array_equal(features_of(wide), features_of(X))


def test_features_of_rows_in_given_order() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    rows, units = to_row_arrays(X), table_for(3, 4).prepare(np.arange(3, dtype=np.int32))
    order = np.array([5, 0, 0, 3])
    np.testing.assert_array_equal(
        compute_fourier_features(rows, units, 1.0, order=order),
        compute_fourier_features(rows, units, 1.0)[order],
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_feature_chunks_equal_features_of_all_rows(
    monkeypatch: pytest.MonkeyPatch, dtype: type[Any], n_rows: int
) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows, units = to_row_arrays(X), table_for(3, 4).prepare(np.arange(3, dtype=np.int32))
    monkeypatch.setattr(fourier, "_CHUNK_BYTES", n_rows * 8 * np.dtype(dtype).itemsize + 1)
    assert count_chunk_rows(4, dtype) == n_rows
    order = np.random.default_rng(1).permutation(20)
    chunks = [
        (chunk, Z.copy())  # the next chunk may use the memory again
        for chunk, Z in iterate_feature_chunks(rows, units, 1.0, order=order, dtype=dtype)
    ]
    np.testing.assert_array_equal(np.concatenate([chunk for chunk, _ in chunks]), order)
    assert all(len(Z) == len(chunk) <= n_rows and Z.dtype == dtype for chunk, Z in chunks)
    np.testing.assert_array_equal(
        np.concatenate([Z for _, Z in chunks]),
        compute_fourier_features(rows, units, 1.0, order=order, dtype=dtype),
    )


def test_chunk_has_at_least_one_row() -> None:
    assert count_chunk_rows(10**9, np.float64) == 1


@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_features_and_predictions_do_not_depend_on_threads(
    monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    X = sparse.random_array(
        (50, 30), density=0.2, random_state=np.random.default_rng(0), format="csr"
    )
    theta = np.random.default_rng(1).normal(size=(2, 34))

    def results() -> Any:
        table = table_for(30, 17)
        rows = to_row_arrays(X)
        units = table.prepare(rows.indices)
        predictions = predict_linear(rows, units, 1.0, theta=theta)
        return (
            table.compute_frequencies(1.0),
            compute_fourier_features(rows, units, 1.0),
            predictions,
        )

    monkeypatch.setattr(threads, "count_threads", lambda: 1)
    alone = results()
    monkeypatch.setattr(threads, "count_threads", lambda: n_threads)
    # However little work there is.
    monkeypatch.setattr(
        fourier, "parallel_for", lambda loop, n, _: threads.parallel_for(loop, n, 1)
    )
    for one, many in zip(alone, results(), strict=True):
        np.testing.assert_array_equal(many, one)


# -- the table of frequencies --------------------------------------------------------------------


def test_frequencies_depend_on_seed_kernel_and_name_only() -> None:
    whole = FrequencyTable(5, 40, "gaussian", n_numbered=3, named=["a", "b", ("c", 1), 7])
    rows = whole.compute_frequencies(1.0)
    for row, name in zip(rows, [0, 1, 2, "a", "b", ("c", 1), 7], strict=True):
        alone = FrequencyTable(5, 40, "gaussian", named=[name]).compute_frequencies(1.0)
        np.testing.assert_array_equal(alone[0], row)
        assert not np.array_equal(
            FrequencyTable(6, 40, "gaussian", named=[name]).compute_frequencies(1.0), alone
        )
        assert not np.array_equal(
            FrequencyTable(5, 40, "cauchy", named=[name]).compute_frequencies(1.0), alone
        )


def test_frequencies_do_not_depend_on_order_of_nodes() -> None:
    grown = FrequencyTable(5, 40, "cauchy")
    for name in ["d", "a", "c", "b"]:
        grown.add([name])
        grown.prepare_names([name])
    at_once = FrequencyTable(5, 40, "cauchy", named=["a", "b", "c", "d"])
    np.testing.assert_array_equal(
        grown.compute_frequencies(1.0)[grown.find_rows(["a", "b", "c", "d"])],
        at_once.compute_frequencies(1.0),
    )
    assert grown.names == ["d", "a", "c", "b"]


def test_growing_keeps_drawn_rows() -> None:
    table = FrequencyTable(1, 8, "gaussian", n_numbered=2)
    before = table.compute_frequencies(1.0)
    for k in range(100):
        table.add([f"node {k}"])
        np.testing.assert_array_equal(table.compute_frequencies(1.0)[:2], before)
    assert len(table) == 102
    assert np.isfinite(table.compute_frequencies(1.0)).all()


def test_growing_keeps_undrawn_rows_undrawn() -> None:
    table = FrequencyTable(1, 8, "gaussian", n_numbered=3)
    table.prepare(np.array([1], dtype=np.int32))
    table.add(["a", "b", "c", "d"])  # more than there is room for
    expected = FrequencyTable(1, 8, "gaussian", named=[0, 1, 2, "a", "b", "c", "d"])
    np.testing.assert_array_equal(table.compute_frequencies(1.0), expected.compute_frequencies(1.0))


def test_find_accepts_equal_names_of_other_types() -> None:
    table = FrequencyTable(1, 2, "gaussian", n_numbered=3, named=["x", 5, 0.5])
    for name in (2, 2.0, np.int8(2), np.uint64(2), np.float32(2)):
        assert table.find(name) == 2
    assert [table.find(name) for name in (5, 5.0, np.int64(5))] == [4, 4, 4]
    assert table.find(np.str_("x")) == 3
    assert table.find(True) == 1
    for name in (3, -1, 2.5, "2", math.inf, -math.inf, math.nan, 10**30, None, np.complex64(2), ()):  # type: ignore[assignment]
        assert table.find(name) is None
    assert table.has_all([0, "x"])
    assert not table.has_all([0, "y"])


def test_add_missing_adds_once() -> None:
    table = FrequencyTable(1, 2, "gaussian", n_numbered=2, named=["a"])
    table.add_missing(["b", "a", 1, 1.0, "b", 2, 2.0])
    assert table.names == [0, 1, "a", "b", 2]


def test_add_with_a_bad_name_adds_none() -> None:
    table = FrequencyTable(1, 2, "gaussian", named=["a"])
    with pytest.raises(TypeError):
        table.add_missing(["b", None])
    assert table.names == ["a"]
    assert len(table) == 1


def test_drop_from_forgets_later_nodes_only() -> None:
    table = FrequencyTable(1, 3, "gaussian", n_numbered=2, named=["a", "b", "c"])
    before = table.compute_frequencies(1.0)
    table.prepare_names(["b", "c", "a"])
    table.drop_from(3)
    assert table.names == [0, 1, "a"]
    assert table.find("b") is None
    assert table.drawn_rows == {"a": 2}
    np.testing.assert_array_equal(table.compute_frequencies(1.0), before[:3])
    # The places are used again by others, whose rows must be drawn.
    table.add(["z"])
    expected = FrequencyTable(1, 3, "gaussian", named=["z"]).compute_frequencies(1.0)
    np.testing.assert_array_equal(table.compute_frequencies(1.0)[3:], expected)


def test_frequencies_are_units_over_sigma() -> None:
    table = FrequencyTable(1, 5, "laplacian", n_numbered=4)
    np.testing.assert_array_equal(
        table.compute_frequencies(0.25), table.compute_frequencies(1.0) / 4
    )
    assert table.compute_frequencies(1.0).dtype == np.float64


def test_prepare_draws_used_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw_rows = fourier.draw_rows  # type: ignore[attr-defined]
    monkeypatch.setattr(
        fourier,
        "draw_rows",
        lambda s, i, rows, d, t: (drawn.append(rows.tolist()), draw_rows(s, i, rows, d, t)),  # type: ignore[func-returns-value]
    )
    table = FrequencyTable(0, 4, "gaussian", n_numbered=10)
    table.prepare(np.array([7, 2, 7], dtype=np.int32))
    table.prepare(np.array([2, 3], dtype=np.int32))
    table.prepare(np.array([3], dtype=np.int32))
    assert [rows for rows in drawn if rows] == [[2, 7], [3]]


@pytest.mark.parametrize("column", [-1, 5, 6, 2**31 - 1])
def test_prepare_refuses_columns_outside_the_table(column: int) -> None:
    # The compiled loops do not check bounds, so this is what protects the memory.
    table = FrequencyTable(0, 4, "gaussian", n_numbered=4, named=["a"])
    table.add(["b"])
    table.drop_from(5)
    with pytest.raises(IndexError, match="outside the 5 referencing nodes"):
        table.prepare(np.array([0, column], dtype=np.int32))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_hold_seed_and_names_instead_of_frequencies(duplicate: Callable[..., Any]) -> None:
    table = FrequencyTable(2**64 - 1, 300, "cauchy", n_numbered=1000, named=["a", ("b", 1.5)])
    before = table.compute_frequencies(1.0)
    again = duplicate(table)
    assert list(again.names) == list(table.names)
    np.testing.assert_array_equal(again.compute_frequencies(1.0), before)
    assert len(pickle.dumps(table)) < 1000
    again.add(["new"])
    assert len(table) == 1002


def test_select_names_keeps_the_table() -> None:
    table = FrequencyTable(4, 6, "gaussian", n_numbered=2)
    other = table.select_names([1, "new"])
    np.testing.assert_array_equal(
        other.compute_frequencies(1.0)[0], table.compute_frequencies(1.0)[1]
    )
    assert len(table) == 2
