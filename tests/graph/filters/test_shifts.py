"""Spectral norms of graph shifts."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker.graph.filters.shifts import spectral_norm


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_spectral_norm_of_a_large_matrix_is_that_of_its_dense_form(seed: Any) -> None:
    matrix = sp.random_array(
        (100, 100), density=0.05, random_state=np.random.default_rng(seed)
    ).tocsr()
    expected = np.linalg.norm(matrix.toarray(), 2)
    assert spectral_norm(matrix) == pytest.approx(expected, rel=1e-3)
    assert spectral_norm(matrix * 1e200) == pytest.approx(expected * 1e200, rel=1e-3)


def test_spectral_norm_of_a_long_path_is_known() -> None:
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    assert spectral_norm(path) == pytest.approx(2 * np.cos(np.pi / (n + 1)), rel=1e-3)
