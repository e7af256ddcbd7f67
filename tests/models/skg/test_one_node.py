"""One node at a time: predict_one and learn_one against partial_fit and predict, bit for bit."""

import copy
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gradraker.kernels.shift_invariant import KERNELS
from one_node_examples import (
    NAMES,
    UNWEIGHTED,
    WEIGHTED,
    M,
    N,
    Y,
    neighbours,
    regressor,
    started,
)

# -- equal to the calls on arrays --------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("X", [UNWEIGHTED, WEIGHTED], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("y", [Y[:, 0], Y[:, :1], Y], ids=["one", "column", "three"])
@pytest.mark.parametrize("names", [NAMES, list(range(M))], ids=["named", "numbered"])
def test_learning_one_by_one_is_partial_fit(
    kernel: str, X: NDArray[np.float64], y: NDArray[np.float64], names: list[Any]
) -> None:
    rows, ones = regressor(kernel=kernel), regressor(kernel=kernel)
    for n in range(N):
        before = rows.predict(X[n : n + 1], references=names)[0] if n else 0.0 * y[0]
        node = neighbours(X[n], names)
        np.testing.assert_array_equal(ones.predict_one(node), before if n else 0.0)
        learned = ones.learn_one(node, y[n])
        np.testing.assert_array_equal(learned, before)
        assert np.shape(learned) == y.shape[1:]
        rows.partial_fit(X[n : n + 1], y[n : n + 1], references=names)
        np.testing.assert_array_equal(ones.coef_, rows.coef_)
        assert ones.n_seen_ == rows.n_seen_ == n + 1
    whole = regressor(kernel=kernel).partial_fit(X, y, references=names)
    np.testing.assert_array_equal(ones.coef_, whole.coef_)
    for n, expected in enumerate(whole.predict(X)):
        one = ones.predict_one(neighbours(X[n], names))
        np.testing.assert_array_equal(one, expected)


def test_a_scalar_model_predicts_floats_and_others_arrays() -> None:
    model = regressor()
    assert type(model.learn_one(["a"], 1.0)) is float
    assert type(model.predict_one(["a"])) is float
    model = regressor()
    assert model.learn_one(["a"], [1.0]).shape == (1,)  # type: ignore[union-attr]
    assert model.predict_one(["a"]).shape == (1,)  # type: ignore[union-attr]
    assert model.coef_.shape == (1, 40)


def test_learn_one_continues_fit_as_partial_fit_does() -> None:
    y = Y[:, 0]
    model = regressor().fit(WEIGHTED[:10], y[:10])
    other = copy.deepcopy(model)
    for n in range(10, 20):
        model.learn_one(neighbours(WEIGHTED[n], range(M)), y[n])
    other.partial_fit(WEIGHTED[10:20], y[10:20])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.n_seen_ == other.n_seen_ == 40
    np.testing.assert_array_equal(model.predict(WEIGHTED), other.predict(WEIGHTED))


def test_the_first_prediction_by_hand() -> None:
    model = regressor(learning_rate=0.25)
    assert model.learn_one(["a", "b"], 3.0) == 0.0
    assert model.predict_one(["b", "a"]) == pytest.approx(1.5, rel=1e-14)


def test_learning_does_not_change_the_coef_of_a_copy() -> None:
    model = started()
    duplicate = copy.deepcopy(model)
    before = duplicate.coef_.copy()
    model.learn_one(["node 1"], 5.0)
    np.testing.assert_array_equal(duplicate.coef_, before)


# -- neighbours --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        lambda names: dict.fromkeys(names, 1),
        lambda names: dict.fromkeys(names, True),
        lambda names: {name: np.float32(1) for name in names},
        lambda names: OrderedDict.fromkeys(names, 1.0),
        lambda names: UserDict(dict.fromkeys(names, 1.0)),
        lambda names: MappingProxyType(dict.fromkeys(names, 1.0)),
        lambda names: ChainMap(dict.fromkeys(names[2:], 1.0), dict.fromkeys(names[:2], 1.0)),
        lambda names: (name for name in names),
        lambda names: dict.fromkeys(names).keys(),
        np.array,
        lambda names: np.array(names, dtype=object),
        lambda names: pd.Series(1.0, index=names),
    ],
)
def test_neighbours_in_many_forms(make: Callable[..., Any] | type[Any]) -> None:
    names = NAMES[2:7]
    model = started()
    expected = model.predict_one(dict.fromkeys(names, 1.0))
    assert model.predict_one(make(names)) == expected
    assert model.learn_one(make(names), 1.0) == expected


def test_a_set_of_neighbours_is_summed_in_its_own_order() -> None:
    model = started()
    assert model.predict_one(set(NAMES[:6])) == pytest.approx(
        model.predict_one(NAMES[:6]), rel=1e-12
    )


