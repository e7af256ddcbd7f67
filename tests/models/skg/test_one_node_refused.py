"""A node that is refused does not change the model."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker import SKGRegressor
from one_node_examples import (
    NAMES,
    WEIGHTED,
    Y,
    regressor,
    started,
)


def snapshot(model: SKGRegressor) -> list[str] | tuple[Any, ...]:
    if not hasattr(model, "coef_"):
        return sorted(vars(model))
    return model.coef_.tolist(), model.n_seen_, list(model.references_), model.sigma2_


@pytest.fixture(params=["new", "scalar", "targets"])
def model(request: pytest.FixtureRequest) -> SKGRegressor:
    if request.param == "new":
        return regressor()
    y = Y[:, 0] if request.param == "scalar" else Y
    return regressor().partial_fit(WEIGHTED, y, references=NAMES)


def value_for(model: SKGRegressor) -> NDArray[np.float64] | float:
    return Y[0] if getattr(model, "coef_", np.empty(0)).ndim == 2 else 1.0


def refuse(
    model: SKGRegressor,
    call: Callable[..., Any],
    error: tuple[Any, ...] | type[Exception],
    message: str,
) -> None:
    before = snapshot(model)
    with pytest.raises(error, match=message):
        call()
    assert snapshot(model) == before


@pytest.mark.parametrize("bad", ["node 1", b"node 1", "", 5, 1.5, None, True, object()])
def test_neighbours_must_be_a_mapping_or_an_iterable(model: SKGRegressor, bad: Any) -> None:
    message = "neighbours must be a mapping of names to weights or an iterable of names"
    refuse(model, lambda: model.learn_one(bad, value_for(model)), TypeError, message)
    refuse(model, lambda: model.predict_one(bad), TypeError, message)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_weights_must_be_finite(model: SKGRegressor, bad: float) -> None:
    node = {"node 1": 1.0, "new": bad}
    message = "neighbours must have finite weights"
    refuse(model, lambda: model.learn_one(node, value_for(model)), ValueError, message)
    if hasattr(model, "coef_"):
        refuse(model, lambda: model.predict_one(node), ValueError, message)
        refuse(model, lambda: model.predict_one({"node 1": bad}), ValueError, message)


@pytest.mark.parametrize(
    "bad", ["1", "heavy", None, 1j, b"1", object(), (1, 2), np.datetime64("now")]
)
def test_weights_must_be_numbers(model: SKGRegressor, bad: Any) -> None:
    node = {"node 1": 1.0, "new": bad}
    message = "weights of neighbours must be numbers"
    refuse(model, lambda: model.learn_one(node, value_for(model)), TypeError, message)
    refuse(model, lambda: model.predict_one(node), TypeError, message)


@pytest.mark.parametrize("weights", [[1.0], np.ones(2), [[1.0]]])
def test_weights_must_be_single_numbers(
    model: SKGRegressor, weights: NDArray[np.float64] | list[Any]
) -> None:
    node = {"node 1": weights, "new": weights}
    refuse(
        model,
        lambda: model.learn_one(node, value_for(model)),
        (TypeError, ValueError),
        "weights of neighbours must",
    )


def test_weights_too_large_for_the_variance_are_refused(model: SKGRegressor) -> None:
    node = dict.fromkeys(["node 1", "new", "newer"], 1.7e308)
    refuse(model, lambda: model.learn_one(node, value_for(model)), ValueError, "too large")
    if hasattr(model, "coef_"):
        refuse(model, lambda: model.predict_one(node), ValueError, "too large")


@pytest.mark.parametrize("bad", [None, math.nan, 1j, frozenset(), (1, None), object()])
def test_bad_names_of_neighbours_are_refused(model: SKGRegressor, bad: Any) -> None:
    message = "a reference name must be"
    refuse(model, lambda: model.learn_one(["new", bad], value_for(model)), TypeError, message)
    if hasattr(model, "coef_"):
        refuse(model, lambda: model.predict_one(["new", bad]), TypeError, message)


@pytest.mark.parametrize("bad", [["a"], {"a"}, ({},)])
def test_names_must_be_hashable(model: SKGRegressor, bad: Any) -> None:
    message = "neighbours must have hashable names"
    refuse(model, lambda: model.learn_one(["new", bad], value_for(model)), TypeError, message)
    if hasattr(model, "coef_"):
        refuse(model, lambda: model.predict_one(["new", bad]), TypeError, message)


@pytest.mark.parametrize("bad", [math.nan, math.inf, [math.nan], [1.0, math.inf, 2.0], []])
def test_values_must_be_finite(model: SKGRegressor, bad: float | list[Any]) -> None:
    message = "value must be a finite number"
    refuse(model, lambda: model.learn_one(["new"], bad), ValueError, message)


@pytest.mark.parametrize("bad", ["1", "high", b"1", None, 1j, ["1", "2", "3"], {}, [None] * 3])
def test_values_must_be_numbers(model: SKGRegressor, bad: Any) -> None:
    refuse(model, lambda: model.learn_one(["new"], bad), TypeError, "value must be numbers")


@pytest.mark.parametrize("bad", [[[1.0]], np.ones((1, 3))])
def test_values_have_at_most_one_dimension(
    model: SKGRegressor, bad: NDArray[np.float64] | list[Any]
) -> None:
    message = "value must have at most one dimension"
    refuse(model, lambda: model.learn_one(["new"], bad), ValueError, message)


def test_values_have_the_shape_that_the_model_was_trained_on() -> None:
    scalar = regressor().partial_fit(WEIGHTED, Y[:, 0], references=NAMES)
    column = regressor().partial_fit(WEIGHTED, Y[:, :1], references=NAMES)
    three = regressor().partial_fit(WEIGHTED, Y, references=NAMES)
    for model, bad in [
        (scalar, [1.0]),
        (scalar, [1.0, 2.0]),
        (column, 1.0),
        (column, [1.0, 2.0]),
        (three, 1.0),
        (three, [1.0]),
        (three, [1.0, 2.0, 3.0, 4.0]),
    ]:
        message = "value has shape .* but the model was trained on"
        refuse(model, lambda m=model, v=bad: m.learn_one(["new"], v), ValueError, message)


@pytest.mark.parametrize(
    "value", [1, True, np.float32(1), np.int8(1), np.array(1.0), np.bool_(True)]
)
def test_values_of_other_number_types_are_allowed(value: Any) -> None:
    expected = regressor()
    expected.learn_one(["a"], 1.0)
    model = regressor()
    model.learn_one(["a"], value)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_a_value_whose_step_overflows_is_refused(model: SKGRegressor) -> None:
    # 2η (y − f) overflows though y and f do not: learning it would leave infinite parameters.
    model.set_params(learning_rate=0.9)
    value = np.full(np.shape(value_for(model)), 1.7e308)
    refuse(model, lambda: model.learn_one(["node 1"], value), ValueError, "too large")


def test_one_target_too_large_refuses_the_node() -> None:
    model = regressor(learning_rate=0.9).partial_fit(WEIGHTED, Y, references=NAMES)
    refuse(model, lambda: model.learn_one(["node 1"], [1.0, 1.7e308, 1.0]), ValueError, "too large")


def test_a_rule_for_sigma2_needs_rows() -> None:
    model = regressor(sigma2="theory")
    refuse(model, lambda: model.learn_one(["a"], 1.0), ValueError, "sigma2='theory' is a rule")
    model.fit(WEIGHTED, Y[:, 0])
    assert isinstance(model.learn_one([1, 2], 1.0), float)


def test_a_refused_first_node_leaves_the_model_unfitted() -> None:
    model = regressor()
    refuse(model, lambda: model.learn_one({"a": math.nan}, 1.0), ValueError, "finite weights")
    assert model.learn_one(["a"], [1.0, 2.0]).shape == (2,)  # type: ignore[union-attr]
    assert model.references_ == ["a"]


def test_a_refused_node_does_not_change_later_learning() -> None:
    model, other = started(), started()
    with pytest.raises(ValueError, match="finite weights"):
        model.learn_one({"x": 1.0, "y": math.inf}, 1.0)
    for made in (model, other):
        made.learn_one(["z", "y"], 1.0)
        made.learn_one(["x", "node 1"], 2.0)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.references_ == other.references_ == [*NAMES, "z", "y", "x"]
    np.testing.assert_array_equal(model.frequencies_, other.frequencies_)
