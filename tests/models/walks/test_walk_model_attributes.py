"""Attributes in node models: used where they help, dropped where not, and kept in files."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from attribute_examples import (
    SOLVERS,
    N,
    compute_score,
    get_share_of_attributes,
    make_classes,
    make_data,
    make_edges,
    uses_attributes,
)
from gradraker import NodeClassifier, NodeRegressor, load


@cache
def fit_data(solver: str) -> NodeRegressor:
    """A model of the data with their attributes; tests must leave it as it is."""
    A, X, _, known = make_data()
    return NodeRegressor(solver=solver).fit(A, known, attributes=X)


# -- the choice --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_that_tell_much_are_used(solver: str) -> None:
    A, _, y, known = make_data()
    unknown = np.isnan(known)
    model = fit_data(solver)
    assert uses_attributes(model)
    assert compute_score(y[unknown], model.predict()) > 0.9
    assert compute_score(y[unknown], NodeRegressor(solver=solver).fit(A, known).predict()) < 0.5
    block, name, value = model.coefficients_.list_top(1)[0]
    assert (block, name) == ("attributes", "x0")
    assert value > 0.5
    values = {name: value for _, name, value in model.coefficients_.list_top(3)}
    assert values["x1"] < 0.0
    assert "+" in repr(model.coefficients_)


def test_attributes_whose_effect_differs_by_region_are_used_within_regions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    A, places = make_edges(rng, 240)
    X = rng.normal(size=(240, 2))
    y = np.where(places[:, 0] < 0.5, X[:, 0], -X[:, 0]) + 0.1 * rng.normal(size=240)
    known = np.where(np.arange(240) % 3 > 0, y, np.nan)
    unknown = np.isnan(known)
    model = NodeRegressor(solver="exact").fit(A, known, attributes=X)
    assert "local_attributes" in model.blocks_
    assert compute_score(y[unknown], model.predict()) > 0.6
    explanation = model.explain([0, 3])
    assert "attributes within a region" in explanation.part_names
    assert explanation.parts is not None
    total = explanation.parts.sum(axis=1) + np.nanmean(known)
    np.testing.assert_allclose(total, explanation.prediction, atol=1e-8)
    loaded = load(model.save(tmp_path / "model.gr"))
    np.testing.assert_allclose(loaded.predict(), model.predict(), rtol=1e-9)
    links = {"like 0": {int(other): 1.0 for other in A[[0]].indices}}
    new = [one.predict_new(links, attributes={"like 0": X[0]})["like 0"] for one in (model, loaded)]
    np.testing.assert_allclose(new, model.predict([0])[0], atol=0.1)
    assert new[0] == pytest.approx(new[1], rel=1e-9)


@pytest.mark.parametrize("partly", [False, True], ids=["same nodes", "other nodes"])
def test_coefficients_of_several_targets_are_in_their_units(partly: bool) -> None:
    A, X, _, known = make_data()
    values = np.column_stack([known, 100.0 * known])
    if partly:
        values[np.flatnonzero(~np.isnan(known))[0], 1] = np.nan
    model = NodeRegressor(transform="none").fit(A, values, attributes=X)
    found = model.coefficients_.values
    assert abs(found[:, :, 0]).max() > 0.1
    np.testing.assert_allclose(found[:, :, 1], 100.0 * found[:, :, 0], rtol=0.1, atol=0.5)
    assert len(model.describe()["attributes"]["coefficients"]) > 2


def _list_errors(n_known: int, *, helpful: bool, use: bool) -> list[float]:
    """Squared errors over the variance, of 8 draws; attributes help, or are noise."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A, places = make_edges(rng)
        X = rng.normal(size=(N, 6))
        signal = X[:, 0] + 0.7 * X[:, 1] if helpful else 2.0 * np.sin(5.0 * places[:, 0])
        y = signal + 0.3 * rng.normal(size=N)
        order = rng.permutation(N)
        known, unknown = order[:n_known], order[n_known:]
        values = {int(i): float(y[i]) for i in known}
        model = NodeRegressor().fit(A, values, attributes=X if use else None)
        errors.append(float(np.mean((model.predict(unknown) - y[unknown]) ** 2) / y.var()))
    return errors


@pytest.mark.statistical
def test_few_values_are_learned_from_attributes() -> None:
    # The mean of five values leaves 1.24 of the variance.
    assert np.exp(np.mean(np.log(_list_errors(5, helpful=True, use=True)))) < 1.2


@pytest.mark.statistical
def test_few_values_are_learned_from_walks_beside_noise() -> None:
    logs = np.log([_list_errors(10, helpful=False, use=use) for use in (True, False)])
    assert np.exp(np.mean(logs[0] - logs[1])) < 1.2


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_that_are_noise_are_dropped(solver: str) -> None:
    rng = np.random.default_rng(1)
    A, places = make_edges(rng, 300)
    y = np.sin(4.0 * places[:, 0]) + np.cos(3.0 * places[:, 1]) + 0.05 * rng.normal(size=300)
    known = np.where(np.arange(300) % 2 == 0, y, np.nan)
    noise = rng.normal(size=(300, 5))
    model = NodeRegressor(solver=solver).fit(A, known, attributes=noise)
    plain = NodeRegressor(solver=solver).fit(A, known)
    assert get_share_of_attributes(model) < 0.1
    truth = y[np.isnan(known)]
    assert compute_score(truth, model.predict()) > compute_score(truth, plain.predict()) - 0.02


