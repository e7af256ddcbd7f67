"""Inverses of Cholesky factors by blocks, against LAPACK."""

from typing import Any

import numpy as np
import pytest

from gradraker.features.engine import CpuEngine
from gradraker.linear import factors
from oracles.strict_engine import StrictEngine


def _make_matrix(n: int) -> Any:
    Z = np.random.default_rng(n).normal(size=(n, n + 5))
    return Z @ Z.T + 0.1 * np.eye(n)


@pytest.mark.parametrize("engine", [CpuEngine(), StrictEngine()])
@pytest.mark.parametrize("n", [1, 7, 16, 50])
def test_invert_factor_equals_lapack(n: int, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "_ROWS_PER_BLOCK", 8)
    H = _make_matrix(n)
    found = engine.load(H.copy(), np.float64)
    factors.invert_factor(engine, found)
    expected = np.linalg.inv(np.linalg.cholesky(H))
    np.testing.assert_allclose(engine.fetch(found), expected, atol=1e-9)
    assert not np.triu(engine.fetch(found), 1).any()


def test_invert_factor_refuses_a_matrix_that_is_not_positive_definite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(factors, "_ROWS_PER_BLOCK", 8)
    H = _make_matrix(20)
    H[12, 12] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        factors.invert_factor(CpuEngine(), H)
