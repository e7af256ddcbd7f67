"""Ridge by products against dense solves."""

from typing import Any

import numpy as np
import pytest

from gradraker.features.engine import CpuEngine, watch_progress
from gradraker.linear.conjugate_gradients import solve_by_products

N = 40


def _problem(seed: Any = 0, n_columns: Any = 6, n_known: Any = 25) -> Any:
    """A kernel with a few large eigenvalues, masks that differ, penalties that differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5))
    K = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2) / 10.0)
    mask = np.zeros((N, n_columns))
    for column in range(n_columns):
        mask[rng.permutation(N)[:n_known], column] = 1.0
    R = mask * rng.normal(size=(N, n_columns))
    return K, R, mask, np.logspace(-2, 1, n_columns)


def _measure_residual(solved: Any, R: Any) -> float:
    """Largest residual of a column, relative to r."""
    left, sizes = (solved.residuals**2).sum(axis=0), (R * R).sum(axis=0)
    return float(np.sqrt(left / (sizes + 1e-300)).max())


def _solve_densely(K: Any, R: Any, mask: Any, alphas: Any) -> Any:
    C = np.zeros(R.shape)
    for column, alpha in enumerate(alphas):
        known = np.flatnonzero(np.broadcast_to(mask, R.shape)[:, column])
        H = K[np.ix_(known, known)] + alpha * np.eye(known.size)
        C[known, column] = np.linalg.solve(H, R[known, column])
    return C


def _precondition(K: Any, mask: Any, alphas: Any) -> Any:
    """(UUᵀ + θI)⁻¹ on the known nodes, with the 8 largest eigenvalues of K."""
    values, V = np.linalg.eigh(K)
    U = V[:, -8:] * np.sqrt(values[-8:])

    def apply(X: Any) -> Any:
        found = np.zeros_like(X)
        for column, alpha in enumerate(alphas):
            known = np.broadcast_to(mask, X.shape)[:, column] > 0
            M = U[known] @ U[known].T + (alpha + 0.1) * np.eye(known.sum())
            found[known, column] = np.linalg.solve(M, X[known, column])
        return found

    return apply


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("one_mask", [False, True])
def test_coefficients_and_products_equal_dense_solves(preconditioned: Any, one_mask: Any) -> None:
    K, R, mask, alphas = _problem()
    if one_mask:
        mask = mask[:, :1]
        R = R * mask
    solved = solve_by_products(
        lambda X: K @ X,
        R,
        mask,
        alphas,
        tol=1e-12,
        max_iterations=200,
        precondition=_precondition(K, mask, alphas) if preconditioned else None,
        engine=CpuEngine(),
    )
    expected = _solve_densely(K, R, mask, alphas)
    # A residual of 1e-12, amplified by 1/α of 100 at most.
    np.testing.assert_allclose(solved.coefficients, expected, atol=1e-9)
    np.testing.assert_allclose(solved.products, K @ expected, atol=1e-9)
    assert _measure_residual(solved, R) <= 1e-12
    assert solved.n_iterations < 200


def test_preconditioner_saves_products() -> None:
    K, R, mask, alphas = _problem()
    alphas = np.full(6, 0.01)
    counts = [
        solve_by_products(
            lambda X: K @ X,
            R,
            mask,
            alphas,
            tol=1e-8,
            max_iterations=200,
            precondition=p,
            engine=CpuEngine(),
        ).n_iterations
        for p in (None, _precondition(K, mask, alphas))
    ]
    assert counts[1] < counts[0]


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_each_column_reaches_the_tolerance(tol: Any) -> None:
    K, R, mask, alphas = _problem()
    R = R * np.logspace(-6, 6, 6)  # columns of very different size
    solved = solve_by_products(
        lambda X: K @ X, R, mask, alphas, tol=tol, max_iterations=200, engine=CpuEngine()
    )
    left = R - mask * (K @ solved.coefficients) - alphas * solved.coefficients
    sizes = np.linalg.norm(left, axis=0) / np.linalg.norm(R, axis=0)
    assert (sizes <= 1.001 * tol).all()
    np.testing.assert_allclose(solved.residuals, left, atol=1e-9 * np.abs(R).max())


def test_floor_stops_columns_whose_residual_is_small_in_itself() -> None:
    K, R, mask, alphas = _problem()
    floor = np.linalg.norm(R, axis=0)
    solved = solve_by_products(
        lambda X: K @ X,
        R,
        mask,
        alphas,
        tol=0.0,
        floor=floor,
        max_iterations=200,
        engine=CpuEngine(),
    )
    assert solved.n_iterations == 0
    np.testing.assert_array_equal(solved.coefficients, 0.0)
    solved = solve_by_products(
        lambda X: K @ X,
        R,
        mask,
        alphas,
        tol=0.0,
        floor=0.01 * floor,
        max_iterations=200,
        engine=CpuEngine(),
    )
    left = R - mask * (K @ solved.coefficients) - alphas * solved.coefficients
    assert (np.linalg.norm(left, axis=0) <= 0.01001 * floor).all()
    assert solved.n_iterations > 0


def test_max_iterations_bounds_the_products() -> None:
    K, R, mask, alphas = _problem()
    calls = []

    def multiply(X: Any) -> Any:
        calls.append(1)
        return K @ X

    solved = solve_by_products(
        multiply, R, mask, alphas, tol=1e-12, max_iterations=3, engine=CpuEngine()
    )
    assert len(calls) == solved.n_iterations == 3
    assert _measure_residual(solved, R) > 1e-12


def test_progress_counts_products() -> None:
    K, R, mask, alphas = _problem()
    told = []
    with watch_progress(lambda *stage: told.append(stage)):
        solve_by_products(
            lambda X: K @ X, R, mask, alphas, tol=1e-12, max_iterations=3, engine=CpuEngine()
        )
    assert told == [("solving", 1, 3), ("solving", 2, 3), ("solving", 3, 3)]


def test_columns_of_a_matrix_that_is_not_positive_definite_stay_zero() -> None:
    R = np.ones((N, 1))
    solved = solve_by_products(
        lambda X: -2.0 * X, R, R, np.ones(1), tol=1e-8, max_iterations=5, engine=CpuEngine()
    )
    np.testing.assert_array_equal(solved.coefficients, 0.0)
    np.testing.assert_array_equal(solved.residuals, R)


def test_columns_of_zeros_stay_zero() -> None:
    K, R, mask, alphas = _problem()
    R[:, 2] = 0.0
    solved = solve_by_products(
        lambda X: K @ X, R, mask, alphas, tol=1e-10, max_iterations=200, engine=CpuEngine()
    )
    np.testing.assert_array_equal(solved.coefficients[:, 2], 0.0)
    expected = _solve_densely(K, R, mask, alphas)
    np.testing.assert_allclose(solved.coefficients, expected, atol=1e-7)


def test_single_precision_stays_and_comes_near() -> None:
    K, R, mask, alphas = (x.astype(np.float32) for x in _problem())

    def multiply(X: Any) -> Any:
        assert X.dtype == np.float32
        return K @ X

    solved = solve_by_products(
        multiply, R, mask, alphas, tol=1e-4, max_iterations=200, engine=CpuEngine()
    )
    assert solved.coefficients.dtype == solved.products.dtype == np.float32
    expected = _solve_densely(*_problem())
    # A residual of 1e-4, amplified by 1/α of 100 at most.
    error = np.linalg.norm(solved.coefficients - expected, axis=0)
    assert (error < 0.01 * np.linalg.norm(R, axis=0)).all()


def test_solutions_do_not_change_the_right_hand_sides() -> None:
    K, R, mask, alphas = _problem()
    before = R.copy()
    solve_by_products(
        lambda X: K @ X, R, mask, alphas, tol=1e-8, max_iterations=50, engine=CpuEngine()
    )
    np.testing.assert_array_equal(R, before)