@pytest.mark.parametrize("differs", [False, True], ids=["alike", "differ"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_words_help_classes_whether_neighbours_are_alike_or_differ(
    solver: str, differs: bool
) -> None:
    A, codes, words = make_classes(differs)
    known = {int(i): int(codes[i]) for i in range(60)}
    model = NodeClassifier(solver=solver).fit(A, known, attributes=words)
    plain = NodeClassifier(solver=solver).fit(A, known)
    others = np.arange(60, 240)
    assert uses_attributes(model)
    assert model.score(others, codes[others]) > 0.85
    assert model.score(others, codes[others]) > plain.score(others, codes[others]) - 0.02


def test_words_that_are_noise_do_not_hurt_classes() -> None:
    A, codes, words = make_classes(differs=False)
    shuffled = words[np.random.default_rng(0).permutation(240)]
    known = {int(i): int(codes[i]) for i in range(90)}
    others = np.arange(90, 240)
    model = NodeClassifier().fit(A, known, attributes=shuffled)
    plain = NodeClassifier().fit(A, known)
    assert model.score(others, codes[others]) >= plain.score(others, codes[others]) - 0.04


def test_a_graph_without_edges_is_kernel_ridge_on_attributes() -> None:
    _, X, _, _ = make_data()
    y = X[:, 0] + np.abs(X[:, 1])
    known = np.where(np.arange(N) % 2 == 0, y, np.nan)
    model = NodeRegressor().fit(csr_array((N, N)), known, attributes=X)
    assert model.blocks_ == ("attributes",)
    assert compute_score(y[np.isnan(known)], model.predict()) > 0.85


# -- predictions -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_parts_of_an_explanation_name_attributes_and_sum_up(solver: str) -> None:
    A, X, _, known = make_data()
    model = NodeRegressor(solver=solver, tol=1e-9).fit(A, known, attributes=X)
    found = model.explain([1, 3, 5])
    assert "attributes" in found.part_names
    assert found.parts is not None
    np.testing.assert_allclose(
        found.parts.sum(axis=1) + np.nanmean(known), found.prediction, atol=1e-6
    )
    np.testing.assert_allclose(found.weights @ found.values, found.prediction, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_left_out_predictions_equal_those_of_refits(solver: str) -> None:
    A, X, _, known = make_data()
    blocks = ("hop1", "attributes", "neighbour_attributes1")
    model = NodeRegressor(blocks=blocks, width=2.0, alpha=0.1, solver=solver, tol=1e-10)
    left_out = model.fit(A, known, attributes=X).predict_left_out()
    row = int(left_out.rows[3])
    without = known.copy()
    without[row] = np.nan
    again = model.fit(A, without, attributes=X).predict([row])
    np.testing.assert_allclose(left_out.predictions[3], again[0], rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_new_nodes_with_attributes_of_a_node_and_its_links_are_predicted_like_it(
    solver: str,
) -> None:
    A, X, _, _ = make_data()
    model = fit_data(solver)
    node = 7
    links = {1000: A[[node]].nonzero()[1].tolist()}
    (copied,) = model.predict_new(links, attributes={1000: X[node]}).values()
    assert copied == pytest.approx(model.predict([node])[0], abs=0.1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_new_node_without_links_is_predicted_from_its_attributes(solver: str) -> None:
    model = fit_data(solver)
    new = {1000: [2.0, 0.0, 0.0], 1001: [-2.0, 0.0, 0.0]}
    found = model.predict_new(attributes=new)
    assert found[1000] > found[1001] + 4.0
    assert model.predict_new({}, attributes=new) == found
    low, high = model.predict_new(attributes=new, return_interval=True)[1000][1:]
    assert low < found[1000] < high
    both = model.predict_new({1000: [3]}, attributes=new)
    assert both.keys() == found.keys()
    assert both[1001] == pytest.approx(found[1001], abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_a_loaded_model_predicts_the_same(solver: str, words: bool, tmp_path: Path) -> None:
    if words:
        A, codes, X = make_classes(differs=False)
        known: Any = {int(i): int(codes[i]) for i in range(60)}
        model: Any = NodeClassifier(solver=solver).fit(A, known, attributes=X)
        new = {999: X[[0]].toarray()[0]}
    else:
        _, X, _, _ = make_data()
        model = fit_data(solver)
        new = {999: X[0]}
    again = load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(), model.predict())
    assert again.predict_new(attributes=new) == model.predict_new(attributes=new)
    np.testing.assert_allclose(again.coefficients_.values, model.coefficients_.values)


def test_a_frame_of_all_kinds_is_learned_saved_and_predicted(tmp_path: Path) -> None:
    pytest.importorskip("skrub")
    A, X, _, known = make_data()
    frame = pd.DataFrame(
        {
            "node": np.arange(N),
            "size": X[:, 0],
            "kind": np.where(X[:, 1] > 0.0, "large", "small"),
            "since": pd.date_range("2020-01-01", periods=N),
            "text": [f"some text of node {i}" for i in range(N)],
        }
    )
    model = NodeRegressor().fit(A, known, attributes=frame)
    assert model.attributes_ is not None
    assert model.attributes_.describe()["kinds"] == {
        "number": 1,
        "category": 1,
        "date": 1,
        "text": 1,
    }
    assert model.describe()["attributes"]["coefficients"][0]["attribute"] == "size"
    again = load(model.save(tmp_path / "model"))
    new = frame.iloc[:2].assign(node=[900, 901])
    assert again.predict_new(attributes=new) == model.predict_new(attributes=new)
    with pytest.raises(ValueError, match="'much' in column 'size', where there were numbers"):
        again.partial_fit(attributes=frame.iloc[:1].assign(size="much"))
