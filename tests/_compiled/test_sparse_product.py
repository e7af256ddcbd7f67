"""The compiled sparse product against SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker._compiled.sparse_product import multiply_sparse


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
