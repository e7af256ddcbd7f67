"""The engine of the GPU on a stand-in for CuPy: the arguments that it passes to kernels."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.features.engine import pad_columns
from gradraker.features.engines import cuda
from oracles.fake_cupy import FakeCupy

N = 60


def _make_matrix() -> csr_array:
    rng = np.random.default_rng(0)
    A = (rng.random((N, N)) < 0.1) * rng.normal(size=(N, N))
    A[5] = rng.normal(size=N)
    A[7] = 0.0
    return csr_array(A)


@pytest.mark.parametrize(("dtype", "allowed"), [(np.float32, 1e-4), (np.float64, 1e-12)])
@pytest.mark.parametrize("k", [1, 3, 4, 9, 16, 20, 33, 64, 256])
def test_columns_are_split_among_kernels(
    k: int, dtype: Any, allowed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "LONG_ROW", 30)
    engine, A = cuda.CudaEngine(FakeCupy()), _make_matrix()
    loaded = engine.load_sparse(A, dtype)
    assert loaded.long_rows.tolist() == [5]
    rng = np.random.default_rng(k)
    for width in (k, pad_columns(k)):
        X, Y = rng.normal(size=(2, N, width)).astype(dtype)
        product = engine.load(Y.copy(), dtype)
        engine.multiply(loaded, engine.load(X, dtype), k, product, 2.0, -1.0)
        expected = 2.0 * (A @ X.astype(np.float64)) - Y
        np.testing.assert_allclose(engine.fetch(product)[:, :k], expected[:, :k], atol=allowed)
    wide = np.full((N, 2 * k), np.nan, dtype=dtype)  # a part of a wider array
    engine.multiply(loaded, X, k, wide[:, :k])
    np.testing.assert_allclose(wide[:, :k], A @ X[:, :k].astype(np.float64), atol=allowed)


def test_products_are_added_to_sums() -> None:
    engine, A = cuda.CudaEngine(FakeCupy()), _make_matrix()
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(N, 16)), rng.normal(size=(3, 16))
    weights[1] = 0.0
    product, sums = np.zeros((N, 16)), engine.load(np.ones((3, N, 16)), np.float64)
    loaded = engine.load_sparse(A, np.float64)
    engine.multiply(loaded, engine.load(X, np.float64), 9, product, weights=weights, sums=sums)
    expected = np.ones((3, N, 16))
    expected[:, :, :9] += (weights[:, np.newaxis] * (A @ X))[:, :, :9]
    np.testing.assert_allclose(engine.fetch(sums), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 64, 300])
def test_sums_are_taken_in_two_steps(k: int, dtype: Any) -> None:
    engine = cuda.CudaEngine(FakeCupy())
    X, Y = np.random.default_rng(0).normal(size=(2, 3000, k)).astype(dtype)
    found = engine.fetch(engine.sum_products(engine.load(X, dtype), engine.load(Y, dtype)))
    np.testing.assert_allclose(found, (X.astype(np.float64) * Y).sum(axis=0), atol=1e-9)


def test_memory_that_a_pool_may_not_take_is_not_free() -> None:
    assert cuda.CudaEngine(FakeCupy(10**9)).measure_memory() == (10**9, 2 * 10**9)
    engine = cuda.CudaEngine(FakeCupy(10**9, limit=10**8))
    assert engine.measure_memory() == (10**8, 10**8)
    # Half the free memory, in groups of four columns.
    assert engine.count_columns(10**5, np.float32, 4) == 28
    assert engine.count_columns(10**9, np.float32, 4) == 4
