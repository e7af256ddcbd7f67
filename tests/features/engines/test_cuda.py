"""Products on the GPU against SciPy; skipped where there is no GPU."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import NodeRegressor
from gradraker.exceptions import NoDeviceError
from gradraker.features.engine import pad_columns
from gradraker.features.engines.cuda import make_cuda_engine
from gradraker.features.engines.cuda_source import LONG_ROW

N = 4000


@pytest.fixture(scope="module")
def engine() -> Any:
    try:
        return make_cuda_engine()
    except NoDeviceError as error:
        pytest.skip(str(error))


def _make_matrix() -> csr_array:
    """A matrix with an empty row and one that is longer than a few threads take."""
    rng = np.random.default_rng(0)
    A = (rng.random((N, N)) < 0.003) * rng.normal(size=(N, N))
    A[5] = rng.normal(size=N)
    A[77] = 0.0
    assert np.count_nonzero(A[5]) > LONG_ROW
    return csr_array(A)


@pytest.mark.parametrize(("dtype", "allowed"), [(np.float32, 3e-4), (np.float64, 1e-11)])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9, 12, 16, 20, 33, 64, 100])
def test_products_equal_scipy(engine: Any, k: int, dtype: Any, allowed: float) -> None:
    A = _make_matrix()
    loaded = engine.load_sparse(A, dtype)
    rng = np.random.default_rng(k)
    for width in (k, pad_columns(k)):
        X, Y = rng.normal(size=(2, N, width)).astype(dtype)
        product = engine.load(Y, dtype)
        engine.multiply(loaded, engine.load(X, dtype), k, product, 2.0, -1.0)
        expected = 2.0 * (A @ X.astype(np.float64)) - Y
        np.testing.assert_allclose(engine.fetch(product)[:, :k], expected[:, :k], atol=allowed)
        product = engine.xp.full((N, width), np.nan, dtype=dtype)
        engine.multiply(loaded, engine.load(X, dtype), k, product)
        expected = A @ X.astype(np.float64)
        np.testing.assert_allclose(engine.fetch(product)[:, :k], expected[:, :k], atol=allowed)


@pytest.mark.parametrize("k", [1, 3, 64, 300])
def test_sums_of_products_are_in_double_precision(engine: Any, k: int) -> None:
    X, Y = np.random.default_rng(0).normal(size=(2, N, k)).astype(np.float32)
    found = engine.sum_products(engine.load(X, np.float32), engine.load(Y, np.float32))
    np.testing.assert_allclose(
        engine.fetch(found), (X.astype(np.float64) * Y).sum(axis=0), atol=1e-9
    )


def test_model_on_the_gpu_chooses_and_predicts_as_on_the_cpu(engine: Any) -> None:
    A = abs(_make_matrix())
    values = np.where(np.arange(N) % 4 == 0, np.sin(np.arange(N)), np.nan)
    cpu, gpu = (
        NodeRegressor(solver="operators", device=device).fit(A, values, kind="matrix")
        for device in ("cpu", "cuda")
    )
    assert gpu.device_ == "cuda"
    assert (gpu.alpha_, gpu.kernel_) == (cpu.alpha_, cpu.kernel_)
    np.testing.assert_allclose(gpu.predict(), cpu.predict(), atol=1e-2)


def test_exact_kernels_on_the_gpu_are_those_of_the_cpu(engine: Any) -> None:
    rng = np.random.default_rng(0)
    start = np.repeat(np.arange(3000), 5)
    ends = (start + rng.geometric(0.2, start.size)) % 3000
    A = csr_array((np.ones(start.size), (start, ends)), shape=(3000, 3000))
    values = np.sin(np.arange(3000) / 20) + 0.1 * rng.normal(size=3000)
    values[::6] = np.nan  # 2500 known nodes: the penalty is chosen by factors
    cpu, gpu = (
        NodeRegressor(solver="exact", device=device).fit(A, values, kind="matrix")
        for device in ("cpu", "cuda")
    )
    assert (gpu.device_, gpu.kernel_) == ("cuda", cpu.kernel_)
    np.testing.assert_allclose(gpu.predict(), cpu.predict(), atol=1e-8)
