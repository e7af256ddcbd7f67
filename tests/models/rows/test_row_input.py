"""What SKGRegressor refuses, and that a refused call leaves the model as it was."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError

from gradraker import SKGRegressor

RNG = np.random.default_rng(0)
X = RNG.random((12, 4))
Y = RNG.random(12)
NAMES = ["a", "b", "c", "d"]
DENSE_AND_SPARSE = pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array])


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(**{"sigma2": 1.0, "n_frequencies": 6, "random_state": 0, **parameters})


def with_entry(array: NDArray[np.float64], value: float) -> NDArray[np.float64]:
    changed = array.astype(np.result_type(array, type(value)))
    changed.flat[3] = value
    return changed


def plain(value: Any) -> Any:
    """What an object holds, as values that can be compared by ==."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tolist()
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic):
        return repr(value)
    return type(value).__name__, plain(value.__getstate__())


def state(model: SKGRegressor) -> Any:
    """Everything that a model holds, to compare before and after."""
    return plain(vars(model))


def assert_same_state(model: SKGRegressor, before: dict[Any, Any]) -> None:
    after = state(model)
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert after[name] == value, name


@pytest.fixture(params=["new", "fitted", "named", "online"])
def model(request: pytest.FixtureRequest) -> SKGRegressor:
    """A model of every past, which a refused call must not touch."""
    made = regressor()
    if request.param == "fitted":
        made.fit(X, Y)
    elif request.param == "named":
        made.fit(X, Y, references=NAMES)
    elif request.param == "online":
        made.learn_one(["a", "e"], 0.5)
    return made


def refuse(
    call: Callable[..., Any],
    error: tuple[Any, ...] | type[Exception],
    message: str,
    model: Any = None,
) -> None:
    before = None if model is None else state(model)
    with pytest.raises(error, match=message):
        call()
    if model is not None:
        assert_same_state(model, before)  # type: ignore[arg-type]


# -- X and y -----------------------------------------------------------------------------------


