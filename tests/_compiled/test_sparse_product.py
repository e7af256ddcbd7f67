"""The compiled sparse product against SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker._compiled.sparse_product import multiply_rows, multiply_sparse


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("n_columns", [1, 7, 64])
def test_multiply_sparse_equals_scipy(index_type: type[Any], n_columns: int) -> None:
    rng = np.random.default_rng(0)
    A = csr_array((rng.random((40, 30)) < 0.2) * rng.normal(size=(40, 30)))
    A.data[:3] = 0.0
    X = rng.normal(size=(30, n_columns))
    product = np.full((40, n_columns), np.nan)
    multiply_sparse(A.indptr.astype(index_type), A.indices.astype(index_type), A.data, X, product)
    np.testing.assert_array_equal(product, A @ X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 4, 8, 5, 32, 127])
@pytest.mark.parametrize(("factor", "kept"), [(1.0, 0.0), (2.0, -1.0), (-0.5, 3.0)])
def test_multiply_rows_equals_scipy(dtype: Any, n_columns: Any, factor: Any, kept: Any) -> None:
    rng = np.random.default_rng(0)
    A = csr_array((rng.random((40, 30)) < 0.2) * rng.normal(size=(40, 30)))
    X = rng.normal(size=(30, n_columns + 2)).astype(dtype)
    product = rng.normal(size=(40, n_columns + 2)).astype(dtype)
    weights = rng.normal(size=(3, n_columns + 2)).astype(dtype)
    weights[1] = 0.0
    sums = rng.normal(size=(3, 40, n_columns + 2)).astype(dtype)
    expected, sums_expected = product.astype(np.float64), sums.astype(np.float64)
    expected[7:33, :n_columns] *= kept
    expected[7:33, :n_columns] += factor * (A @ X.astype(np.float64))[7:33, :n_columns]
    added = weights[:, np.newaxis] * expected
    sums_expected[:, 7:33, :n_columns] += added[:, 7:33, :n_columns]
    indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int32)
    entries = indptr, indices, A.data.astype(dtype)
    flat = sums.reshape(-1, n_columns + 2)
    multiply_rows(*entries, X, n_columns, factor, kept, 7, 33, product, weights, flat)
    # Sums of about 6 products of normal numbers; other rows and columns stay.
    np.testing.assert_allclose(product, expected, atol=40 * np.finfo(dtype).eps)
    np.testing.assert_allclose(sums, sums_expected, atol=120 * np.finfo(dtype).eps)
    assert product.dtype == sums.dtype == dtype


def test_multiply_rows_overwrites_nan_where_nothing_is_kept() -> None:
    A = csr_array(np.array([[0.0, 2.0], [0.0, 0.0]]))
    nothing = np.empty((0, 1))
    for n_columns in (1, 4, 8):
        X, product = np.ones((2, n_columns)), np.full((2, n_columns), np.nan)
        numbers = n_columns, 1.0, 0.0, 0, 2
        multiply_rows(A.indptr, A.indices, A.data, X, *numbers, product, nothing, nothing)
        np.testing.assert_array_equal(product, [[2.0] * n_columns, [0.0] * n_columns])
