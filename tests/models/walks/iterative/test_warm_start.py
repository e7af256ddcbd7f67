"""Solutions that start from earlier ones."""

import numpy as np

from operator_problems import ALPHA, N, make_problem, solve
from oracles import nodes as oracle


def test_old_coefficients_save_products() -> None:
    operators, K, known, Y = make_problem()
    cold = solve(operators, known, Y, tol=1e-6)
    warm = solve(operators, known, Y, tol=1e-6, coefficients=cold.coefficients)
    assert warm.n_iterations < cold.n_iterations
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(warm.predict(np.arange(N)), expected, atol=1e-4)


def test_old_products_are_taken_as_the_solution() -> None:
    operators, _, known, Y = make_problem()
    solved = solve(operators, known, Y)
    again = solve(operators, known, Y, coefficients=solved.coefficients, products=solved.products)
    np.testing.assert_array_equal(again.predict(np.arange(N)), solved.predict(np.arange(N)))
    assert not hasattr(again, "n_iterations")