@DENSE_AND_SPARSE
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_rows_that_are_not_finite(
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
def test_predicting_rows_that_are_not_finite(
    make: Callable[..., Any] | type[Any], bad: float, word: str
) -> None:
    fitted = regressor().fit(X, Y)
    rows = make(with_entry(X, bad))
    refuse(lambda: fitted.predict(rows), ValueError, f"Input X contains {word}", fitted)
    refuse(lambda: fitted.features(rows), ValueError, f"Input X contains {word}", fitted)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("values", [Y, np.c_[Y, Y]])
def test_values_that_are_not_finite(
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
def test_no_rows(model: SKGRegressor, make: Callable[..., Any] | type[Any]) -> None:
    refuse(lambda: model.fit(make(X[:0]), Y[:0]), ValueError, "0 sample", model)
    fitted = regressor().fit(X, Y)
    refuse(lambda: fitted.predict(make(X[:0])), ValueError, "0 sample", fitted)


def test_no_columns(model: SKGRegressor) -> None:
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
def test_another_number_of_columns(n_columns: int, names: list[str] | None) -> None:
    fitted = regressor().fit(X, Y, references=names)
    rows = np.ones((12, n_columns))
    message = f"X has {n_columns} features, but SKGRegressor is expecting 4"
    refuse(lambda: fitted.predict(rows), ValueError, message, fitted)
    refuse(lambda: fitted.predict(sparse.csr_array(rows)), ValueError, message, fitted)
    refuse(lambda: fitted.features(rows), ValueError, message, fitted)
    refuse(lambda: fitted.partial_fit(rows, Y), ValueError, message, fitted)


@pytest.mark.parametrize("rows", [X[0], X[0].tolist(), 3.0, X[None]])
def test_rows_of_other_dimensions(model: SKGRegressor, rows: Any) -> None:
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
def test_strings_in_rows(model: SKGRegressor, rows: Any) -> None:
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
def test_strings_in_values(model: SKGRegressor, y: Any) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "y must hold numbers, got the string", model)


@DENSE_AND_SPARSE
def test_complex_rows(model: SKGRegressor, make: Callable[..., Any] | type[Any]) -> None:
    refuse(lambda: model.fit(make(X + 1j), Y), ValueError, "Complex data not supported", model)


@pytest.mark.parametrize("y", [Y + 1j, (Y + 1j).tolist(), np.c_[Y, Y] + 1j])
def test_complex_values(model: SKGRegressor, y: NDArray[Any] | list[complex]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "Complex data not supported", model)


@pytest.mark.parametrize(
    "y", [np.full(12, np.datetime64("2020-01-01")), np.full(12, np.timedelta64(1, "s"))]
)
def test_dates_as_values(model: SKGRegressor, y: NDArray[Any]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "y must hold numbers", model)


@pytest.mark.parametrize("y", [Y[:-1], np.r_[Y, Y], Y[:1], np.c_[Y, Y].T])
def test_values_of_another_length(model: SKGRegressor, y: NDArray[np.float64]) -> None:
    refuse(lambda: model.fit(X, y), ValueError, "inconsistent numbers of samples", model)
    refuse(
        lambda: model.partial_fit(X, y, references=NAMES),
        ValueError,
        "inconsistent numbers of samples",
        model,
    )


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_values(model: SKGRegressor, make: type[Any]) -> None:
    refuse(lambda: model.fit(X, make(Y[:, None])), TypeError, "y must be a dense array", model)


@pytest.mark.parametrize("y", [3.0, np.ones((12, 1, 1)), np.ones((12, 0))])
def test_values_of_other_dimensions(model: SKGRegressor, y: NDArray[np.float64] | float) -> None:
    refuse(lambda: model.fit(X, y), (ValueError, TypeError), "dim|scalar|collection|0 feat", model)


def test_no_values(model: Any) -> None:
    refuse(
        lambda: model.fit(X, None), ValueError, "requires y to be passed|y cannot be None", model
    )


def test_other_targets_than_before() -> None:
    for first, then in [(Y, Y[:, None]), (Y[:, None], Y), (np.c_[Y, Y], np.c_[Y, Y, Y])]:
        fitted = regressor().fit(X, first)
        message = re.escape(f"y has shape {then.shape}, but the model was trained on")
        refuse(lambda f=fitted, y=then: f.partial_fit(X, y), ValueError, message, fitted)


def test_rows_whose_projections_overflow() -> None:
    model = regressor()
    refuse(lambda: model.fit(X * 1e308, Y), ValueError, "X or y are too large", model)
    refuse(lambda: model.partial_fit(X * 1e308, Y), ValueError, "X or y are too large", model)
    fitted = regressor().fit(X, Y)
    rows = np.full((1, 4), 1.7e308)
    refuse(lambda: fitted.partial_fit(rows, Y[:1]), ValueError, "X or y are too large", fitted)
    refuse(lambda: fitted.predict(rows), ValueError, "X has values too large", fitted)


def test_a_variance_too_small_for_the_rows() -> None:
    model = regressor(sigma2=5e-324)
    refuse(lambda: model.fit(X * 1e200, Y), ValueError, r"sigma2 \(.*\) is too small for X", model)


def test_large_rows_and_small_variances_that_fit_are_allowed() -> None:
    for rows, sigma2 in ((X * 1e150, 1.0), (X, 5e-324), (X * 1e-300, 1e300)):
        assert np.isfinite(regressor(sigma2=sigma2).fit(rows, Y).predict(rows)).all()


def test_values_that_overflow() -> None:
    model = regressor(learning_rate=0.9)
    y = np.where(np.arange(12) % 2, 1.7e308, -1.7e308)
    refuse(lambda: model.fit(X, y), ValueError, "X or y are too large", model)
    fitted = regressor(learning_rate=0.9).fit(X, Y)
    refuse(lambda: fitted.partial_fit(X, y), ValueError, "X or y are too large", fitted)


def test_large_values_that_fit_are_learned_to_scale() -> None:
    small, large = regressor().fit(X, Y), regressor().fit(X, np.ldexp(Y, 1000))
    np.testing.assert_array_equal(large.coef_, np.ldexp(small.coef_, 1000))


# -- parameters --------------------------------------------------------------------------------


def refuse_parameter(message: str, **parameters: Any) -> None:
    model = regressor(**parameters)  # the constructor only stores
    refuse(lambda: model.fit(X, Y), ValueError, message, model)
    refuse(lambda: model.partial_fit(X, Y), ValueError, message, model)
    refuse(lambda: model.learn_one(["a"], 1.0), ValueError, message, model)
    fitted = regressor().fit(X, Y).set_params(**parameters)
    refuse(lambda: fitted.fit(X, Y), ValueError, message, fitted)
    refuse(lambda: fitted.partial_fit(X, Y), ValueError, message, fitted)


@pytest.mark.parametrize(
    "sigma2", [0, 0.0, -1.0, -0.0, math.nan, math.inf, -math.inf, True, False, None, [1.0], "1.0"]
)
def test_sigma2_must_be_positive_or_a_rule(sigma2: Any) -> None:
    refuse_parameter(r"sigma2 must be a positive number or one of the rules", sigma2=sigma2)


@pytest.mark.parametrize("rule", ["magic", "", "Theory", "theory "])
def test_an_unknown_rule_lists_the_rules(rule: str) -> None:
    refuse_parameter(f"sigma2 must be.*rules.*'theory'.*got {rule!r}", sigma2=rule)


@pytest.mark.parametrize("sigma2", [2, 2.0, np.float32(2), np.int64(2), np.float64(2)])
def test_any_positive_number_will_do_for_sigma2(sigma2: Any) -> None:
    fitted = regressor(sigma2=sigma2).fit(X, Y)
    assert fitted.sigma2_ == 2.0
    np.testing.assert_array_equal(fitted.coef_, regressor(sigma2=2.0).fit(X, Y).coef_)


@pytest.mark.parametrize(
    "learning_rate",
    [
        0,
        0.0,
        1,
        1.0,
        -0.1,
        1.5,
        math.nan,
        math.inf,
        True,
        None,
        "0.1",
        [0.1],
        0.1j,
        np.complex64(0.1),
    ],
)
def test_learning_rate_must_be_inside_0_and_1(learning_rate: Any) -> None:
    refuse_parameter(r"learning_rate must be a number in \(0, 1\)", learning_rate=learning_rate)


@pytest.mark.parametrize("learning_rate", [5e-324, 0.999999, np.float32(0.5)])
def test_any_number_inside_0_and_1_will_do_for_learning_rate(learning_rate: Any) -> None:
    assert np.isfinite(regressor(learning_rate=learning_rate).fit(X, Y).coef_).all()


@pytest.mark.parametrize("name", ["n_frequencies", "n_epochs"])
@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, math.nan, True, None, "3", [3]])
def test_counts_must_be_integers_of_at_least_1(name: str, value: Any) -> None:
    refuse_parameter(f"{name} must be an integer of at least 1", **{name: value})


