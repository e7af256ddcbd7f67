"""SKGRegressor: referencing nodes by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oracles import skg as oracle
from skg_examples import NAMES, D, M, N, assert_close, regressor, signed, values, weighted

# -- referencing nodes -------------------------------------------------------------------------


def test_frequencies_depend_on_seed_and_name_only() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    part = regressor().fit(X[:, 3:7], y, references=NAMES[3:7])
    np.testing.assert_array_equal(part.frequencies_, model.frequencies_[3:7])
    numbered = regressor().fit(X, y)
    named = regressor().fit(X[:, ::-1], y, references=range(M)[::-1])
    np.testing.assert_array_equal(named.frequencies_[::-1], numbered.frequencies_)
    assert not np.isin(model.frequencies_, numbered.frequencies_).any()


@given(order=st.permutations(range(M)))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_permuting_columns_with_their_names_changes_nothing(order: Any) -> None:
    X, y = signed(), values("three")
    names = [NAMES[m] for m in order]
    model = regressor().fit(X, y, references=NAMES)
    permuted = regressor().fit(X[:, order], y, references=names)
    # The same nodes, added up in another order: rounding differs, nothing else.
    assert_close(permuted.coef_, model.coef_, rtol=1e-13)
    assert_close(model.predict(X[:, order], references=names), model.predict(X), rtol=1e-13)
    np.testing.assert_array_equal(permuted.frequencies_, model.frequencies_[list(order)])


def test_permuting_rows_permutes_the_order_of_training_only() -> None:
    X, y = signed(), values("three")
    order = np.random.default_rng(1).permutation(N)
    model = regressor(shuffle=False, n_epochs=1).fit(X[order], y[order])
    Z = oracle.features(X, model.frequencies_)
    assert_close(model.coef_, oracle.train(Z, y, order, 0.2))


def test_a_growing_reference_set_leaves_earlier_behaviour_unchanged() -> None:
    X, y = weighted(), values()
    model = regressor().partial_fit(X[:20, :8], y[:20], references=NAMES[:8])
    theta, before = model.coef_.copy(), model.predict(X[:, :8])
    xi = model.frequencies_
    # Rows that do not touch the new nodes learn as if these were not there.
    padded = np.hstack([X[20:, :8], np.zeros((20, 4))])
    grown = regressor().partial_fit(X[:20, :8], y[:20], references=NAMES[:8])
    grown.partial_fit(padded, y[20:], references=NAMES)
    model.partial_fit(X[20:, :8], y[20:])
    np.testing.assert_array_equal(grown.coef_, model.coef_)
    assert grown.references_ == NAMES
    np.testing.assert_array_equal(grown.frequencies_[:8], xi)
    # Columns without names are still the first eight.
    np.testing.assert_array_equal(grown.predict(X[:, :8]), model.predict(X[:, :8]))
    grown.coef_ = theta
    np.testing.assert_array_equal(grown.predict(X[:, :8]), before)
    np.testing.assert_array_equal(grown.predict(X[:, :8], references=NAMES[:8]), before)


def test_nodes_may_appear_in_any_order() -> None:
    X, y = weighted(), values()
    at_once = regressor().partial_fit(X, y, references=NAMES)
    model = regressor()
    for n in range(N):
        # Each row names its own neighbours only, so nodes appear one by one.
        columns = np.flatnonzero(X[n])
        if columns.size == 0:
            columns = np.array([0])
        model.partial_fit(
            X[n : n + 1, columns], y[n : n + 1], references=[NAMES[m] for m in columns]
        )
    np.testing.assert_array_equal(model.coef_, at_once.coef_)
    assert sorted(model.references_) == sorted(NAMES)  # type: ignore[type-var]
    np.testing.assert_array_equal(
        model.predict(X, references=NAMES), at_once.predict(X, references=NAMES)
    )


def test_numbers_name_the_columns_of_arrays_without_names() -> None:
    X, y = weighted(), values()
    unnamed = regressor().partial_fit(X, y)
    for references in (
        range(M),
        np.arange(M),
        np.arange(M, dtype=float),
        [np.int8(m) for m in range(M)],
    ):
        named = regressor().partial_fit(X, y, references=references)
        np.testing.assert_array_equal(named.coef_, unnamed.coef_)
        np.testing.assert_array_equal(unnamed.predict(X, references=references), unnamed.predict(X))
    more = regressor().partial_fit(X, y).partial_fit(X[:, :3], y, references=[2, M, "new"])
    assert list(more.references_) == [*range(M), M, "new"]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
def test_new_names_in_predict_get_the_frequencies_they_will_have(
    make: Callable[..., Any] | type[Any],
) -> None:
    X, y = weighted(), values()
    model = regressor().fit(X[:, :8], y, references=NAMES[:8])
    expected = oracle.predict(
        oracle.features(X, regressor().fit(X, y, references=NAMES).frequencies_), model.coef_
    )
    assert_close(model.predict(make(X), references=NAMES), expected)
    assert model.references_ == NAMES[:8]
    assert model.frequencies_.shape == (8, D)


def test_a_new_node_without_edges_changes_no_prediction() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    padded = np.hstack([X, np.zeros((N, 1))])
    np.testing.assert_array_equal(
        model.predict(padded, references=[*NAMES, "new"]), model.predict(X)
    )


def test_a_few_columns_suffice_to_predict_by_name() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    few = X.copy()
    few[:, 3:] = 0
    np.testing.assert_array_equal(model.predict(X[:, :3], references=NAMES[:3]), model.predict(few))


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)]
)
def test_names_of_data_frames_are_names_of_nodes(frame: Callable[..., Any] | type[Any]) -> None:
    X, y = weighted(), values()
    model = regressor().fit(frame(X, columns=NAMES), y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.references_ == NAMES
    np.testing.assert_array_equal(model.coef_, regressor().fit(X, y, references=NAMES).coef_)
    # scikit-learn's rule: the same names in the same order.
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(X[:, ::-1], columns=NAMES[::-1]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame(X, columns=[*NAMES[1:], "new"]), y)
    # With references they may come in any order.
    assert_close(
        model.predict(frame(X[:, ::-1], columns=NAMES[::-1]), references=NAMES[::-1]),
        model.predict(frame(X, columns=NAMES)),
        rtol=1e-13,
    )


def test_an_array_where_a_data_frame_was_is_warned_of() -> None:
    X, y = weighted(), values()
    model = regressor().fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        predictions = model.predict(X)
    np.testing.assert_array_equal(predictions, model.predict(pd.DataFrame(X, columns=NAMES)))


def test_data_frames_with_numbered_columns_have_no_names() -> None:
    model = regressor().fit(pd.DataFrame(weighted()), values())
    assert not hasattr(model, "feature_names_in_")
    assert list(model.references_) == list(range(M))


def test_frequencies_of_an_array_that_grew_by_name() -> None:
    model = regressor().fit(weighted(), values())
    before = model.frequencies_
    model.partial_fit([[1.0]], [0.5], references=["new"])
    assert model.frequencies_.shape == (M + 1, D)
    np.testing.assert_array_equal(model.frequencies_[:M], before)
    assert model.n_features_in_ == M
