"""Similarity measure B, exact-kernel weights, and the paper's quantities derived from B and F."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker import SKGRegressor
from gradraker.explain import (
    conformity_factor,
    contribution_weights,
    efficient_distance,
    kernel_contribution_weights,
    kernel_similarity_measure,
    noise_range,
    similarity_measure,
)
from gradraker.kernels.shift_invariant import KERNELS
from oracles import skg as skg_oracle
from oracles import weights as oracle
from skg_examples import unit_features

# -- similarity measure ------------------------------------------------------------------------


def test_similarity_measure_by_hand() -> None:
    assert similarity_measure([0.6, 0.8], [0.8, 0.6], 0.25) == pytest.approx(0.48, rel=1e-15)


@given(seed=st.integers(0, 2**32 - 1), learning_rate=st.floats(0.001, 0.999))
@settings(deadline=None)
def test_similarity_measure_equals_the_definition(seed: Any, learning_rate: Any) -> None:
    Z = unit_features(np.random.default_rng(seed), 5, 3)
    B = similarity_measure(Z, Z, learning_rate)
    np.testing.assert_allclose(B, oracle.similarity_matrix(Z, learning_rate), atol=1e-15)
    np.testing.assert_allclose(B, B.T, atol=1e-15)
    np.testing.assert_allclose(np.diag(B), 2 * learning_rate, rtol=1e-14)  # ‖z‖ = 1
    assert np.all(np.abs(B) <= 2 * learning_rate * (1 + 1e-14))


def test_similarity_measure_drops_the_axes_of_single_nodes() -> None:
    Z = unit_features(np.random.default_rng(0), 4, 3)
    whole = similarity_measure(Z, Z[:3], 0.1)
    assert whole.shape == (4, 3)
    np.testing.assert_allclose(similarity_measure(Z, Z[1], 0.1), whole[:, 1], rtol=1e-14)
    np.testing.assert_allclose(similarity_measure(Z[2], Z[:3], 0.1), whole[2], rtol=1e-14)
    assert similarity_measure(Z[2], Z[1], 0.1).shape == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)), np.ones(2), 0.1), "Z_j has 2 features, but Z_i has 3"),
        (
            (np.ones((2, 3, 1)), np.ones(1), 0.1),
            r"Z_i must be .* got an array of shape \(2, 3, 1\)",
        ),
        ((np.ones(2), [1.0, np.nan], 0.1), "Z_j must be finite features"),
        ((np.ones(2), 1.0, 0.1), r"Z_j must be .* got an array of shape \(\)"),
        ((np.ones(2), np.ones(2), 0.0), "learning_rate must be a number in"),
        ((np.ones(2), np.ones(2), 1.0), "learning_rate must be a number in"),
    ],
)
def test_similarity_measure_names_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        similarity_measure(*arguments)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("gaussian", 0.2 * math.exp(-25 / 8)),
        ("laplacian", 0.2 * math.exp(-7 / 2)),
        ("cauchy", 0.2 / ((1 + 9 / 4) * (1 + 16 / 4))),
    ],
)
def test_kernel_similarity_measure_by_hand(kernel: str, expected: float) -> None:
    found = kernel_similarity_measure([3.0, -4.0], sigma2=4.0, learning_rate=0.1, kernel=kernel)
    assert found == pytest.approx(expected, rel=1e-14)


def test_kernel_similarity_measure_keeps_the_leading_axes() -> None:
    differences = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = kernel_similarity_measure(differences, sigma2=2.0, learning_rate=0.3)
    assert found.shape == (2, 3)
    expected = 0.6 * skg_oracle.gaussian(differences[1, 2], np.zeros(4), 2.0)
    assert found[1, 2] == pytest.approx(expected, rel=1e-14)


BAD_SETTINGS = [
    ({"sigma2": 0.0}, "sigma2 must be a positive number"),
    ({"sigma2": "theory"}, "sigma2 must be a positive number, got 'theory'"),
    ({"learning_rate": 1.5}, "learning_rate must be a number in"),
    ({"kernel": "linear"}, "kernel must be one of"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_SETTINGS)
def test_bad_settings_are_named(changes: dict[Any, Any], message: str) -> None:
    options: dict[str, Any] = {"sigma2": 1.0, "learning_rate": 0.1, **changes}
    with pytest.raises(ValueError, match=message):
        kernel_similarity_measure([1.0], **options)
    with pytest.raises(ValueError, match=message):
        kernel_contribution_weights([[1.0]], [0], [1.0], **options)
    if "kernel" not in changes:
        with pytest.raises(ValueError, match=message):
            efficient_distance([0.1], [0.1], **options)


# -- exact-kernel weights ----------------------------------------------------------------------


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(list(KERNELS)),
    n=st.integers(1, 6),
    n_steps=st.integers(0, 15),
    sigma2=st.floats(0.1, 100.0),
    learning_rate=st.floats(0.001, 0.999),
)
def test_kernel_weights_equal_the_recursion_on_the_kernel(
    seed: Any, kernel: Any, n: Any, n_steps: Any, sigma2: Any, learning_rate: Any
) -> None:
    rng = np.random.default_rng(seed)
    X, stars = rng.normal(size=(n, 3)), rng.normal(size=(2, 3))
    stars[0] = X[0]
    order = rng.integers(0, n, n_steps)
    kappa = skg_oracle.KERNELS[kernel]
    expected = []
    for star in stars:
        seen = [*(X[i] for i in order), star]
        B = [[2 * learning_rate * kappa(a, b, sigma2) for b in seen] for a in seen]
        F = np.zeros(n_steps)
        for i in range(n_steps - 1, -1, -1):
            F[i] = B[i][n_steps] - sum(B[i][k] * F[k] for k in range(i + 1, n_steps))
        expected.append(F)
    options: dict[str, Any] = {"sigma2": sigma2, "learning_rate": learning_rate, "kernel": kernel}
    found = kernel_contribution_weights(X, order, stars, **options)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    one = kernel_contribution_weights(X, order, stars[1], **options)
    np.testing.assert_array_equal(one, found[1])


def test_weights_tend_to_kernel_weights_as_d_grows() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((8, 6)) < 0.4).astype(float)
    order = np.concatenate([rng.permutation(8) for _ in range(3)])
    exact = kernel_contribution_weights(X, order, X[0], sigma2=2.0, learning_rate=0.1)
    errors = []
    for n_frequencies in (100, 10_000):
        model = SKGRegressor(sigma2=2.0, n_frequencies=n_frequencies, random_state=0)
        Z = model.fit(X, np.zeros(8)).features(X)
        found = contribution_weights(Z, order, Z[0], 0.1)
        errors.append(np.sqrt(np.mean((found - exact) ** 2)))
    # Errors fall like 1/√D: ten times, with room for chance.
    assert errors[0] / errors[1] > 4
    assert errors[1] < 0.002


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)), [0], np.ones(2)), "x_star has 2 columns, but X has 3"),
        ((np.ones((2, 3)), [2], np.ones(3)), "order must hold row numbers from 0 to 1"),
        ((np.ones((2, 3)), [0.5], np.ones(3)), "order must be a list of row numbers"),
        ((np.full((2, 3), np.nan), [0], np.ones(3)), "X contains NaN"),
        ((np.ones((2, 3)), [0], np.full(3, np.inf)), "x_star contains infinity"),
    ],
)
def test_kernel_weights_name_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernel_contribution_weights(*arguments, sigma2=1.0, learning_rate=0.1)


# -- conformity factor -------------------------------------------------------------------------


def test_conformity_factor_by_hand() -> None:
    # T = 4: exponents 3, 2, 1, 0.
    found = conformity_factor([0.2, 0.2, 0.1, 0.2], [0.2 * 0.7**3, 0.2 * 1.1**2, 0.05, 0.2])
    np.testing.assert_allclose(found, [0.3, -0.1, 0.5, np.nan], rtol=1e-13)


def test_conformity_factor_is_nan_where_none_exists() -> None:
    """F/B ≤ 0 or B = 0 has no α < 1; at i = T the exponent is 0 and any α does."""
    B = [0.2, -0.2, 0.2, 0.0, 0.0, -0.2, 1e-200, 0.2]
    F = [-0.1, 0.1, 0.0, 0.1, 0.0, -0.1, -1e-200, 0.2]
    found = conformity_factor(B, F)
    np.testing.assert_array_equal(np.isnan(found), [True] * 5 + [False, True, True])
    assert found[5] == pytest.approx(1 - 0.5**0.5, rel=1e-13)  # both negative


@given(
    st.lists(
        st.tuples(
            st.floats(-2.0, 2.0).filter(lambda b: abs(b) > 1e-3),
            st.floats(-0.5, 0.9),  # α
        ),
        min_size=2,
        max_size=30,
    )
)
def test_conformity_factor_solves_equation_sp(pairs: Any) -> None:
    B, alpha = (np.array(part) for part in zip(*pairs, strict=True))
    exponent = np.arange(B.size - 1, -1, -1)
    F = B * (1 - alpha) ** exponent
    found = conformity_factor(B, F)
    assert np.isnan(found[-1])
    np.testing.assert_allclose(found[:-1], alpha[:-1], rtol=1e-11, atol=1e-13)
    back = B[:-1] * (1 - found[:-1]) ** exponent[:-1]
    np.testing.assert_allclose(back, F[:-1], rtol=1e-11)


def test_conformity_factor_solves_equation_sp_on_a_model() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((10, 6)) < 0.4).astype(float)
    model = SKGRegressor(sigma2=3.0, random_state=0).fit(X, np.zeros(10))
    explanation = model.explain(X)
    B, F = explanation.similarities[:, explanation.order], explanation.by_time
    alpha = conformity_factor(B, F)
    known = ~np.isnan(alpha)
    assert alpha.shape == F.shape == (10, 30)
    np.testing.assert_array_equal(known, (F / B > 0) & (np.arange(30) < 29))
    exponent = np.broadcast_to(np.arange(29, -1, -1), F.shape)
    back = B * (1 - np.where(known, alpha, 0.0)) ** exponent
    np.testing.assert_allclose(back[known], F[known], rtol=1e-11)


def test_conformity_factor_of_tiny_and_huge_ratios() -> None:
    found = conformity_factor([1e-320, 2.0, 0.2], [1e10, 5e-324, 0.2])
    assert found[0] == pytest.approx(-1e165, rel=1e-3)
    assert found[1] == 1.0


def test_conformity_factor_of_several_nodes_and_of_none() -> None:
    B = np.array([[0.2, 0.1, 0.2], [0.1, 0.2, 0.2]])
    F = np.array([[0.05, 0.05, 0.2], [0.081, 0.16, 0.2]])
    np.testing.assert_allclose(
        conformity_factor(B, F), [[0.5, 0.5, np.nan], [0.1, 0.2, np.nan]], rtol=1e-13
    )
    assert conformity_factor([], []).shape == (0,)


@pytest.mark.parametrize(("B", "F"), [([0.1], [0.1, 0.2]), (0.1, 0.1)])
def test_conformity_factor_names_bad_shapes(B: float | list[float], F: float | list[float]) -> None:
    with pytest.raises(ValueError, match=r"F has shape .* but B has shape"):
        conformity_factor(B, F)


# -- noise range and efficient distance --------------------------------------------------------


@pytest.mark.parametrize(
    ("F", "expected"),
    [
        ([0.2, -0.03, 0.01, -0.02], (-0.03, 0.03)),
        ([0.2, 0.0], (0.0, 0.0)),
        ([0.2, 0.1], (0.0, 0.0)),
        ([-0.5], (-0.5, 0.5)),
        ([[0.1, -0.1], [0.3, -0.2]], (-0.2, 0.2)),
    ],
)
def test_noise_range_by_hand(F: list[Any], expected: tuple[float, float]) -> None:
    assert repr(noise_range(F)) == repr(expected)  # 0.0, not -0.0


@pytest.mark.parametrize(("F", "message"), [([], "0 sample"), ([np.nan], "F contains NaN")])
def test_noise_range_names_bad_input(F: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        noise_range(F)


def test_efficient_distance_by_hand() -> None:
    sigma2, eta = 5.0, 0.1
    distances = np.array([0.0, 4.0, 9.0, 16.0, 25.0])
    B = 2 * eta * np.exp(-distances / (2 * sigma2))
    # The noise range is ±0.02; the nodes at 0 and 9 lie outside, that at 16 on its edge.
    F = [0.1, 0.01, 0.05, 0.02, -0.02]
    found = efficient_distance(B, F, sigma2=sigma2, learning_rate=eta)
    assert found == pytest.approx(9.0, rel=1e-13)


def test_efficient_distance_without_noise_is_the_largest() -> None:
    B = 0.2 * np.exp([-1.0, -3.0])
    found = efficient_distance(B, [0.1, 1e-9], sigma2=2.0, learning_rate=0.1)
    assert found == pytest.approx(12.0, rel=1e-13)


def test_efficient_distance_leaves_out_similarities_without_a_distance() -> None:
    """A significant weight with B ≤ 0 has no distance by the exponential approximation."""
    found = efficient_distance(
        [0.2 * math.exp(-1.0), -0.01, 0.0], [0.1, 0.2, 0.2], sigma2=2.0, learning_rate=0.1
    )
    assert found == pytest.approx(4.0, rel=1e-13)


def test_efficient_distance_of_the_node_itself_is_zero() -> None:
    # B may exceed 2η by rounding.
    found = efficient_distance([0.2 * (1 + 1e-15)], [0.2], sigma2=2.0, learning_rate=0.1)
    assert found == 0.0
    assert math.copysign(1.0, found) == 1.0


def test_efficient_distance_where_no_weight_is_significant() -> None:
    options: dict[str, Any] = {"sigma2": 2.0, "learning_rate": 0.1}
    assert math.isnan(efficient_distance([0.1, 0.1], [-0.1, 0.1], **options))
    assert math.isnan(efficient_distance([0.1], [0.0], **options))
    assert math.isnan(efficient_distance([-0.1], [0.1], **options))


def test_efficient_distance_names_bad_shapes() -> None:
    with pytest.raises(ValueError, match=r"F has shape \(1,\), but B has shape \(2,\)"):
        efficient_distance([0.1, 0.2], [0.1], sigma2=1.0, learning_rate=0.1)