@pytest.mark.parametrize("name", ["n_frequencies", "n_epochs"])
def test_counts_may_be_numpy_integers(name: str) -> None:
    fitted = regressor(**{name: np.int32(2)}).fit(X, Y)
    np.testing.assert_array_equal(fitted.coef_, regressor(**{name: 2}).fit(X, Y).coef_)


@pytest.mark.parametrize("shuffle", [None, "yes", 1, 0, 1.0, np.array([True, False])])
def test_shuffle_must_be_true_or_false(shuffle: Any) -> None:
    refuse_parameter("shuffle must be True or False", shuffle=shuffle)


def test_shuffle_may_be_of_numpy() -> None:
    coef = regressor(shuffle=np.False_).fit(X, Y).coef_
    np.testing.assert_array_equal(coef, regressor(shuffle=False).fit(X, Y).coef_)


@pytest.mark.parametrize("kernel", ["rbf", "GAUSSIAN", None, 1, ["gaussian"]])
def test_unknown_kernel(kernel: Any) -> None:
    refuse_parameter("kernel must be one of 'gaussian', 'laplacian', 'cauchy'", kernel=kernel)


@pytest.mark.parametrize("random_state", [-1, 2**64, "seed", 1.5, np.random.default_rng(0), [1, 2]])
def test_bad_random_state(random_state: Any) -> None:
    model = regressor(random_state=random_state)
    refuse(lambda: model.fit(X, Y), ValueError, "[Ss]eed", model)
    refuse(lambda: model.learn_one(["a"], 1.0), ValueError, "[Ss]eed", model)


@pytest.mark.parametrize("parameters", [{"kernel": "cauchy"}, {"n_frequencies": 7}])
def test_features_cannot_change_while_learning(parameters: dict[Any, Any]) -> None:
    fitted = regressor().fit(X, Y).set_params(**parameters)
    (name,) = parameters
    refuse(lambda: fitted.partial_fit(X, Y), ValueError, f"{name} is .*call fit to start", fitted)
    assert np.isfinite(fitted.fit(X, Y).partial_fit(X, Y).coef_).all()


