"""Chebyshev series of powers against the powers themselves."""

from typing import Any

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval

from gradraker.models.walks.operators.polynomials import expand_power
from oracles import nodes as oracle

POINTS = np.linspace(-1.0, 1.0, 41)
NONZERO = POINTS[np.abs(POINTS) > 1e-9]


@pytest.mark.parametrize("m", [1, 2, 3, 8])
def test_short_powers_are_exact(m: Any) -> None:
    power = expand_power(m)
    np.testing.assert_allclose(chebval(POINTS, power.row), POINTS**m, atol=1e-13)
    np.testing.assert_allclose(chebval(POINTS, power.kernel), POINTS ** (2 * m), atol=1e-13)
    np.testing.assert_allclose(chebval(POINTS, power.row_after_step), POINTS ** (m - 1), atol=1e-12)
    expected = POINTS ** (2 * m - 1)
    np.testing.assert_allclose(chebval(POINTS, power.kernel_after_step), expected, atol=1e-12)


@pytest.mark.parametrize("m", [9, 16, 64])
def test_long_powers_are_low_passes(m: Any) -> None:
    row = expand_power(m).row
    assert len(row) - 1 == np.ceil(2.7 * np.sqrt(m))
    np.testing.assert_allclose(chebval(POINTS, row), oracle.low_pass(POINTS, m), atol=1e-10)
    assert chebval(1.0, row) == pytest.approx(1.0, abs=1e-10)
    # Close to λᵐ near 1, and small where λᵐ is.
    near = 1.0 - 0.5 / m
    assert chebval(near, row) == pytest.approx(near**m, abs=0.15)
    assert np.abs(chebval(POINTS[np.abs(POINTS) ** m < 1e-3], row)).max() < 0.01


@pytest.mark.parametrize("m", [9, 16, 64, 99])
def test_kernels_are_squares_and_remainders_are_quotients(m: Any) -> None:
    power = expand_power(m)
    row, kernel = chebval(NONZERO, power.row), chebval(NONZERO, power.kernel)
    np.testing.assert_allclose(kernel, row**2, atol=1e-12)
    at_zero = chebval(0.0, power.row)
    found = chebval(NONZERO, power.row_after_step)
    np.testing.assert_allclose(found, (row - at_zero) / NONZERO, atol=1e-10)
    found = chebval(NONZERO, power.kernel_after_step)
    np.testing.assert_allclose(found, (kernel - at_zero**2) / NONZERO, atol=1e-10)
