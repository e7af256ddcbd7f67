"""Closed forms of ridge regression against refits, blocks against batches, and the criterion."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult

from examples import random_graph
from gradraker.datasets import make_geometric_graph
from gradraker.linear import ridge
from oracles import nodes as oracle
from oracles import primal_ridge


def compute_left_out_residuals(dual: ridge.Dual, Y: Any) -> Any:
    """Residual of each node when it is left out, by the closed form; NaN for a single node."""
    own = np.diag(dual.Q)[:, np.newaxis]
    return np.divide(dual.Q @ Y, own, out=np.full(Y.shape, np.nan), where=own > 0.0)


def _problem(seed: int, n: int = 12, n_features: int = 7, n_new: Any = 4) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, n_features)) / np.sqrt(n_features)
    Z_new = rng.normal(size=(n_new, n_features)) / np.sqrt(n_features)
    return Z, Z_new, rng.normal(size=n)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1), alpha=st.sampled_from([0.01, 0.3, 5.0]), n=st.integers(2, 15)
)
def test_dual_predictions_solve_normal_equations(seed: Any, alpha: Any, n: Any) -> None:
    Z, Z_new, y = _problem(seed, n=n)
    dual = ridge.build_dual_smoother(ridge.invert_dual(Z @ Z.T, alpha))
    expected = oracle.ridge(Z @ Z.T, Z_new @ Z.T, y, alpha)
    np.testing.assert_allclose(Z_new @ Z.T @ (dual.Q @ y) + dual.g @ y, expected, atol=1e-10)
    weights = Z_new @ Z.T @ dual.Q + dual.g
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_left_out_residuals_equal_refits(alpha: float) -> None:
    Z, Z_new, y = _problem(0)
    K = Z @ Z.T
    dual = ridge.build_dual_smoother(ridge.invert_dual(K, alpha))
    without, own = oracle.left_out_predictions(K, Z_new @ Z.T, y, alpha)
    residuals = compute_left_out_residuals(dual, y[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(residuals, y - own, atol=1e-10)
    # The effect of leaving node i out on other predictions: s_i(x) e_i / (1 − S_ii).
    weights = Z_new @ Z.T @ dual.Q + dual.g
    predictions = weights @ y
    np.testing.assert_allclose(predictions[:, None] - weights * residuals, without, atol=1e-10)


def test_primal_equals_dual() -> None:
    Z, Z_new, y = _problem(1)
    dual = ridge.build_dual_smoother(ridge.invert_dual(Z @ Z.T, 0.2))
    Z1 = primal_ridge.append_ones(Z)
    inverse = primal_ridge.invert_primal(Z1.T @ Z1, 0.2)
    weights = primal_ridge.append_ones(Z_new) @ inverse @ Z1.T
    np.testing.assert_allclose(weights, Z_new @ Z.T @ dual.Q + dual.g, atol=1e-12)
    fitted = Z1 @ inverse @ Z1.T @ y
    own = primal_ridge.compute_primal_leverages(inverse, Z1)
    np.testing.assert_allclose(
        (y - fitted) / (1.0 - own),
        compute_left_out_residuals(dual, y[:, np.newaxis])[:, 0],
        atol=1e-11,
    )


@pytest.mark.parametrize("cuts", [[1] * 10, [3, 7], [10]])
def test_inverses_grown_by_blocks_equal_batch(cuts: list[int]) -> None:
    Z, _, _ = _problem(2)
    K, alpha = Z @ Z.T, 0.05
    dual = ridge.invert_dual(K[:2, :2], alpha)
    Z1 = primal_ridge.append_ones(Z)
    primal = primal_ridge.invert_primal(Z1[:2].T @ Z1[:2], alpha)
    n = 2
    for size in cuts:
        new = slice(n, n + size)
        dual = ridge.grow_dual_inverse(dual, K[new, :n], K[new, new], alpha)
        primal = primal_ridge.grow_primal_inverse(primal, Z1[new])
        n += size
    np.testing.assert_allclose(dual, ridge.invert_dual(K, alpha), atol=1e-10)
    np.testing.assert_allclose(primal, primal_ridge.invert_primal(Z1.T @ Z1, alpha), atol=1e-10)


def test_rounding_errors_do_not_grow_with_blocks() -> None:
    points = np.random.default_rng(0).random(300)
    K = np.exp(-0.5 * np.subtract.outer(points, points) ** 2 / 0.1)  # nearly singular
    alpha = 0.01
    grown = ridge.invert_dual(K[:5, :5], alpha)
    for n in range(5, 300, 5):
        new = slice(n, n + 5)
        grown = ridge.grow_dual_inverse(grown, K[new, :n], K[new, new], alpha)
    np.testing.assert_allclose(grown, ridge.invert_dual(K, alpha), atol=1e-8 / alpha)


def test_inexact_inverse_grows_as_the_exact_one_where_it_is_exact() -> None:
    Z, _, _ = _problem(5)
    K, alpha = Z @ Z.T, 0.05
    inverse = ridge.invert_dual(K[:8, :8], alpha)
    grown = ridge.grow_dual_inverse(inverse, K[8:, :8], K[8:, 8:], alpha, is_exact=False)
    np.testing.assert_allclose(grown, ridge.invert_dual(K, alpha), atol=1e-10)


def test_inexact_inverse_stays_positive_definite() -> None:
    Z, _, _ = _problem(6)
    K, alpha = Z @ Z.T, 0.3
    inverse = 1.3 * ridge.invert_dual(K[:8, :8], alpha)  # 30 % too large
    cross, own = K[8:, :8], K[8:, 8:]
    left = own + alpha * np.eye(4) - cross @ inverse @ cross.T
    values, vectors = np.linalg.eigh(left)
    assert values[0] < alpha < values[-1]  # one of them is held at α, another one stays
    grown = ridge.grow_dual_inverse(inverse, cross, own, alpha, is_exact=False)
    held = vectors @ np.diag(np.maximum(values, alpha)) @ vectors.T
    np.testing.assert_allclose(np.linalg.inv(grown[8:, 8:]), held, atol=1e-10)
    assert np.linalg.eigvalsh(grown)[0] > 0.0
    # By default an inverse is taken as exact.
    taken = ridge.grow_dual_inverse(inverse, cross, own, alpha)
    np.testing.assert_allclose(np.linalg.inv(taken[8:, 8:]), left, atol=1e-10)


def test_recursive_least_squares_equals_batch_ridge() -> None:
    Z, _, y = _problem(3, n=40, n_features=6)
    alpha = 0.3
    centred = y - y.mean()
    F = Z.shape[1]
    # Without an intercept the start I/α is exact.
    C, theta = np.eye(F) / alpha, np.zeros(F)
    for z, value in zip(Z, centred, strict=True):
        gain = C @ z / (1.0 + z @ C @ z)
        theta, C = theta + gain * (value - z @ theta), C - np.outer(gain, z @ C)
    np.testing.assert_allclose(
        theta, np.linalg.solve(Z.T @ Z + alpha * np.eye(F), Z.T @ centred), atol=1e-12
    )
    # With one, its variance starts infinite, which is 1e12 in the recursion and exact in ours.
    Z1 = primal_ridge.append_ones(Z)
    inverse = primal_ridge.invert_primal(Z1.T @ Z1, alpha)
    np.testing.assert_allclose(
        inverse @ Z1.T @ y, oracle.recursive_least_squares(Z, y, alpha, 1e10), atol=1e-6
    )


def test_infinite_penalty_predicts_the_mean() -> None:
    _, _, y = _problem(4)
    smoother = ridge.build_mean_smoother(len(y))
    rest = [np.delete(y, i).mean() for i in range(len(y))]
    np.testing.assert_allclose(smoother.g @ y, y.mean())
    np.testing.assert_allclose(
        compute_left_out_residuals(smoother, y[:, None])[:, 0], y - rest, atol=1e-14
    )
    assert np.isnan(compute_left_out_residuals(ridge.build_mean_smoother(1), np.ones((1, 1)))).all()


def test_infinite_penalty_with_sample_weights_is_the_limit_of_large_ones() -> None:
    Z, _, y = _problem(7)
    weights = np.linspace(0.2, 3.0, len(y))
    smoother = ridge.build_mean_smoother(len(y), weights)
    np.testing.assert_allclose(smoother.g @ y, np.average(y, weights=weights))
    alpha = 1e8
    finite = ridge.build_dual_smoother(ridge.invert_dual(Z @ Z.T, alpha / weights))
    np.testing.assert_allclose(smoother.g, finite.g, atol=1e-7)
    np.testing.assert_allclose(smoother.Q, alpha * finite.Q, atol=1e-6)


def test_indefinite_kernel_is_inverted() -> None:
    # Cholesky fails: the eigenvalues of K + I are 3 and -1.
    inverse = ridge.invert_dual(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0)
    np.testing.assert_allclose(inverse, np.array([[-1.0, 2.0], [2.0, -1.0]]) / 3.0, rtol=1e-14)


def test_inverse_is_symmetric_to_the_last_bit() -> None:
    Z, _, _ = _problem(3)
    for inverse in (ridge.invert_dual(Z @ Z.T, 1e-9), primal_ridge.invert_primal(Z.T @ Z, 1e-9)):
        assert np.array_equal(inverse, inverse.T)


def test_criterion_equals_refits_and_likelihood() -> None:
    A, values, known = random_graph()
    K = oracle.kernel(A, ("hop1", "degree"), 1.0)[np.ix_(known, known)]
    y = values[known]
    alphas = np.array([0.01, 0.3, 10.0])
    curve = ridge.compute_criterion_curve(K, y[:, np.newaxis], alphas)
    for i, alpha in enumerate(alphas):
        expected_loo, expected = oracle.criterion(K, y, alpha)
        assert curve.loo[i] == pytest.approx(expected_loo, rel=1e-9)
        assert curve.criterion[i] == pytest.approx(expected, abs=1e-9)
    # Columns of values that are equal have the criterion of one.
    twice = ridge.compute_criterion_curve(K, np.column_stack([y, y]), alphas)
    np.testing.assert_allclose(twice.criterion, curve.criterion, atol=1e-9)


def test_likelihood_counts_less_where_many_values_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    A, values, known = random_graph()
    K = oracle.kernel(A, ("hop1", "degree"), 1.0)[np.ix_(known, known)]
    y = values[known]
    monkeypatch.setattr("gradraker.linear.ridge.MOST_BY_LIKELIHOOD", 6.5)
    curve = ridge.compute_criterion_curve(K, y[:, np.newaxis], np.array([0.3]))
    _, expected = oracle.criterion(K, y, 0.3, part=0.5)
    assert curve.criterion[0] == pytest.approx(expected, abs=1e-9)


def test_criterion_of_the_mean_is_the_limit_of_large_penalties() -> None:
    A, values, known = random_graph()
    K = oracle.kernel(A, ("hop1", "degree"), 1.0)[np.ix_(known, known)]
    Y = values[known][:, np.newaxis]
    curve = ridge.compute_criterion_curve(K, Y, np.array([1e9]))
    # |K + αI| and yᵀQy both grow with α, and cancel but for terms of 1/α.
    assert curve.criterion[0] == pytest.approx(ridge.compute_criterion_of_mean(Y), abs=1e-6)


@pytest.mark.parametrize("n_targets", [1, 3])
def test_gradient_equals_differences_of_the_criterion(n_targets: Any) -> None:
    A, _, known = random_graph()
    Y = np.random.default_rng(0).normal(size=(13, n_targets))
    names = ("hop1", "degree", "far")
    Ks = np.stack([oracle.kernel(A, [name], 1.0)[np.ix_(known, known)] for name in names])
    theta = np.array([-0.5, -1.5, -2.0, -1.2])
    value, gradient = ridge.compute_criterion_and_gradient(theta, Ks, Y, 0.6)
    K, alpha = np.tensordot(np.exp(theta[:3]), Ks, 1), np.exp(theta[3])
    if n_targets == 1:
        held = 0.5 * np.log(np.exp(theta[:3]).sum()) ** 2
        expected = oracle.criterion(K, Y[:, 0], alpha, part=0.6)[1] + held
        assert value == pytest.approx(expected, abs=1e-9)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-5
        above, below = (
            ridge.compute_criterion_and_gradient(theta + sign * step, Ks, Y, 0.6)[0]
            for sign in (1, -1)
        )
        # Central differences are off by step² times the third derivative, some 1e-9 here.
        assert gradient[i] == pytest.approx((above - below) / 2e-5, abs=1e-6)


def test_shares_go_to_the_kernel_that_made_the_values() -> None:
    data = make_geometric_graph(150, random_state=3)
    A = data.adjacency.toarray()
    Ks = np.stack([oracle.kernel(A, [name], 1.0) for name in ("hop2", "degree")])
    rng = np.random.default_rng(0)
    y = np.linalg.cholesky(Ks[0] + 0.01 * np.eye(150)) @ rng.normal(size=150)
    shares = ridge.find_shares(Ks, y[:, np.newaxis], 1.0)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[0] > 0.8


# -- the criterion with sample weights, and its search ---------------------------------------------

WEIGHTS = np.linspace(0.3, 2.5, 13)
ROOTS = np.sqrt(WEIGHTS)


def _weighed_problem(n_targets: int = 2) -> tuple[Any, Any, Any]:
    """Kernel matrices of 13 nodes and values, without weights and times their roots."""
    A, _, known = random_graph()
    names = ("hop1", "degree", "far")
    Ks = np.stack([oracle.kernel(A, [name], 1.0)[np.ix_(known, known)] for name in names])
    Y = np.random.default_rng(1).normal(size=(13, n_targets))
    return Ks, Y, ROOTS[:, np.newaxis] * Y


def test_criterion_with_sample_weights_equals_refits_and_likelihood() -> None:
    Ks, Y, weighed = _weighed_problem()
    K, alpha = Ks.mean(axis=0), 0.3
    alphas = np.array([alpha])
    curve = ridge.compute_criterion_curve(np.outer(ROOTS, ROOTS) * K, weighed, alphas, ROOTS)
    residuals = np.empty_like(Y)
    for i in range(13):
        rest = np.delete(np.arange(13), i)
        dual = ridge.build_dual_smoother(
            ridge.invert_dual(K[np.ix_(rest, rest)], alpha / WEIGHTS[rest])
        )
        residuals[i] = Y[i] - (K[i, rest] @ dual.Q + dual.g) @ Y[rest]
    expected_loo = np.mean(WEIGHTS[:, np.newaxis] * residuals**2)
    assert curve.loo[0] == pytest.approx(expected_loo, rel=1e-9)
    H = np.outer(ROOTS, ROOTS) * K + alpha * np.eye(13)
    h = np.linalg.solve(H, ROOTS)
    Q = np.linalg.inv(H) - np.outer(h, h) / (ROOTS @ h)
    fit = np.trace(weighed.T @ Q @ weighed) / (2 * 12)
    likelihood = 0.5 * (12 * np.log(fit) + np.linalg.slogdet(H)[1] + np.log(ROOTS @ h))
    expected = 0.5 * 13 * np.log(expected_loo) + likelihood
    assert curve.criterion[0] == pytest.approx(expected, abs=1e-9)
    assert curve.alphas is alphas


def test_criterion_of_the_weighed_mean_is_the_limit_of_large_penalties() -> None:
    Ks, _, weighed = _weighed_problem()
    K = np.outer(ROOTS, ROOTS) * Ks[0]
    curve = ridge.compute_criterion_curve(K, weighed, np.array([1e9]), ROOTS)
    mean = ridge.compute_criterion_of_mean(weighed, ROOTS)
    assert curve.criterion[0] == pytest.approx(mean, abs=1e-6)


def test_gradient_with_sample_weights_equals_differences_of_the_curve() -> None:
    Ks, _, weighed = _weighed_problem()
    Ks, weighed = np.outer(ROOTS, ROOTS) * Ks, 0.01 * weighed  # small values are as good as others

    def compute(theta: Any) -> Any:
        return ridge.compute_criterion_and_gradient(theta, Ks, weighed, 1.0, ROOTS)

    theta = np.log([0.5, 0.3, 0.2, 0.1])  # shares sum to 1: nothing holds them
    value, gradient = compute(theta)
    K = np.tensordot([0.5, 0.3, 0.2], Ks, 1)
    curve = ridge.compute_criterion_curve(K, weighed, np.array([0.1]), ROOTS)
    assert value == pytest.approx(curve.criterion[0], abs=1e-9)
    for i, step in enumerate(1e-5 * np.eye(4)):
        difference = (compute(theta + step)[0] - compute(theta - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize(
    ("size", "log_alpha"),
    [
        (0.0, 0.0),
        (1e-160, 23.0),  # the squared residuals are positive, yᵀQy is 0 in this precision
        (1e-165, -23.0),  # and the other way round
    ],
)
def test_criterion_rejects_a_perfect_fit(size: float, log_alpha: float) -> None:
    Y = size * np.array([[1.0], [-1.0], [2.0], [0.5]])
    theta = np.array([0.0, log_alpha])
    value, gradient = ridge.compute_criterion_and_gradient(theta, 1e-30 * np.eye(4)[None], Y, 1.0)
    assert value == 1e10
    assert gradient.tolist() == [0.0, 0.0]


def test_criterion_rejects_a_matrix_that_is_not_positive_definite() -> None:
    theta, Y = np.array([0.0, -3.0]), np.array([[1.0], [2.0], [4.0]])
    value, gradient = ridge.compute_criterion_and_gradient(theta, -np.eye(3)[None], Y, 1.0)
    assert value == 1e10
    assert gradient.tolist() == [0.0, 0.0]


def test_shares_have_the_least_criterion() -> None:
    data = make_geometric_graph(60, random_state=3)
    A = data.adjacency.toarray()
    Ks = np.stack([oracle.kernel(A, [name], 1.0) for name in ("hop2", "degree", "hop1")])
    rng = np.random.default_rng(1)
    made = np.tensordot([0.6, 0.4, 0.0], Ks, 1) + 1e-4 * np.eye(60)  # little noise
    Y = np.linalg.cholesky(made) @ rng.normal(size=(60, 2))

    def compute(shares: Any) -> float:
        K = np.tensordot(shares, Ks, 1)
        return float(ridge.compute_criterion_curve(K, Y, np.logspace(-7, 1, 60)).criterion.min())

    found = ridge.find_shares(Ks, Y, 1.0)
    least = compute(found)
    others = [(i / 10, j / 10, 1 - (i + j) / 10) for i in range(11) for j in range(11 - i)]
    assert found[0] > 0.3
    assert found[1] > 0.1
    assert all(compute(np.array(shares)) > least - 0.1 for shares in others)  # of hundredths


def _replace_search(monkeypatch: pytest.MonkeyPatch, shares: Any) -> list[Any]:
    """Have a search find the shares; return where its starts and bounds are listed."""
    listed: list[Any] = []

    def search(_: Any, start: Any, *, bounds: Any, **options: Any) -> OptimizeResult:
        listed.append((start, np.array(bounds)))
        return OptimizeResult(x=np.log([*shares, 0.1]))

    monkeypatch.setattr(ridge, "minimize", search)
    return listed


def test_shares_are_rounded_and_small_ones_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_search(monkeypatch, 3.0 * np.array([0.614, 0.366, 0.015, 0.005]))
    found = ridge.find_shares(np.ones((4, 5, 5)), np.ones((5, 1)), 1.0)
    np.testing.assert_allclose(found, np.array([61.0, 37.0, 0.0, 0.0]) / 98.0, rtol=1e-14)


# Kernels that are 1 everywhere have no spread, and others more than a penalty may usually be.
@pytest.mark.parametrize(("level", "spread"), [(0.2, 0.8), (1.0, 1e-12), (-1e5, 1e5 + 1.0)])
def test_a_search_starts_from_a_tenth_of_the_spread_within_its_bounds(
    level: float, spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = _replace_search(monkeypatch, [0.5, 0.5])
    ridge.find_shares(np.full((2, 5, 5), level), np.ones((5, 1)), 1.0)
    ((start, bounds),) = listed
    np.testing.assert_allclose(np.exp(start), [0.5, 0.5, 0.1 * spread], rtol=1e-9)
    assert np.all(bounds[:, 0] <= start)
    assert np.all(start <= bounds[:, 1])
    assert np.exp(bounds[2, 0]) < 1e-6  # values may have next to no noise
