"""NodeRegressor against the dense oracle: predictions, weights, choice, new nodes."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from examples import random_graph
from gradraker import NodeRegressor, gnmse, load_temperature
from gradraker.datasets import make_geometric_graph
from gradraker.models.walks.solutions import KernelSolution, RidgeSolution
from oracles import nodes as oracle

BLOCKS = (
    "alternating",
    "community",
    "degree",
    "far",
    "hop1",
    "hop3",
    "same_sources",
    "same_targets",
)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_predictions_equal_the_dense_equations(direction: str) -> None:
    A, values, known = random_graph()
    model = NodeRegressor(blocks=BLOCKS, width=0.8, alpha=0.1, direction=direction)
    model.fit(A, values, kind="matrix")
    K = oracle.kernel(A, BLOCKS, 0.8, direction)
    unknown = np.setdiff1d(np.arange(31), known)
    expected = oracle.ridge(K[np.ix_(known, known)], K[np.ix_(unknown, known)], values[known], 0.1)
    np.testing.assert_allclose(model.predict(), expected, atol=1e-10)
    assert model.unknown_nodes_.tolist() == unknown.tolist()
    assert model.known_nodes_.tolist() == known.tolist()
    assert (model.solver_, model.blocks_, model.alpha_) == ("kernel", BLOCKS, 0.1)
    assert {term.width for term in model.kernel_} == {0.8}


def test_leave_one_out_error_equals_refits() -> None:
    A, values, known = random_graph()
    model = NodeRegressor(blocks=BLOCKS, width=0.8, alpha=0.1).fit(A, values, kind="matrix")
    K = oracle.kernel(A, BLOCKS, 0.8)
    y = values[known]
    _, own = oracle.left_out_predictions(K[np.ix_(known, known)], K[:, known], y, 0.1)
    mean = np.array([np.delete(y, i).mean() for i in range(len(y))])
    error = model.left_out_error_
    assert error.rmse == pytest.approx(np.sqrt(np.mean((y - own) ** 2)), rel=1e-9)
    assert error.rmse_of_mean == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)), rel=1e-9)
    low, span = y.min(), np.ptp(y)
    assert error.gnmse == pytest.approx(gnmse((y - low) / span, (own - low) / span), rel=1e-9)
    assert error.n_nodes == 13


@pytest.mark.parametrize("solver", ["kernel", "ridge", "lms"])
def test_predictions_are_weighted_sums_of_known_values(solver: str) -> None:
    A, values, known = random_graph(1)
    model = NodeRegressor(
        blocks=BLOCKS, width=0.5, alpha=0.02, solver=solver, n_frequencies=20
    ).fit(A, values, kind="matrix")
    explanation = model.explain()
    np.testing.assert_allclose(
        explanation.weights @ explanation.values, model.predict(), atol=1e-10, rtol=0
    )
    np.testing.assert_allclose(explanation.sum_of_weights, 1.0, atol=1e-10)
    np.testing.assert_array_equal(explanation.values, values[known])
    assert explanation.known_names == known.tolist()
    # The weights do not depend on the values: what they say holds for other values too.
    other = np.where(np.isnan(values), np.nan, np.arange(31.0) ** 2)
    again = clone(model).fit(A, other, kind="matrix")
    np.testing.assert_allclose(explanation.weights @ other[known], again.predict(), atol=1e-7)


def test_ridge_with_more_features_than_known_nodes_is_solved_by_the_nodes() -> None:
    A, values, _ = random_graph(1)
    options: dict[str, Any] = {"blocks": BLOCKS, "width": 0.5, "alpha": 0.02, "solver": "ridge"}
    model = NodeRegressor(**options, n_frequencies=20).fit(A, values, kind="matrix")
    assert model.solver_ == "ridge"
    dual = model._get_solution()
    assert isinstance(dual, KernelSolution)
    primal = RidgeSolution(dual.blocks, dual.known, dual.Y, dual.choice)  # type: ignore[arg-type]
    everyone = np.arange(31)
    np.testing.assert_allclose(dual.predictions(everyone), primal.predictions(everyone), atol=1e-9)
    np.testing.assert_allclose(dual.weights(everyone), primal.weights(everyone), atol=1e-9)
    at = primal.left_out_rows
    np.testing.assert_allclose(dual.residuals[at], primal.residuals, atol=1e-9)
    new = model.predict_new({"new": {3: 2.0, 5: 1.0}})["new"]
    names, rows, blocks = model._append_rows({"new": {3: 2.0, 5: 1.0}}, {})
    assert names == ["new"]
    assert new == pytest.approx(primal.predictions(rows, blocks)[0, 0], abs=1e-9)


def test_few_features_are_solved_by_the_features() -> None:
    A, values, _ = random_graph(1)
    options: dict[str, Any] = {"blocks": "hop2", "width": 0.5, "alpha": 0.02, "solver": "ridge"}
    model = NodeRegressor(**options, n_frequencies=4).fit(A, values, kind="matrix")
    assert isinstance(model._get_solution(), RidgeSolution)


def test_three_known_values_are_enough_to_go_by_similarity() -> None:
    links = [("Ann", "chess"), ("Ann", "go"), ("Bob", "chess"), ("Bob", "go"), ("Cem", "go")]
    links += [("Cem", "chess"), ("Dea", "rugby"), ("Eve", "rugby"), ("Eve", "judo")]
    links += [("Dea", "judo")]
    model = NodeRegressor().fit(links, {"Ann": 60.0, "Bob": 58.0, "Dea": 21.0})
    cem, eve = model.predict(["Cem", "Eve"])
    assert cem == pytest.approx(59.0, abs=3.0)
    assert eve == pytest.approx(21.0, abs=3.0)


def test_ridge_on_many_features_comes_near_the_kernel() -> None:
    A, values, _ = random_graph(2)
    options: dict[str, Any] = {"blocks": ("hop2",), "width": 1.0, "alpha": 0.5}
    exact = NodeRegressor(**options).fit(A, values, kind="matrix").predict()
    far, near = (
        NodeRegressor(**options, solver="ridge", n_frequencies=D)
        .fit(A, values, kind="matrix")
        .predict()
        for D in (10, 1000)
    )
    # The error falls like 1/√D: tenfold here, and a third of it would be a miss of 3 deviations.
    assert np.abs(near - exact).mean() < np.abs(far - exact).mean() / 3.0


def test_values_that_have_nothing_to_do_with_the_graph_are_predicted_about_as_by_the_mean() -> None:
    data = make_geometric_graph(200, random_state=0)
    rng = np.random.default_rng(0)
    worse = []
    for _ in range(10):
        y = rng.random(200)
        values = np.where(rng.random(200) < 0.4, y, np.nan)
        tested = np.isnan(values)
        error = gnmse(y[tested], NodeRegressor().fit(data, values).predict())
        worse.append(error / gnmse(y[tested], np.full(tested.sum(), np.nanmean(values))))
    # Choosing by leave-one-out costs a little; seen with these seeds: below 1.05.
    assert np.mean(worse) < 1.1


def test_it_learns_temperature_far_better_than_the_mean() -> None:
    data = load_temperature()
    y = data.scale_values()
    known = np.random.default_rng(1).permutation(89)[:36]
    values = {data.node_names[i]: y[i] for i in known}
    model = NodeRegressor().fit(data, values)
    tested = [data.node_names.index(name) for name in model.unknown_nodes_]
    error = gnmse(y[tested], model.predict())
    assert error < 0.5 * gnmse(y[tested], np.full(len(tested), y[known].mean()))
    assert model.score(model.unknown_nodes_, y[tested]) > 0.5


def test_new_nodes_are_predicted_as_if_only_they_saw_the_graph() -> None:
    A, values, known = random_graph(4)
    blocks = ("hop1", "hop2", "pagerank", "community")
    model = NodeRegressor(blocks=blocks, width=0.8, alpha=0.1).fit(A, values, kind="matrix")
    predicted = model.predict_new({"new": {3: 2.0, 5: 1.0}, "other": [3, 8]})
    extended = np.zeros((32, 32))
    extended[:31, :31] = A
    extended[31, [3, 5]] = 2.0, 1.0
    K = 0.0
    for block in blocks:
        rows = oracle.block_rows(extended, block, hidden=[31], n_old=31)
        old = oracle.block_rows(A, block)
        np.testing.assert_allclose(rows[:31, :31], old, atol=1e-12)  # nobody sees the new node
        m = oracle.median(oracle.squared_distances(old))
        K = K + np.exp(-oracle.squared_distances(rows) / (2 * 0.8 * m)) / 4
    assert K is not None
    expected = oracle.ridge(K[np.ix_(known, known)], K[[31]][:, known], values[known], 0.1)  # type: ignore[index]
    assert predicted["new"] == pytest.approx(expected[0], abs=1e-10)
    assert model.predict_new({"other": [3, 8]})["other"] == pytest.approx(predicted["other"])
    assert list(model.nodes_) == list(range(31))


def test_a_new_twin_of_a_known_node_is_predicted_like_it() -> None:
    A, values, known = random_graph(5)
    for solver in ("kernel", "ridge"):
        model = NodeRegressor(
            blocks=("hop1", "hop2", "hop3", "degree"),
            width=1.0,
            alpha=0.1,
            solver=solver,
            n_frequencies=100,
        ).fit(A, values, kind="matrix")
        twin = int(known[0])
        edges = [("twin", int(j), A[twin, j]) for j in np.flatnonzero(A[twin])]
        edges += [(int(j), "twin", A[j, twin]) for j in np.flatnonzero(A[:, twin])]  # type: ignore[misc]
        new = model.predict_new(edges)["twin"]
        spread = np.nanstd(values)
        # They differ in their own loop only.
        assert abs(new - model.predict([twin])[0]) < 0.6 * spread


@pytest.mark.parametrize("solver", ["kernel", "ridge"])
def test_links_to_known_nodes_only_are_a_form_of_their_own(solver: str) -> None:
    A, values, _ = random_graph(6)
    model = NodeRegressor(
        blocks=("hop1", "hop2", "degree"),
        width=1.0,
        alpha=0.1,
        neighbours="known",
        solver=solver,
    )
    predictions = model.fit(A, values, kind="matrix").predict()
    # Edges between nodes without values are never looked at.
    unknown = np.isnan(values)
    B = A.copy()
    B[np.ix_(unknown, unknown)] = np.random.default_rng(0).random((18, 18))
    np.fill_diagonal(B, np.diag(A))
    again = model.fit(B, values, kind="matrix").predict()
    np.testing.assert_allclose(again, predictions, atol=1e-12)


def test_parameters_are_those_of_scikit_learn() -> None:
    model = NodeRegressor(blocks=("hop1",), width=2.0, solver="ridge")
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(width=3.0).width == 3.0
    assert repr(NodeRegressor()) == "NodeRegressor()"
