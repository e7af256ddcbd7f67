"""Preconditioners of ridge on a kernel of operators: the same solution, by fewer products."""

from typing import Any

import numpy as np
import pytest

from gradraker.models.walks.operators.ridge import InversePreconditioner, ThinPreconditioner
from operator_problems import ALPHA, N, make_problem, solve
from oracles import nodes as oracle


@pytest.mark.parametrize("preconditioned_on", [3, 35])
def test_a_preconditioner_of_other_nodes_gives_the_same_solution(preconditioned_on: Any) -> None:
    operators, K, known, Y = make_problem()
    preconditioner = ThinPreconditioner(operators, known[:preconditioned_on])
    solution = solve(operators, known, Y, preconditioner=preconditioner)
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)


@pytest.mark.parametrize("n_first", [10, 34, 35])
def test_an_inverse_that_grows_solves_by_one_product(n_first: Any) -> None:
    operators, K, known, Y = make_problem()
    first = known[:n_first]
    H = K[np.ix_(first, first)] + ALPHA * np.eye(n_first)
    preconditioner = InversePreconditioner(operators, first, np.linalg.inv(H), ALPHA)
    solution = solve(operators, known, Y, preconditioner=preconditioner, tol=1e-6)
    assert solution.preconditioner is preconditioner
    assert solution.n_iterations <= 2
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-5)


def test_an_inverse_of_other_nodes_is_replaced() -> None:
    operators, K, known, Y = make_problem()
    others = known[5:]
    H = K[np.ix_(others, others)] + ALPHA * np.eye(others.size)
    preconditioner = InversePreconditioner(operators, others, np.linalg.inv(H), ALPHA)
    solution = solve(operators, known, Y, preconditioner=preconditioner)
    assert isinstance(solution.preconditioner, ThinPreconditioner)
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)


def test_a_preconditioner_saves_products(monkeypatch: pytest.MonkeyPatch) -> None:
    operators, _, known, Y = make_problem()
    with_it = solve(operators, known, Y, tol=1e-6).n_iterations
    monkeypatch.setattr(ThinPreconditioner, "make", lambda *_: lambda X: X)
    without = solve(operators, known, Y, tol=1e-6).n_iterations
    assert with_it < without
