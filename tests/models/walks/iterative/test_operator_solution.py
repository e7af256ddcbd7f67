"""Solutions by products against dense ridge with the mean of the known values."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import NodeRegressor
from gradraker.features.walks import describe_walks
from gradraker.models.walks.choice import Term, choose_mean, get_kind
from gradraker.models.walks.iterative.operator_solution import OperatorSolution
from gradraker.models.walks.operators.operators import Operators
from operator_problems import ALPHA, KERNEL, N, make_matrix, make_problem, solve
from oracles import nodes as oracle


@pytest.mark.parametrize("direction", ["both", "out"])
def test_predictions_equal_dense_ridge(direction: Any) -> None:
    operators, K, known, Y = make_problem(direction=direction)
    solution = solve(operators, known, Y)
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)
    rows = np.array([7, 7, 2])
    np.testing.assert_allclose(solution.predict(rows), expected[rows], atol=1e-8)


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
def test_residual_is_within_the_tolerance(tol: Any) -> None:
    operators, K, known, Y = make_problem(n_targets=1)
    solution = solve(operators, known, Y, tol=tol)
    H = K[np.ix_(known, known)] + ALPHA * np.eye(known.size)
    target = Y - Y.mean(axis=0)
    residual = target - H @ solution.coefficients
    assert np.linalg.norm(residual) <= 1.001 * tol * np.linalg.norm(target)
    np.testing.assert_allclose(solution.products, K[:, known] @ solution.coefficients, atol=1e-9)


def test_weights_equal_dense_ridge_and_sum_to_one() -> None:
    operators, K, known, Y = make_problem()
    solution = solve(operators, known, Y)
    rows = np.arange(N)  # more than are solved together
    weights = solution.compute_weights(rows)
    expected = oracle.fixed_mean_weights(K[np.ix_(known, known)], K[:, known], ALPHA)
    np.testing.assert_allclose(weights, expected, atol=1e-8)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(weights @ Y, solution.predict(rows), atol=1e-8)


def test_left_out_weights_equal_refits() -> None:
    operators, K, known, Y = make_problem()
    solution = solve(operators, known, Y)
    positions = np.arange(known.size)[::-1]
    weights = solution.compute_left_out_weights(positions)
    K_known = K[np.ix_(known, known)]
    expected = oracle.fixed_mean_left_out(K_known, np.eye(known.size), ALPHA)[positions]
    np.testing.assert_allclose(weights, expected, atol=1e-8)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_array_equal(weights[np.arange(known.size), positions], 0.0)


def test_left_out_predictions_equal_refits() -> None:
    operators, K, known, Y = make_problem()
    left_out = solve(operators, known, Y).predict_left_out()
    expected = oracle.fixed_mean_left_out(K[np.ix_(known, known)], Y, ALPHA)
    assert left_out.one_at_a_time
    np.testing.assert_allclose(left_out.predictions, expected[left_out.positions], atol=1e-8)
    assert sorted(left_out.positions.tolist()) == list(range(known.size))
    assert (left_out.spreads > 0.0).all()


def test_parts_sum_to_the_prediction_less_the_mean() -> None:
    operators, K, known, Y = make_problem()
    solution = solve(operators, known, Y)
    rows = np.array([1, 50, 3])
    parts = solution.predict_parts(rows)
    assert set(parts.names) == {"near neighbours", "region", "alternating", "direction", "degrees"}
    total = parts.values.sum(axis=1) + Y.mean(axis=0)
    np.testing.assert_allclose(total, solution.predict(rows), atol=1e-9)
    mean = Y.mean(axis=0)
    C = np.linalg.solve(K[np.ix_(known, known)] + ALPHA * np.eye(known.size), Y - mean)
    everyone = np.arange(N)
    for number, name in enumerate(parts.names):
        own = sum(
            t.share * operators.compute_rows(everyone, t, everyone)
            for t in KERNEL
            if get_kind(t.block) == name
        )
        np.testing.assert_allclose(parts.values[:, number], own[np.ix_(rows, known)] @ C, atol=1e-8)


def test_other_values_and_more_nodes_give_the_solution_of_all() -> None:
    operators, K, known, Y = make_problem()
    solution = solve(operators, known[:20], Y[:20])
    solution.set_values(2.0 * Y[:20] - 3.0)
    expected = oracle.fixed_mean_ridge(
        K[np.ix_(known[:20], known[:20])], K[:, known[:20]], 2.0 * Y[:20] - 3.0, ALPHA
    )
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)
    for stop in (21, 35):
        solution.grow(known[solution.known.size : stop], Y[:stop])
        some = known[:stop]
        expected = oracle.fixed_mean_ridge(K[np.ix_(some, some)], K[:, some], Y[:stop], ALPHA)
        np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)
        np.testing.assert_array_equal(solution.known, some)


@pytest.mark.parametrize("step", [1e-3, 0.1, 3.0])
def test_a_correction_is_solved_to_a_part_of_itself(step: Any) -> None:
    operators, K, known, Y = make_problem(n_targets=1)
    solution = solve(operators, known, Y, tol=1e-2)
    H = K[np.ix_(known, known)] + ALPHA * np.eye(known.size)
    Y = Y.copy()
    Y[0] += step
    target = Y - Y.mean(axis=0)
    change = target - H @ solution.coefficients
    solution.set_values(Y)
    residual = target - H @ solution.coefficients
    # However small the change is next to the tolerance of 1e-2.
    assert np.linalg.norm(residual) <= 0.05 * (1 + 1e-3) * np.linalg.norm(change)


def test_a_new_value_of_several_targets_moves_predictions_as_an_exact_solve_does() -> None:
    operators, K, known, Y = make_problem(n_targets=3)
    solution = solve(operators, known[:-1], Y[:-1], tol=1e-1)
    old = solution.predict(np.arange(N))
    mean = Y[:-1].mean(axis=0)
    Y = np.vstack([Y[:-1], mean + np.array([[0.5, 0.1, -0.01]])])
    solution.grow(known[-1:], Y)
    moved = solution.predict(np.arange(N)) - old
    np.testing.assert_array_equal(solution.mean, mean)  # within the tolerance
    H = K[np.ix_(known, known)] + ALPHA * np.eye(known.size)
    surprise = np.zeros((known.size, 3))
    surprise[-1] = Y[-1] - old[known[-1]]
    expected = K[:, known] @ np.linalg.solve(H, surprise)
    np.testing.assert_allclose(moved, expected, atol=0.03 * abs(expected).max())


def test_many_new_values_renew_the_mean() -> None:
    operators, K, known, Y = make_problem(n_targets=3)
    Y = Y + np.arange(known.size)[:, np.newaxis] / known.size
    half = known.size // 2
    solution = solve(operators, known[:half], Y[:half], tol=1e-3)
    for i in range(half, known.size):
        solution.grow(known[i : i + 1], Y[: i + 1])
        drift = abs(solution.mean - Y[: i + 1].mean(axis=0))
        assert (drift <= 1e-3 * Y[: i + 1].std(axis=0) * 1.01).all()
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=5e-3)


def test_the_mean_needs_no_kernel() -> None:
    operators, _, known, Y = make_problem()
    solution = OperatorSolution(operators, known, Y, choose_mean(known.size), tol=1e-3)
    rows = np.arange(3)
    np.testing.assert_allclose(solution.predict(rows), np.tile(Y.mean(axis=0), (3, 1)))
    np.testing.assert_allclose(solution.compute_weights(rows), 1.0 / known.size)
    weights = solution.compute_left_out_weights(np.array([4]))
    expected = np.full(known.size, 1.0 / (known.size - 1))
    expected[4] = 0.0
    np.testing.assert_allclose(weights[0], expected)
    left_out = solution.predict_left_out()
    means = [np.delete(Y, i, axis=0).mean(axis=0) for i in range(known.size)]
    np.testing.assert_allclose(left_out.predictions, means, atol=1e-12)
    # Spreads of left-out and of other nodes are in the same unit.
    np.testing.assert_allclose(left_out.spreads, solution.estimate_spreads(rows)[0])
    assert solution.predict_parts(rows).names == ()


@pytest.mark.parametrize("block", ["hop1", "hop64", "alternating4", "same_targets", "degree"])
def test_graphs_without_edges_predict_the_mean(block: Any) -> None:
    graph = nx.empty_graph(6)
    model = NodeRegressor(blocks=block, width=1.0, alpha=0.1, solver="operators")
    model.fit(graph, {0: 1.0, 1: 3.0, 2: 5.0})
    np.testing.assert_allclose(model.predict(), 3.0, atol=1e-6)
    assert NodeRegressor(solver="operators").fit(
        graph, {0: 1.0, 1: 3.0, 2: 5.0}
    ).predict().shape == (3,)


def test_isolated_nodes_are_predicted_by_the_mean_and_keep_their_value() -> None:
    A = make_matrix()
    values = np.where(np.arange(N) % 2, np.sin(np.arange(N)), np.nan)
    values[3] = 9.0  # without edges
    options: dict[str, Any] = {
        "transform": "none",
        "blocks": ("hop1",),
        "width": 1.0,
        "alpha": 0.1,
        "solver": "operators",
    }
    model = NodeRegressor(**options, tol=1e-10).fit(A, values, kind="matrix")
    mean = np.nanmean(values)
    assert model.predict([3])[0] == pytest.approx(mean + (9.0 - mean) / 1.1, abs=1e-8)
    values[3] = np.nan
    model.fit(A, values, kind="matrix")
    assert model.predict([3])[0] == pytest.approx(np.nanmean(values), abs=1e-8)


def test_heavier_edges_count_more_and_signs_do_not() -> None:
    A = np.zeros((4, 4))
    A[0, 1], A[0, 2] = 10.0, 0.1
    values = np.array([np.nan, 1.0, 0.0, 0.5])
    options: dict[str, Any] = {"blocks": "hop1", "width": 1.0, "alpha": 0.1, "solver": "operators"}
    found = [
        NodeRegressor(**options).fit(B, values, kind="matrix").predict([0])[0]
        for B in (A, -A, A[:, [0, 2, 1, 3]])
    ]
    assert found[0] == found[1] > 0.55
    assert found[2] < 0.45


def test_solution_in_single_precision_reaches_the_default_tolerance() -> None:
    walks = describe_walks(csr_array(make_matrix()), np.arange(N), direction="both", seed=1)
    _, K, known, Y = make_problem(n_targets=1)
    operators = Operators(walks)
    assert operators.dtype == np.float32
    solution = solve(operators, known, Y, tol=1e-3)
    target = Y - Y.mean(axis=0)
    H = K[np.ix_(known, known)] + ALPHA * np.eye(known.size)
    residual = target - H @ solution.coefficients
    assert np.linalg.norm(residual) <= 1.1e-3 * np.linalg.norm(target)


def test_terms_that_share_a_walk_are_solved_together() -> None:
    kernel = (Term("hop1", None, 0.5), Term("hop2", None, 0.5))
    operators, K, known, Y = make_problem(kernel=kernel)
    solution = solve(operators, known, Y, kernel=kernel)
    expected = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[:, known], Y, ALPHA)
    np.testing.assert_allclose(solution.predict(np.arange(N)), expected, atol=1e-8)