# -- references --------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "features"])
@pytest.mark.parametrize(
    ("references", "error", "message"),
    [
        (["a", "b", "c"], ValueError, "references must name each column of X: got 3 names for 4"),
        (["a", "b", "c", "c"], ValueError, "references must not repeat a name, got 'c'"),
        ([1, 2, 3, 3.0], ValueError, "references must not repeat a name"),
        (["a", "b", "c", None], TypeError, "a reference name must be"),
        (["a", "b", "c", math.nan], TypeError, "a reference name must be"),
        (["a", "b", "c", ["d"]], TypeError, "references must be hashable"),
        ("abcd", TypeError, "references must be a sequence"),
        ({"a", "b", "c", "d"}, TypeError, "references must be a sequence"),
        (iter("abcd"), TypeError, "references must be a sequence"),
        (4, TypeError, "references must be a sequence"),
    ],
)
def test_bad_references(
    model: SKGRegressor, call: str, references: Any, error: type[Exception], message: str
) -> None:
    if call in ("predict", "features"):
        if not hasattr(model, "coef_"):
            return
        refuse(lambda: getattr(model, call)(X, references=references), error, message, model)
    else:
        refuse(lambda: getattr(model, call)(X, Y, references=references), error, message, model)


def test_columns_of_a_model_that_learned_by_name_need_names() -> None:
    model = regressor()
    model.learn_one(["a"], 1.0)
    for call in (model.predict, model.features, lambda rows: model.partial_fit(rows, Y)):
        refuse(lambda call=call: call(X), ValueError, "references must be given", model)


# -- before and after --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.predict(X),
        lambda model: model.predict(X, references=NAMES),
        lambda model: model.score(X, Y),
        lambda model: model.save("never.skg"),
        lambda model: model.frequencies_,
        lambda model: model.references_,
    ],
)
def test_before_fit(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFittedError, match="not fitted"):
        call(regressor())
    assert not list(tmp_path.iterdir())


def test_a_failed_refit_keeps_the_old_model_whole() -> None:
    # Had the number of columns changed and the frequencies not, the loops would leave the table.
    fitted = regressor(sigma2="theory").fit(X, Y)
    predictions = fitted.predict(X)
    refuse(lambda: fitted.fit(np.ones((12, 100)), Y), ValueError, "two distinct rows", fitted)
    refuse(
        lambda: fitted.fit(np.eye(12, 100), sparse.csr_array(Y[:, None])),
        TypeError,
        "y must",
        fitted,
    )
    refuse(lambda: fitted.predict(np.ones((1, 100))), ValueError, "X has 100 features", fitted)
    np.testing.assert_array_equal(fitted.predict(X), predictions)


def test_a_failed_first_chunk_leaves_the_model_new() -> None:
    model = regressor(sigma2="theory")
    refuse(lambda: model.partial_fit(X[:1], Y[:1]), ValueError, "two distinct rows", model)
    np.testing.assert_array_equal(
        model.partial_fit(X[:, :3], Y).coef_,
        regressor(sigma2="theory").partial_fit(X[:, :3], Y).coef_,
    )


def test_a_failed_chunk_adds_no_references() -> None:
    model = regressor().fit(X, Y, references=NAMES)
    rows = np.full((1, 2), 1.7e308)
    refuse(
        lambda: model.partial_fit(rows, [1.0], references=["a", "new"]),
        ValueError,
        "too large",
        model,
    )
    assert model.references_ == NAMES


def test_column_numbers_outside_a_sparse_matrix_are_refused() -> None:
    # SciPy checks them when a matrix is made, not when its arrays are changed afterwards.
    fitted = regressor().fit(X, Y)
    for column in (-1, 4, 2**31 - 1):
        rows = sparse.csr_array(X)
        rows.indices[5] = column
        outside = "X is a malformed sparse matrix: indices has numbers outside of 0 to 3"
        refuse(lambda rows=rows: fitted.predict(rows), ValueError, outside, fitted)
        refuse(lambda rows=rows: fitted.partial_fit(rows, Y), ValueError, outside, fitted)
