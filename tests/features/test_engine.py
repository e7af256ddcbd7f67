"""The engine of products on the CPU against SciPy."""

import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.exceptions import DeviceMemoryError, NoDeviceError
from gradraker.features import engine as engine_module
from gradraker.features.engine import CpuEngine, choose_engine, pad_columns, report_memory
from gradraker.features.engines.cuda import make_cuda_engine
from oracles.strict_engine import NoRoomError, StrictEngine


def _matrix(n: Any = 50, m: Any = 50, density: Any = 0.1) -> Any:
    rng = np.random.default_rng(0)
    return csr_array((rng.random((n, m)) < density) * rng.normal(size=(n, m)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 7, 12, 16, 20])
def test_multiply_equals_scipy_in_padded_buffers(dtype: Any, n_columns: Any) -> None:
    A, engine = _matrix(), CpuEngine()
    rng = np.random.default_rng(1)
    width = pad_columns(n_columns)
    X = rng.normal(size=(50, width)).astype(dtype)
    product = rng.normal(size=(50, width)).astype(dtype)
    before = product.astype(np.float64)
    engine.multiply(engine.load_sparse(A, dtype), X, n_columns, product, 2.0, -1.0)
    expected = 2.0 * (A @ X.astype(np.float64)) - before
    # About 5 products of normal numbers in each sum.
    np.testing.assert_allclose(
        product[:, :n_columns], expected[:, :n_columns], atol=60 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_multiply_adds_weighted_products_to_sums(is_contiguous: bool) -> None:
    A, engine = _matrix(), CpuEngine()
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(50, 12)), rng.normal(size=(2, 12))
    sums = np.ones((2, 50, 12))
    product = np.zeros((50, 12)) if is_contiguous else np.zeros((50, 24))[:, ::2]
    engine.multiply(
        engine.load_sparse(A, np.float64), X, 12, product, 2.0, weights=weights, sums=sums
    )
    np.testing.assert_allclose(product, 2.0 * (A @ X), atol=1e-13)
    expected = 1.0 + weights[:, np.newaxis] * product
    np.testing.assert_allclose(sums, expected, atol=1e-13)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 5, 9])
def test_multiply_takes_arrays_that_are_not_padded(n_columns: Any) -> None:
    A, engine = _matrix(), CpuEngine()
    X = np.random.default_rng(1).normal(size=(50, n_columns))
    product = np.full((50, n_columns), np.nan)
    engine.multiply(engine.load_sparse(A, np.float64), X, n_columns, product)
    np.testing.assert_allclose(product, A @ X, atol=1e-13)


def test_multiply_stays_inside_a_product_that_is_narrower_than_its_factor() -> None:
    A, engine = _matrix(), CpuEngine()
    X = np.random.default_rng(1).normal(size=(50, 8))
    around = np.full((50, 11), 7.0)
    product = around[:, 3:8]
    engine.multiply(engine.load_sparse(A, np.float64), X, 5, product)
    np.testing.assert_allclose(product, (A @ X)[:, :5], atol=1e-13)
    np.testing.assert_array_equal(around[:, 8:], 7.0)


def test_multiply_does_not_depend_on_the_number_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    A, engine = _matrix(), CpuEngine()
    X = np.random.default_rng(1).normal(size=(50, 8)).astype(np.float32)
    loaded = engine.load_sparse(A, np.float32)
    found = []
    for per_block in (1, 10**9):
        monkeypatch.setattr(engine_module, "_PRODUCTS_PER_BLOCK", per_block)
        product = np.empty_like(X)
        engine.multiply(loaded, X, 8, product)
        found.append(product)
    np.testing.assert_array_equal(found[0], found[1])


def test_multiply_takes_matrices_without_entries() -> None:
    engine = CpuEngine()
    product = np.full((3, 4), np.nan)
    engine.multiply(engine.load_sparse(csr_array((3, 3)), np.float64), np.ones((3, 4)), 4, product)
    np.testing.assert_array_equal(product, 0.0)


def test_load_and_fetch_keep_values_and_take_the_precision() -> None:
    engine = CpuEngine()
    X = np.arange(6.0).reshape(2, 3).T
    loaded = engine.load(X, np.float32)
    assert loaded.dtype == np.float32
    assert loaded.flags.c_contiguous
    np.testing.assert_array_equal(engine.fetch(loaded), X)
    matrix = engine.load_sparse(_matrix(), np.float32)
    assert matrix.indices.dtype == np.int32
    assert matrix.data.dtype == np.float32
    assert matrix.n_rows == 50


def test_pad_columns_never_returns_fewer() -> None:
    assert all(pad_columns(k) >= k for k in range(1, 200))
    assert [pad_columns(k) for k in (1, 4, 8, 16, 17)] == [1, 4, 8, 16, 32]


def test_choose_engine_takes_the_cpu() -> None:
    assert isinstance(choose_engine("cpu"), CpuEngine)


def test_choose_engine_names_the_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    make_cuda_engine.cache_clear()
    with pytest.raises(NoDeviceError, match=r"pip install 'gradraker\[cuda\]'"):
        choose_engine("cuda")


def test_report_memory_leaves_other_errors_alone() -> None:
    engine: Any = StrictEngine()
    with pytest.raises(KeyError), report_memory(engine, 1, 1):
        raise KeyError
    with pytest.raises(DeviceMemoryError) as caught, report_memory(engine, 5, 7):
        raise NoRoomError
    assert (caught.value.n_nodes, caught.value.n_entries) == (5, 7)
