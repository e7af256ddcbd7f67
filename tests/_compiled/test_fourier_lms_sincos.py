"""Accuracy of compiled sines and cosines."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker._compiled.fourier_lms import compute_sincos

# Where long double is no wider than double, the reference itself is off by half a unit.
WIDE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
ONE_ULP = 2.3e-16 if WIDE else 3.4e-16


def sincos_error(x: NDArray[np.float64] | list[float], scale: Any = 1.0) -> Any:
    """Largest absolute error of sines and cosines of scale * x."""
    x = np.asarray(x, dtype=np.float64)
    sine, cosine = np.empty_like(x), np.empty_like(x)
    compute_sincos(x, scale, 1.0, sine, cosine)
    angle = (x * scale).astype(np.longdouble)
    return max(np.abs(sine - np.sin(angle)).max(), np.abs(cosine - np.cos(angle)).max())


@pytest.mark.parametrize(
    "size", [1e-310, 1e-20, 1e-4, 1.0, 3.2, 50.0, 1e3, 1e5, 1e6, 1.1e6, 1e9, 1e16, 1e100, 1.7e308]
)
def test_sincos_over_ranges(size: float) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, 20_000) * size
    assert sincos_error(x) < ONE_ULP


def test_sincos_around_multiples_of_half_pi() -> None:
    # Up to 10⁶, where the reduction ends, and each with its neighbours in float64.
    k = np.unique(np.concatenate([np.arange(-2000, 2001), np.arange(-636_700, 636_701, 997)]))
    x = k * (math.pi / 2)
    for _ in range(3):
        assert sincos_error(x) < ONE_ULP
        x = np.nextafter(x, np.inf)
    # Between the multiples, where the quadrant changes.
    x = (k + 0.5) * (math.pi / 2)
    for _ in range(3):
        assert sincos_error(x) < ONE_ULP
        x = np.nextafter(x, -np.inf)


def test_sincos_at_ends_of_fast_path() -> None:
    end = 1.0e6
    x = np.array([end, np.nextafter(end, 0), np.nextafter(end, np.inf), end - 1, end + 1])
    assert sincos_error(np.concatenate([x, -x])) < ONE_ULP


def test_sincos_of_small_arguments_is_relatively_accurate() -> None:
    x = np.concatenate([np.geomspace(1e-300, 0.5, 5000), [5e-324, 0.0]])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    compute_sincos(x, 1.0, 1.0, sine, cosine)
    np.testing.assert_allclose(sine, np.sin(x), rtol=3e-16, atol=0)
    assert cosine[-1] == 1.0
    assert sine[-1] == 0.0


def test_sincos_is_odd_and_even() -> None:
    x = np.random.default_rng(1).normal(size=1000) * 100
    out = np.empty((4, 1000))
    compute_sincos(x, 1.0, 1.0, out[0], out[1])
    compute_sincos(-x, 1.0, 1.0, out[2], out[3])
    np.testing.assert_allclose(out[2], -out[0], rtol=0, atol=ONE_ULP)
    np.testing.assert_allclose(out[3], out[1], rtol=0, atol=ONE_ULP)


def test_sincos_scales_argument_and_amplitude() -> None:
    x = np.linspace(-9, 9, 101)
    sine, cosine = np.empty_like(x), np.empty_like(x)
    compute_sincos(x, 0.5, 3.0, sine, cosine)
    np.testing.assert_allclose(sine, 3 * np.sin(x / 2), rtol=0, atol=1e-15)
    np.testing.assert_allclose(cosine, 3 * np.cos(x / 2), rtol=0, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sincos_of_nan_or_infinity_is_nan_there_only(bad: float) -> None:
    x = np.array([1.0, bad, 2.0e7, -3.0])
    sine, cosine = np.empty_like(x), np.empty_like(x)
    compute_sincos(x, 1.0, 1.0, sine, cosine)
    np.testing.assert_array_equal(np.isnan(sine), [False, True, False, False])
    np.testing.assert_array_equal(np.isnan(cosine), [False, True, False, False])
    assert sincos_error([1.0, 2.0e7, -3.0]) < ONE_ULP


def test_sincos_writes_float32_rounded_once() -> None:
    x = np.random.default_rng(2).normal(size=500) * 10
    wide, narrow = np.empty((2, 500)), np.empty((2, 500), dtype=np.float32)
    compute_sincos(x, 1.0, 1.0, wide[0], wide[1])
    compute_sincos(x, 1.0, 1.0, narrow[0], narrow[1])
    np.testing.assert_array_equal(narrow, wide.astype(np.float32))
