"""Parameters and references of a model of rows, and calls before and after others."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from gradraker import SKGRegressor
from refused_rows import (
    NAMES,
    X,
    Y,
    refuse,
    regressor,
)

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
def test_any_positive_number_is_allowed_for_sigma2(sigma2: Any) -> None:
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
def test_any_number_inside_0_and_1_is_allowed_for_learning_rate(learning_rate: Any) -> None:
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
def test_unknown_kernel_is_refused(kernel: Any) -> None:
    refuse_parameter("kernel must be one of 'gaussian', 'laplacian', 'cauchy'", kernel=kernel)


@pytest.mark.parametrize("random_state", [-1, 2**64, "seed", 1.5, np.random.default_rng(0), [1, 2]])
def test_a_bad_random_state_is_refused(random_state: Any) -> None:
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
def test_references_that_do_not_name_the_columns_are_refused(
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
def test_predicting_and_saving_need_a_fitted_model(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFittedError, match="not fitted"):
        call(regressor())
    assert not list(tmp_path.iterdir())


def test_a_failed_refit_keeps_the_old_model() -> None:
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


def test_a_failed_first_chunk_leaves_the_model_unfitted() -> None:
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
