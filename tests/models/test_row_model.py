"""Rows and values that models of rows accept or refuse."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

from gradraker import SKGRegressor
from refused_rows import DENSE_AND_SPARSE, NAMES, X, Y, refuse, regressor, with_entry


@DENSE_AND_SPARSE
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_rows_that_are_not_finite_are_refused(
    model: SKGRegressor, make: Callable[..., Any] | type[Any], bad: float, word: str
) -> None:
    rows = make(with_entry(X, bad))
    refuse(lambda: model.fit(rows, Y), ValueError, f"Input X contains {word}", model)
    refuse(
        lambda: model.partial_fit(rows, Y, references=NAMES),
        ValueError,
        f"Input X contains {word}",
        model,
    )
    if hasattr(model, "coef_"):
        refuse(
            lambda: model.predict(rows, references=NAMES),
            ValueError,
            f"Input X contains {word}",
            model,
        )


@DENSE_AND_SPARSE
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_predicting_rows_that_are_not_finite_is_refused(
    make: Callable[..., Any] | type[Any], bad: float, word: str
) -> None:
    fitted = regressor().fit(X, Y)
    rows = make(with_entry(X, bad))
    refuse(lambda: fitted.predict(rows), ValueError, f"Input X contains {word}", fitted)
    refuse(lambda: fitted.features(rows), ValueError, f"Input X contains {word}", fitted)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("values", [Y, np.c_[Y, Y]])
def test_values_that_are_not_finite_are_refused(
    model: SKGRegressor, bad: float, word: str, values: NDArray[np.float64]
) -> None:
    y = with_entry(values, bad)
    refuse(lambda: model.fit(X, y), ValueError, f"Input y contains {word}", model)
    refuse(
        lambda: model.partial_fit(X, y, references=NAMES),
        ValueError,
        f"Input y contains {word}",
        model,
    )


@DENSE_AND_SPARSE
def test_matrix_without_rows_is_refused(
    model: SKGRegressor, make: Callable[..., Any] | type[Any]
) -> None:
    refuse(lambda: model.fit(make(X[:0]), Y[:0]), ValueError, "0 sample", model)
    fitted = regressor().fit(X, Y)
    refuse(lambda: fitted.predict(make(X[:0])), ValueError, "0 sample", fitted)


def test_matrix_without_columns_is_refused(model: SKGRegressor) -> None:
    refuse(lambda: model.fit(X[:, :0], Y), ValueError, "0 feature", model)


def test_one_row_is_enough_for_a_given_variance() -> None:
    fitted = regressor(n_epochs=1).fit(X[:1], Y[:1])
    assert fitted.predict(X[:1])[0] == pytest.approx(0.2 * Y[0])
    assert fitted.n_seen_ == 1


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_one_row_is_too_little_for_a_rule(call: str) -> None:
    model = regressor(sigma2="theory")
    refuse(
        lambda: getattr(model, call)(X[:1], Y[:1]),
        ValueError,
        r"sigma2.*at least two distinct rows.*n_samples = 1",
        model,
    )


@DENSE_AND_SPARSE
def test_equal_rows_are_too_little_for_a_rule(make: Callable[..., Any] | type[Any]) -> None:
    model = regressor(sigma2="theory")
    rows = make(np.tile(X[0], (12, 1)))
    refuse(lambda: model.fit(rows, Y), ValueError, "at least two distinct rows", model)


def test_equal_rows_are_enough_for_a_given_variance() -> None:
    rows = np.tile(X[0], (12, 1))
    predictions = regressor(n_epochs=50).fit(rows, np.ones(12)).predict(rows)
    np.testing.assert_allclose(predictions, 1.0, rtol=1e-12)


def test_rows_of_zeros_are_allowed() -> None:
    rows = X.copy()
    rows[::2] = 0.0
    for made in (rows, sparse.csr_array(rows)):
        fitted = regressor().fit(made, Y)
        assert np.isfinite(fitted.predict(made)).all()
    zeros = regressor(n_epochs=50).fit(np.zeros((3, 4)), [2.0, 2.0, 2.0])
    np.testing.assert_allclose(zeros.predict(np.zeros((1, 4))), [2.0], rtol=1e-12)
    nothing = regressor().fit(sparse.csr_array((3, 4)), [2.0, 2.0, 2.0])
    assert nothing.predict(sparse.csr_array((2, 4))).shape == (2,)


@pytest.mark.parametrize("n_columns", [1, 3, 5])
@pytest.mark.parametrize("names", [None, NAMES])
def test_another_number_of_columns_is_refused(n_columns: int, names: list[str] | None) -> None:
    fitted = regressor().fit(X, Y, references=names)
    rows = np.ones((12, n_columns))
    message = f"X has {n_columns} features, but SKGRegressor is expecting 4"
    refuse(lambda: fitted.predict(rows), ValueError, message, fitted)
    refuse(lambda: fitted.predict(sparse.csr_array(rows)), ValueError, message, fitted)
    refuse(lambda: fitted.features(rows), ValueError, message, fitted)
    refuse(lambda: fitted.partial_fit(rows, Y), ValueError, message, fitted)


@pytest.mark.parametrize("rows", [X[0], X[0].tolist(), 3.0, X[None]])
def test_rows_of_other_dimensions_are_refused(model: SKGRegressor, rows: Any) -> None:
    refuse(lambda: model.fit(rows, Y[:1]), ValueError, r"2D array|[Dd]im 3|dim <= 2", model)


@pytest.mark.parametrize(
    "rows",
    [
        X.astype(str),
        X.astype("S"),
        X.astype(str).astype(object),
        [["a", "b", "c", "d"]] * 12,
        [[0.5, 0.5, 0.5, "0.5"]] * 12,
        pd.DataFrame(X.astype(str), columns=NAMES),
        pd.DataFrame({"a": Y, "b": ["x"] * 12}),
        pl.DataFrame({"a": Y, "b": ["x"] * 12}),
    ],
)
def test_strings_in_rows_are_refused(model: SKGRegressor, rows: Any) -> None:
    refuse(lambda: model.fit(rows, Y), ValueError, "X must hold numbers, got the string", model)
    fitted = regressor().fit(X, Y)
    refuse(lambda: fitted.predict(rows), ValueError, "X must hold numbers, got the string", fitted)


@pytest.mark.parametrize(
    "y",
    [
        Y.astype(str),
        Y.astype("S"),
        Y.astype(str).astype(object),
        ["low", "high"] * 6,
        [*Y[:11], "0.5"],
        pd.Series(["low", "high"] * 6),
        pl.Series(["low", "high"] * 6),
        np.c_[Y, Y].astype(str),
    ],
)
def test_strings_in_values_are_refused(model: SKGRegressor, y: Any) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "y must hold numbers, got the string", model)


@DENSE_AND_SPARSE
def test_complex_rows_are_refused(
    model: SKGRegressor, make: Callable[..., Any] | type[Any]
) -> None:
    refuse(lambda: model.fit(make(X + 1j), Y), ValueError, "Complex data not supported", model)


@pytest.mark.parametrize("y", [Y + 1j, (Y + 1j).tolist(), np.c_[Y, Y] + 1j])
def test_complex_values_are_refused(model: SKGRegressor, y: NDArray[Any] | list[complex]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "Complex data not supported", model)


@pytest.mark.parametrize(
    "y", [np.full(12, np.datetime64("2020-01-01")), np.full(12, np.timedelta64(1, "s"))]
)
def test_dates_as_values_are_refused(model: SKGRegressor, y: NDArray[Any]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "y must hold numbers", model)


@pytest.mark.parametrize("y", [Y[:-1], np.r_[Y, Y], Y[:1], np.c_[Y, Y].T])
def test_values_of_another_length_are_refused(model: SKGRegressor, y: NDArray[np.float64]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "inconsistent numbers of samples", model)
    refuse(
        lambda: model.partial_fit(X, y, references=NAMES),
        ValueError,
        "inconsistent numbers of samples",
        model,
    )


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_values_are_refused(model: SKGRegressor, make: type[Any]) -> None:
    refuse(lambda: model.fit(X, make(Y[:, None])), TypeError, "y must be a dense array", model)


@pytest.mark.parametrize("y", [3.0, np.ones((12, 1, 1)), np.ones((12, 0))])
def test_values_of_other_dimensions_are_refused(
    model: SKGRegressor, y: NDArray[np.float64] | float
) -> None:
    refuse(lambda: model.fit(X, y), (ValueError, TypeError), "dim|scalar|collection|0 feat", model)


def test_missing_values_are_refused(model: Any) -> None:
    refuse(
        lambda: model.fit(X, None), ValueError, "requires y to be passed|y cannot be None", model
    )


def test_other_targets_than_before_are_refused() -> None:
    for first, then in [(Y, Y[:, None]), (Y[:, None], Y), (np.c_[Y, Y], np.c_[Y, Y, Y])]:
        fitted = regressor().fit(X, first)
        message = re.escape(f"y has shape {then.shape}, but the model was trained on")
        refuse(lambda f=fitted, y=then: f.partial_fit(X, y), ValueError, message, fitted)


def test_rows_whose_projections_overflow_are_refused() -> None:
    model = regressor()
    refuse(lambda: model.fit(X * 1e308, Y), ValueError, "X or y are too large", model)
    refuse(lambda: model.partial_fit(X * 1e308, Y), ValueError, "X or y are too large", model)
    fitted = regressor().fit(X, Y)
    rows = np.full((1, 4), 1.7e308)
    refuse(lambda: fitted.partial_fit(rows, Y[:1]), ValueError, "X or y are too large", fitted)
    refuse(lambda: fitted.predict(rows), ValueError, "X has values too large", fitted)


def test_variance_too_small_for_the_rows_is_refused() -> None:
    model = regressor(sigma2=5e-324)
    refuse(lambda: model.fit(X * 1e200, Y), ValueError, r"sigma2 \(.*\) is too small for X", model)


def test_large_rows_and_small_variances_that_fit_are_allowed() -> None:
    for rows, sigma2 in ((X * 1e150, 1.0), (X, 5e-324), (X * 1e-300, 1e300)):
        assert np.isfinite(regressor(sigma2=sigma2).fit(rows, Y).predict(rows)).all()


def test_values_that_overflow_are_refused() -> None:
    model = regressor(learning_rate=0.9)
    y = np.where(np.arange(12) % 2, 1.7e308, -1.7e308)
    refuse(lambda: model.fit(X, y), ValueError, "X or y are too large", model)
    fitted = regressor(learning_rate=0.9).fit(X, Y)
    refuse(lambda: fitted.partial_fit(X, y), ValueError, "X or y are too large", fitted)


def test_large_values_that_fit_are_learned_to_scale() -> None:
    small, large = regressor().fit(X, Y), regressor().fit(X, np.ldexp(Y, 1000))
    np.testing.assert_array_equal(large.coef_, np.ldexp(small.coef_, 1000))
