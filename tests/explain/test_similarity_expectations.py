"""Var[B | d] and the expected sum of the weights, against draws."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor
from gradraker.explain import (
    compute_expected_weight_sum,
    compute_similarity_variance,
    kernel_contribution_weights,
)

D, ETA, SIGMA2 = 20, 0.1, 2.0


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
@pytest.mark.parametrize("size", [0.3, 1.0, 5.0])
def test_similarity_variance_is_that_of_drawn_frequencies(kernel: Any, size: Any) -> None:
    difference = size * np.array([1.0, 0.0, -0.5])
    X = np.stack([difference, np.zeros(3)])
    n = 60_000
    model = SKGRegressor(kernel=kernel, sigma2=SIGMA2, n_frequencies=n, n_epochs=1, random_state=0)
    first, second = model.fit(X, [0.0, 0.0]).features(X)
    products = n * first * second
    cosines = (products[:n] + products[n:]).reshape(-1, D)  # cos ξᵀd, D of them for each B
    similarities = 2 * ETA * cosines.mean(axis=1)
    expected = compute_similarity_variance(
        difference, sigma2=SIGMA2, n_frequencies=D, learning_rate=ETA, kernel=kernel
    )
    # The standard error of a variance of 3000 normal draws is 2.6 %.
    assert np.var(similarities, ddof=1) == pytest.approx(float(expected), rel=0.12)


def test_similarity_variance_of_the_gaussian_is_the_printed_equation() -> None:
    d = np.sqrt(np.linspace(0.0, 30.0, 16))[:, np.newaxis]
    found = compute_similarity_variance(d, sigma2=SIGMA2, n_frequencies=D, learning_rate=ETA)
    printed = (2 * ETA) ** 2 / (2 * D) * (np.exp(-(d[:, 0] ** 2) / SIGMA2) - 1) ** 2
    np.testing.assert_allclose(found, printed, rtol=1e-12)
    assert found[0] == 0.0
    assert np.all(np.diff(found) > 0.0)


def test_similarity_variance_of_near_rows_is_never_negative() -> None:
    for kernel in ("gaussian", "laplacian", "cauchy"):
        found = compute_similarity_variance(
            [[1e-9], [0.0]], sigma2=1.0, n_frequencies=D, learning_rate=ETA, kernel=kernel
        )
        assert np.all(found >= 0.0)


def test_expected_weight_sum_is_claim_4() -> None:
    # Equal rows: B = 2η for all pairs, and the claim is exact.
    X = np.ones((7, 2))
    F = kernel_contribution_weights(X, np.arange(7), X[0], sigma2=1.0, learning_rate=ETA)
    assert compute_expected_weight_sum(2 * ETA, 7) == pytest.approx(F.sum(), abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compute_expected_weight_sum(-0.1, 3), r"mean_similarity must be in \[0, 2\)"),
        (lambda: compute_expected_weight_sum(float("nan"), 3), "mean_similarity must be in"),
        (lambda: compute_expected_weight_sum(0.1, 0), "n_steps must be an integer"),
        (
            lambda: compute_similarity_variance(
                [1.0], sigma2=0.0, n_frequencies=3, learning_rate=0.1
            ),
            "sigma2 must be a positive number",
        ),
        (
            lambda: compute_similarity_variance(
                [1.0], sigma2=1.0, n_frequencies=0, learning_rate=0.1
            ),
            "n_frequencies must be an integer",
        ),
    ],
)
def test_expectations_refuse_wrong_arguments(call: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=message):
        call()
