"""Attributes in node models: used where they help, dropped where not, and kept in files."""

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
    fit_data,
    make_classes,
    make_data,
)
from gradraker import NodeClassifier, NodeRegressor, load

# -- the choice --------------------------------------------------------------------------------


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