def test_a_name_given_twice_counts_twice() -> None:
    model = started()
    assert model.predict_one(["node 1", "node 1", "node 2"]) == pytest.approx(
        model.predict_one({"node 1": 2.0, "node 2": 1.0}), rel=1e-12
    )
    new = ["new", "new", "node 2"]
    assert model.predict_one(new) == pytest.approx(
        model.predict_one({"new": 2.0, "node 2": 1.0}), rel=1e-12
    )


def test_no_neighbours_is_a_row_of_zeros() -> None:
    model = started()
    for none in ([], (), {}, iter([])):  # type: ignore[var-annotated]
        assert model.predict_one(none) == model.predict(np.zeros((1, M)))[0]
    fresh = regressor()
    assert fresh.learn_one([], 2.0) == 0.0
    assert fresh.predict_one([]) == pytest.approx(1.2)
    assert list(fresh.references_) == []
    assert fresh.frequencies_.shape == (0, 20)


@pytest.mark.parametrize("n", [1023, 1024, 1025, 3000])
def test_learn_one_takes_many_neighbours(n: int) -> None:
    names = [f"n{k}" for k in range(n)]
    model = regressor(sigma2=1e4)
    model.learn_one(names, 1.0)
    assert model.predict_one(names) == model.predict(np.ones((1, n)), references=names)[0]
    assert model.predict_one(dict.fromkeys(names, 1.0)) == model.predict_one(names)


def test_weights_of_zero_are_no_edges() -> None:
    model = started()
    assert model.predict_one({"node 1": 1.0, "node 2": 0.0}) == model.predict_one(["node 1"])


def test_equal_names_are_one_node() -> None:
    model = regressor().fit(WEIGHTED, Y[:, 0])
    expected = model.predict_one([3, 7])
    for names in ([3.0, 7.0], [np.int64(3), np.uint8(7)], [np.float32(3), 7], np.array([3, 7])):
        assert model.predict_one(names) == expected
        copy.deepcopy(model).learn_one(names, 1.0)
    model.learn_one([100, np.int32(100), 100.0, 101], 1.0)
    assert list(model.references_) == [*range(M), 100, 101]
    model.learn_one([np.str_("x"), "x", ("a", np.int64(1)), ("a", 1.0)], 1.0)
    assert list(model.references_)[-2:] == ["x", ("a", 1)]


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 12), max_size=6, unique=True),
            st.floats(-10, 10),
        ),
        min_size=1,
        max_size=12,
    ),
    st.permutations(range(13)),
)
@settings(deadline=None, derandomize=True)
def test_the_order_of_first_appearance_changes_nothing(stream: Any, order: Any) -> None:
    # Nodes are known beforehand in some order, or appear as the stream brings them.
    known = regressor().partial_fit(np.zeros((1, 13)), [0.0], references=list(order))
    appearing = regressor().partial_fit(np.zeros((1, 1)), [0.0], references=["other"])
    for names, value in stream:
        assert known.learn_one(names, value) == appearing.learn_one(names, value)
    np.testing.assert_array_equal(known.coef_, appearing.coef_)


# -- new references ----------------------------------------------------------------------------


def test_new_names_become_referencing_nodes_by_learning() -> None:
    model = started()
    before = model.frequencies_
    model.learn_one(["node 3", "new", ("a", 1), 17], 1.0)
    assert model.references_ == [*NAMES, "new", ("a", 1), 17]
    assert model.frequencies_.shape == (M + 3, 20)
    np.testing.assert_array_equal(model.frequencies_[:M], before)
    assert model.n_features_in_ == M


def test_new_names_in_predict_do_not_alter_the_model() -> None:
    model = started()
    coef = model.coef_.copy()
    predicted = model.predict_one({"node 1": 0.5, "new": 2.0})
    assert model.predict_one({"node 1": 0.5, "new": 2.0}) == predicted
    assert model.references_ == NAMES
    np.testing.assert_array_equal(model.coef_, coef)
    # The name has the frequencies that it will have when it is learned.
    assert model.learn_one({"node 1": 0.5, "new": 2.0}, 0.0) == predicted


def test_before_anything_was_learned_predictions_are_zero() -> None:
    model = regressor()
    assert model.predict_one(["a"]) == 0.0
    assert not hasattr(model, "coef_")
    assert regressor(sigma2="theory").predict_one({"a": 1.0}) == 0.0


def test_predictions_by_name_after_learning_by_name() -> None:
    model = regressor()
    for n in range(N):
        model.learn_one(neighbours(WEIGHTED[n]), Y[n, 0])
    with pytest.raises(ValueError, match="references must be given"):
        model.predict(WEIGHTED)
    expected = regressor().partial_fit(WEIGHTED, Y[:, 0]).coef_.shape
    assert model.coef_.shape == expected
    predictions = model.predict(WEIGHTED, references=NAMES)
    for n in range(N):
        assert model.predict_one(neighbours(WEIGHTED[n])) == predictions[n]
