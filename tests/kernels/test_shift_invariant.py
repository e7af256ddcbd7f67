"""Claim 1 for every kernel: zᵀz′ is unbiased for the closed form, with error falling like 1/√D."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from gradraker import SKGRegressor
from gradraker.kernels.shift_invariant import KERNELS, get_kernel
from oracles import skg as oracle

EVERY = pytest.mark.parametrize("kernel", KERNELS)

# Rows at several distances: equal, one edge apart, weighted, signed, far.
ROWS = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 1.0],
        [0.3, -0.7, 0.2, 0.0],
        [2.0, -1.0, 0.5, 1.5],
    ]
)
PAIRS = np.triu_indices(len(ROWS), 1)


def products(kernel: str, sigma2: float, n_frequencies: Any, seed: int) -> Any:
    """zᵀz′ of all pairs of rows, by the estimator."""
    model = SKGRegressor(
        kernel=kernel, sigma2=sigma2, n_frequencies=n_frequencies, random_state=seed
    )
    Z = model.partial_fit(ROWS, np.zeros(len(ROWS))).features(ROWS)
    return (Z @ Z.T)[PAIRS]


def draw_products(kernel: str, sigma2: float, n_frequencies: int, n_draws: int) -> Any:
    """zᵀz′ of all pairs of rows in many draws of frequencies, which are parts of one model's."""
    n = n_draws * n_frequencies
    model = SKGRegressor(kernel=kernel, sigma2=sigma2, n_frequencies=n, random_state=0)
    Z = model.partial_fit(ROWS, np.zeros(len(ROWS))).features(ROWS)
    terms = n * (Z[PAIRS[0]] * Z[PAIRS[1]]).reshape(len(PAIRS[0]), 2, n).sum(axis=1)  # [pairs, n]
    return terms.reshape(-1, n_draws, n_frequencies).mean(axis=2).T


def closed_form(kernel: str, sigma2: float) -> NDArray[np.float64]:
    return np.array(
        [oracle.KERNELS[kernel](ROWS[i], ROWS[j], sigma2) for i, j in zip(*PAIRS, strict=True)]
    )


def test_table_has_three_kernels() -> None:
    assert set(KERNELS) == set(oracle.KERNELS) == {"gaussian", "laplacian", "cauchy"}
    assert all(kernel.name == name for name, kernel in KERNELS.items())


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("gaussian", math.exp(-5 / 8)),  # ‖Δ‖² = 5, σ² = 4
        ("laplacian", math.exp(-3 / 2)),  # ‖Δ‖₁ = 3, σ = 2
        ("cauchy", 1 / (1 + 1 / 4) / (1 + 4 / 4)),
    ],
)
def test_kernels_by_hand(kernel: str, expected: float) -> None:
    assert get_kernel(kernel).similarity([1.0, 0.0, -2.0], 4.0) == pytest.approx(
        expected, rel=1e-15
    )


