"""GradrakerRegressor, one node at a time: learn_one is partial_fit with a row, by name."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import gradraker
from gradraker import GradrakerRegressor, SKGRegressor

NAMES = ["Alice", "Bob", "Carol", "Dora", "Eve"]
RNG = np.random.default_rng(0)
X = (RNG.random((30, len(NAMES))) < 0.5) * RNG.random((30, len(NAMES)))
Y = RNG.normal(size=30)
Y2 = RNG.normal(size=(30, 2))
NODES = [{NAMES[m]: row[m] for m in np.flatnonzero(row)} for row in X]
KERNELS = [0.1, 1.5, ("laplacian", 2.0)]


def bank(**parameters: Any) -> GradrakerRegressor:
    return GradrakerRegressor(
        **{"kernels": KERNELS, "n_frequencies": 16, "random_state": 3, **parameters}
    )


@pytest.mark.parametrize("y", [Y, Y2])
def test_learning_node_by_node_is_partial_fit(y: NDArray[np.float64]) -> None:
    model, by_rows = bank(keep_weights=True), bank(keep_weights=True)
    for row, node, value in zip(X, NODES, y, strict=True):
        before = model.predict_one(node)
        prediction = model.learn_one(node, value)
        if by_rows.__sklearn_is_fitted__():
            expected = by_rows.predict(row[np.newaxis], references=NAMES)[0]
            np.testing.assert_array_equal(prediction, expected)
            np.testing.assert_array_equal(before, expected)
        by_rows.partial_fit(row[np.newaxis], value[np.newaxis], references=NAMES)
    assert model.n_seen_ == by_rows.n_seen_ == 30
    np.testing.assert_array_equal(model.coef_, by_rows.coef_)
    np.testing.assert_array_equal(model.kernel_weights_, by_rows.kernel_weights_)
    np.testing.assert_array_equal(model.weights_history_, by_rows.weights_history_)
    assert model.loss_ == by_rows.loss_
    assert sorted(model.references_) == NAMES  # type: ignore[type-var]


def test_a_bank_of_one_learns_as_skg_does() -> None:
    model, one = bank(kernels=[1.5]), SKGRegressor(sigma2=1.5, n_frequencies=16, random_state=3)
    for node, value in zip(NODES, Y, strict=True):
        assert model.learn_one(node, value) == one.learn_one(node, value)
    assert model.predict_one(["Eve", "new"]) == one.predict_one(["Eve", "new"])
    np.testing.assert_array_equal(model.coef_[0], one.coef_)


def test_a_fitted_bank_continues_by_name_and_keeps_its_record(tmp_path: Path) -> None:
    model = bank(kernels="ranges").fit(X, Y, references=NAMES)
    model.learn_one({"Alice": 1.0, "Frank": 2.0}, 0.5)
    model.learn_one(pd.Series({"Bob": 0.5}), 0.25)
    model.learn_one([], 0.125)
    assert model.references_ == [*NAMES, "Frank"]
    explanation = model.explain(X[:4], references=NAMES)
    values = np.append(Y, [0.5, 0.25, 0.125])
    np.testing.assert_allclose(explanation.weights @ values, explanation.prediction, rtol=1e-10)
    model.save(tmp_path / "bank.gr")
    again = gradraker.load(tmp_path / "bank.gr")
    assert again.learn_one(["Frank"], 1.0) == model.learn_one(["Frank"], 1.0)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_names_given_twice_count_twice() -> None:
    model = bank()
    model.learn_one(["Alice", "Alice"], 1.0)
    assert model.predict_one({"Alice": 2.0}) == pytest.approx(0.2)
    assert model.n_seen_ == 1


def test_predicting_changes_nothing() -> None:
    model = bank()
    assert model.predict_one(["Alice"]) == 0.0
    assert not hasattr(model, "coef_")
    model.learn_one(["Alice"], 1.0)
    model.predict_one(["Alice", "Bob"])
    assert model.references_ == ["Alice"]


REFUSED = {
    "a rule": (bank(kernels=[1.0, "theory"]), ["Bob"], 1.0, "kernels has 'theory', a rule"),
    "views": (bank(views=[1, 1]), ["Bob"], 1.0, "views are numbers of columns"),
    "a parameter": (bank(n_frequencies=0), ["Bob"], 1.0, "n_frequencies must be"),
    "a value": (bank(), ["Bob"], np.nan, "value must be a finite number"),
    "weights": (bank(), {"Bob": np.inf}, 1.0, "neighbours must have finite weights"),
    "names": (bank(), [["Bob"]], 1.0, "neighbours must have hashable names"),
    "a string": (bank(), "Bob", 1.0, "neighbours must be a mapping"),
    "size": (bank(), ["Bob"], 1e200, "training left the range of float64"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_first_node_leaves_the_model_unfitted(case: str) -> None:
    model, neighbours, value, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        model.learn_one(neighbours, value)
    assert not hasattr(model, "coef_")


def test_a_refused_later_node_leaves_the_model_as_it_was() -> None:
    model = bank()
    model.learn_one(["Alice"], 1.0)
    before = model.coef_.copy()
    for neighbours, value, message in (
        (["Bob"], [1.0, 2.0], r"value has shape \(2,\), but the model was trained on values of"),
        (["Bob"], 1e200, "training left the range of float64"),
        ({"Bob": np.nan}, 1.0, "neighbours must have finite weights"),
    ):
        with pytest.raises(ValueError, match=message):
            model.learn_one(neighbours, value)
    assert model.references_ == ["Alice"]
    assert model.n_seen_ == 1
    np.testing.assert_array_equal(model.coef_, before)


def test_views_refuse_new_names() -> None:
    views = {"left": 2, "right": 3}
    model = bank(views=views).fit(X, Y, references=NAMES)
    other = bank(views=views).fit(X, Y, references=NAMES)
    model.learn_one(NODES[0], 1.0)
    other.partial_fit(X[:1], [1.0], references=NAMES)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    for call in (lambda: model.learn_one(["Frank"], 1.0), lambda: model.predict_one(["Frank"])):
        with pytest.raises(ValueError, match="cannot tell which view a new column belongs to"):
            call()  # type: ignore[no-untyped-call]
