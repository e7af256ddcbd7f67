"""Predictions do not depend on the zero and the unit of values, nor on the order of nodes."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import random_graph
from gradraker import NodeRegressor

# Operators solve to a relative residual of tol: 1e-10 where predictions are to agree to 1e-9.
SOLVERS = {"exact": {"solver": "exact"}, "operators": {"solver": "operators", "tol": 1e-10}}
BY_SOLVER = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
GIVEN = {"blocks": ("hop1", "hop2", "degree"), "width": 0.8, "alpha": 1e-4}


def _smooth(graph: Any, seed: Any = 0) -> Any:
    """Values that are alike along edges, half of them known."""
    rng = np.random.default_rng(seed)
    A = nx.to_numpy_array(graph) + np.eye(len(graph))
    P = A / A.sum(axis=1, keepdims=True)
    y = P @ P @ P @ rng.normal(size=len(graph))
    return np.where(rng.random(y.size) < 0.5, y / y.std(), np.nan)


def _predictions(A: Any, values: Any, **options: Any) -> Any:
    model = NodeRegressor(**options).fit(A, values, kind="matrix")
    return model.predict(model.nodes_)


@BY_SOLVER
@given(
    seed=st.integers(0, 5),
    log_scale=st.floats(-12.0, 12.0),
    sign=st.sampled_from([-1.0, 1.0]),
    zero=st.floats(-1e3, 1e3),
)
@settings(max_examples=10, deadline=None, derandomize=True)
def test_automatic_predictions_move_with_the_zero_and_the_unit(
    solver: Any, seed: int, log_scale: Any, sign: Any, zero: Any
) -> None:
    graph = nx.gnm_random_graph(30, 60, seed=seed)
    A, values = nx.to_numpy_array(graph), _smooth(graph, seed)
    scale = sign * 10.0**log_scale
    expected = _predictions(A, values, **solver)
    found = _predictions(A, scale * (values + zero), **solver)
    np.testing.assert_allclose(found / scale - zero, expected, atol=1e-9)


# Sums of multiples of 2⁻¹⁰ and 2³⁰ are exact: the values lose no digits, and predictions few.
HUGE = 2.0**30


@BY_SOLVER
@pytest.mark.parametrize("options", [GIVEN, {}], ids=["given", "automatic"])
def test_a_huge_offset_costs_few_digits(options: Any, solver: Any) -> None:
    graph = nx.gnm_random_graph(30, 60, seed=0)
    A, values = nx.to_numpy_array(graph), _smooth(graph)
    values = np.round(values * 1024.0) / 1024.0
    expected = _predictions(A, values, **options, **solver)
    found = _predictions(A, values + HUGE, **options, **solver) - HUGE
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("reselect", ["always", "doubled"])
@BY_SOLVER
def test_a_huge_offset_costs_few_digits_online(solver: Any, reselect: Any) -> None:
    A, values, known = random_graph()
    values = np.round(values * 1024.0) / 1024.0
    options = GIVEN | solver | {"reselect": reselect}
    expected = _predictions(A, values, **options)
    model = NodeRegressor(**options).partial_fit(A, kind="matrix")
    for node in known.tolist():
        model.partial_fit(values={node: values[node] + HUGE})
        model.predict()
    np.testing.assert_allclose(model.predict(model.nodes_) - HUGE, expected, atol=1e-5)


GRAPHS = {
    "star": nx.star_graph(25),
    "clique": nx.complete_graph(20),
    "twins": nx.complete_bipartite_graph(12, 12),
    "components": nx.disjoint_union_all([nx.path_graph(4) for _ in range(6)]),
    "loops": nx.from_edgelist([(i, i) for i in range(20)]),
}


# Weights are those of the solution where tol is as small as it may be.
FINE = {"tol": 1e-12}


@BY_SOLVER
@pytest.mark.parametrize("n_known", ["two", "half", "all"])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_graphs_with_many_equal_nodes_have_finite_predictions(
    graph: Any, n_known: Any, solver: Any
) -> None:
    n = len(graph)
    rng = np.random.default_rng(0)
    some = rng.permutation(n)[: {"two": 2, "half": n // 2, "all": n}[n_known]]
    values = np.full(n, np.nan)
    values[some] = rng.normal(size=some.size)
    A = nx.to_numpy_array(graph)
    model = NodeRegressor(**solver | FINE).fit(A, values, kind="matrix")
    predictions, intervals = model.predict(model.nodes_, return_interval=True, coverage=0.5)
    assert np.isfinite(predictions).all()
    assert not np.isnan(intervals).any()
    explanation = model.explain(model.nodes_)
    np.testing.assert_allclose(explanation.weights @ explanation.values, predictions, atol=1e-10)
    np.testing.assert_allclose(explanation.sum_of_weights, 1.0, atol=1e-10)


@BY_SOLVER
@pytest.mark.parametrize("exponents", [(-300.0, 100.0), (-300.0, -300.0), (100.0, 100.0)])
def test_weights_of_any_size_give_finite_predictions(
    exponents: tuple[float, float], solver: Any
) -> None:
    A, values, _ = random_graph()
    low, high = exponents
    weights = 10.0 ** np.random.default_rng(1).uniform(low, high, A.shape)
    blocks = ("hop2", "far", "alternating", "same_targets", "community", "degree")
    options = {"blocks": blocks, "width": 1.0, "alpha": 0.1} | solver
    assert np.isfinite(_predictions(np.where(A > 0.0, weights, 0.0), values, **options)).all()


@BY_SOLVER
@pytest.mark.parametrize("seed", range(3))
def test_predictions_do_not_depend_on_the_order_of_nodes(solver: Any, seed: int) -> None:
    graph = nx.gnm_random_graph(30, 60, seed=seed)
    A, values = nx.to_numpy_array(graph), _smooth(graph, seed)
    order = np.random.default_rng(seed).permutation(30)
    moved = NodeRegressor(**solver).fit(
        A[np.ix_(order, order)], values[order], names=order.tolist(), kind="matrix"
    )
    np.testing.assert_allclose(
        moved.predict(list(range(30))), _predictions(A, values, **solver), atol=1e-9
    )


@pytest.mark.parametrize("unit", [1e-30, 1e-23, 1e20, 1e30])
def test_values_of_any_unit_are_learned_in_single_precision(unit: Any) -> None:
    A, values, _ = random_graph()
    options = GIVEN | {"alpha": 0.1, "solver": "operators"}
    expected = _predictions(A, values, **options)
    assert np.std(expected) > 0.1
    # Both are solved to the default tol of 1e-3.
    np.testing.assert_allclose(
        _predictions(A, values * unit, **options) / unit, expected, atol=0.01
    )
