"""Displays made from explanations and from models."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradraker import SKGRegressor
from gradraker.plotting import (
    ContributionWeightsDisplay,
    NodeDistancesDisplay,
)


def test_explanations_have_plot_methods(temperature: tuple[Any, ...]) -> None:
    model, X = temperature
    explanation = model.explain(X, node_names=[f"s{i}" for i in range(X.shape[0])])
    axes = Figure().subplots(1, 2)
    weights = explanation.plot(4, ax=axes[0])
    nodes = explanation.plot_nodes(4, ax=axes[1])
    assert isinstance(weights, ContributionWeightsDisplay)
    assert isinstance(nodes, NodeDistancesDisplay)
    assert (weights.ax_, nodes.ax_) == tuple(axes)
    assert np.array_equal(weights.weights, explanation.compute_row_by_time(4))
    assert np.array_equal(nodes.weights, explanation.weights[4])
    assert nodes.efficient_distance == explanation.efficient_distance(4)
    assert nodes.efficient_distance != explanation.efficient_distance(0)
    assert nodes.ax_.get_title() == r"Node s4, $\sigma^2$ = 2"
    last = explanation.plot(-1)
    assert np.array_equal(last.weights, explanation.compute_row_by_time(-1))
    assert isinstance(last.ax_, Axes)
    again = ContributionWeightsDisplay.from_explanation(explanation, row=4)
    assert np.array_equal(again.weights, weights.weights)
    other = NodeDistancesDisplay.from_explanation(explanation, row=4)
    assert np.array_equal(other.weights, nodes.weights)


@pytest.mark.parametrize("form", ["dense", "list", "coo", "frame"])
def test_estimators_are_drawn_from_any_rows(temperature: tuple[Any, ...], form: str) -> None:
    model, X = temperature
    frame = pd.DataFrame(X.toarray(), index=[f"s{i}" for i in range(X.shape[0])])
    rows = {
        "dense": X.toarray(),
        "list": X.toarray().tolist(),
        "coo": X.tocoo(),
        "frame": frame,
    }[form]
    display = NodeDistancesDisplay.from_estimator(model, rows, row=-2)
    np.testing.assert_allclose(display.weights, model.explain(X).weights[-2])
    name = f"s{X.shape[0] - 2}" if form == "frame" else X.shape[0] - 2
    assert display.ax_.get_title().startswith(f"Node {name},")


def test_estimators_that_know_columns_by_name_are_drawn() -> None:
    model = SKGRegressor(sigma2=1.0, random_state=0)
    model.learn_one({"a": 1.0}, 1.0)
    model.learn_one({"b": 1.0}, 2.0)
    display = NodeDistancesDisplay.from_estimator(
        model, [[1.0, 0.0], [0.0, 1.0]], row=1, references=["b", "a"]
    )
    np.testing.assert_allclose(display.squared_distances, [0.0, 2.0])
    again = ContributionWeightsDisplay.from_estimator(model, [[1.0]], references=["b"])
    assert again.weights.size == 2


@pytest.mark.parametrize("row", [53, -54, 1.0, "a"])
def test_rows_out_of_range_are_refused(temperature: tuple[Any, ...], row: Any) -> None:
    model, X = temperature
    message = "row must be the number of one of 53 explained nodes, got"
    with pytest.raises(ValueError, match=message):
        ContributionWeightsDisplay.from_estimator(model, X, row=row)
    with pytest.raises(ValueError, match=message):
        NodeDistancesDisplay.from_explanation(model.explain(X), row=row)