@EVERY
@given(
    difference=arrays(np.float64, (3, 5), elements=st.floats(-50, 50)),
    sigma2=st.floats(1e-3, 1e3),
)
@settings(deadline=None, derandomize=True)
def test_kernels_equal_oracle(kernel: str, difference: Any, sigma2: Any) -> None:
    zero = np.zeros(5)
    expected = [oracle.KERNELS[kernel](row, zero, sigma2) for row in difference]
    similarity = get_kernel(kernel).similarity(difference, sigma2)
    assert similarity.shape == (3,)
    np.testing.assert_allclose(similarity, expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_array_equal(similarity, get_kernel(kernel).similarity(-difference, sigma2))


def test_kernels_equal_scikit_learn() -> None:
    # Their gamma is 1/(2σ²) for the Gaussian and 1/σ for the Laplacian kernel.
    difference, sigma2 = ROWS[:, None] - ROWS[None, :], 2.5
    np.testing.assert_allclose(
        get_kernel("gaussian").similarity(difference, sigma2),
        rbf_kernel(ROWS, gamma=1 / (2 * sigma2)),
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        get_kernel("laplacian").similarity(difference, sigma2),
        laplacian_kernel(ROWS, gamma=1 / math.sqrt(sigma2)),
        rtol=1e-13,
    )


@EVERY
def test_kernels_take_small_integers(kernel: str) -> None:
    difference = np.array([[100, -128, 3]], dtype=np.int8)  # their squares are no int8
    similarity = get_kernel(kernel).similarity
    expected = similarity(difference.astype(np.float64), 1e4)
    np.testing.assert_array_equal(similarity(difference, 1e4), expected)


def test_cauchy_kernel_of_many_columns_underflows_to_zero_only() -> None:
    assert get_kernel("cauchy").similarity(np.ones(2000), 1e-3) == 0.0
    assert get_kernel("cauchy").similarity(np.full(2000, 1e-4), 1.0) == pytest.approx(
        math.exp(-2000 * math.log1p(1e-8)), rel=1e-12
    )


@pytest.mark.parametrize("kernel", ["rbf", "Gaussian", "", None, 3, ["gaussian"], b"gaussian"])
def test_get_kernel_refuses_unknown_name(kernel: Any) -> None:
    with pytest.raises(
        ValueError, match=r"kernel must be one of 'gaussian', 'laplacian', 'cauchy'"
    ):
        get_kernel(kernel)


# -- the features approximate the kernels ------------------------------------------------------


@pytest.mark.statistical
@EVERY
@pytest.mark.parametrize("sigma2", [0.5, pytest.param(4.0, marks=pytest.mark.slow)])
def test_features_are_unbiased_for_kernel(kernel: str, sigma2: float) -> None:
    n_draws = 400
    samples = draw_products(kernel, sigma2, 64, n_draws)
    error = samples.mean(axis=0) - closed_form(kernel, sigma2)
    # 10 pairs at 4.5 standard errors: correct features would fail with probability 7e-5.
    assert np.all(np.abs(error) < 4.5 * samples.std(axis=0) / math.sqrt(n_draws))


@EVERY
def test_error_of_features_falls_like_one_over_root_d(kernel: str) -> None:
    sigma2, numbers, n_seeds = 2.0, np.array([32, 128, 512, 2048]), 60
    expected = closed_form(kernel, sigma2)
    errors = [
        np.sqrt(np.mean([(products(kernel, sigma2, D, s) - expected) ** 2 for s in range(n_seeds)]))
        for D in numbers
    ]
    slope = np.polyfit(np.log(numbers), np.log(errors), 1)[0]
    # 600 squared errors a point make the slope uncertain by some 0.015.
    assert slope == pytest.approx(-0.5, abs=0.07)


@pytest.mark.statistical
def test_variance_of_gaussian_estimate() -> None:
    # Var[zᵀz′] = (1 − exp(−d²/σ²))² / 2D: it grows with the distance, up to 1/2D.
    sigma2, D = 4.0, 64
    samples = draw_products("gaussian", sigma2, D, 800)
    squared = np.array([np.sum((ROWS[i] - ROWS[j]) ** 2) for i, j in zip(*PAIRS, strict=True)])
    expected = (1 - np.exp(-squared / sigma2)) ** 2 / (2 * D)
    # The relative error of a variance from 800 samples is about √(2/800) = 0.05.
    np.testing.assert_allclose(samples.var(axis=0), expected, rtol=0.3)


@pytest.mark.statistical
@EVERY
def test_frequencies_have_scale_of_kernel(kernel: str) -> None:
    # The median of |ξ| at variance σ², by the quantile of the unit distribution.
    medians = {"gaussian": 0.6744897501960817, "laplacian": 1.0, "cauchy": math.log(2)}
    model = SKGRegressor(kernel=kernel, sigma2=9.0, n_frequencies=500, random_state=3)
    model.partial_fit(np.zeros((1, 40)), [0.0])
    sample = np.median(np.abs(model.frequencies_))
    # 20000 draws: the standard error of the median is below 0.012 of it.
    assert sample == pytest.approx(medians[kernel] / 3, rel=0.05)
