"""Arguments that a bank refuses, and that a refusal changes nothing."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import GradrakerRegressor
from gradraker.models.bank.members import check_kernels, check_views

RNG = np.random.default_rng(0)
X = (RNG.random((20, 6)) < 0.4).astype(float)
Y = RNG.normal(size=20)


def bank(**parameters: Any) -> GradrakerRegressor:
    return GradrakerRegressor(
        **{"kernels": [1.0, 4.0], "n_frequencies": 8, "random_state": 0, **parameters}
    )


BAD_PARAMETERS = {
    "no kernel": ({"kernels": []}, "kernels must have at least one kernel"),
    "a number": ({"kernels": 3.0}, "kernels must be a rule or a sequence of kernels, .*, got 3.0"),
    "a set": ({"kernels": {1.0}}, "kernels must be a rule or a sequence"),
    "an iterator": ({"kernels": iter([1.0])}, "kernels must be a rule or a sequence"),
    "two axes": ({"kernels": np.ones((2, 2))}, "positive variances or one of"),
    "a mapping": ({"kernels": {1.0: 2.0}}, "kernels must be a rule or a sequence"),
    "zero": ({"kernels": [0.0]}, "positive variances or one of 'ranges', .*, got 0.0"),
    "infinity": ({"kernels": [np.inf]}, "positive variances or one of"),
    "nan": ({"kernels": [np.nan]}, "positive variances or one of"),
    "a flag": ({"kernels": [True]}, "positive variances or one of .* got True"),
    "a word": ({"kernels": "magic"}, "one of 'ranges', 'theory', .*, got 'magic'"),
    "a family alone": ({"kernels": ("laplacian", 2.0)}, r"as in \[\(.laplacian., 2.0\)\]"),
    "a pair": ({"kernels": [("linear", 1.0)]}, "pairs of a family, one of 'gaussian', .*linear"),
    "three": ({"kernels": [("gaussian", 1.0, 2.0)]}, "pairs of a family"),
    "a negative variance": ({"kernels": [-1.0]}, "one of 'ranges', 'theory', .*, got -1.0"),
    "a hop without columns": (
        {"views": {"1 hop": 0}},
        "at least one column each, got 0 for '1 hop'",
    ),
    "a view without columns": ({"views": {"a": 0, "b": 6}}, "at least one column .* for 'a'"),
    "a half": ({"views": {"a": 1.5}}, "views must have whole numbers of columns, got 1.5"),
    "a view by number": ({"views": {1: 6}}, "views must have strings as names, got 1"),
    "no view": ({"views": []}, "views must have at least one view"),
    "a string": ({"views": "hops"}, "views must be a mapping"),
    "a sum": ({"views": {"a": 2, "b": 5}}, r"views have 2 \+ 5 = 7 columns, but X has 6"),
    "step 0": ({"weight_step": 0.0}, "weight_step must be a positive number or 'auto', got 0.0"),
    "step nan": ({"weight_step": np.nan}, "weight_step must be"),
    "step word": ({"weight_step": "fast"}, "weight_step must be .* got 'fast'"),
    "below 0": ({"regularization": -0.1}, "regularization must be a number of at least 0"),
    "nan again": ({"regularization": np.nan}, "regularization must be"),
    "unstable": (
        {"regularization": 2.0, "learning_rate": 0.2},
        r"regularization must be below \(1 / learning_rate - 1\) / 2 = 2, .* got 2.0",
    ),
    "rate": ({"learning_rate": 1.0}, r"learning_rate must be a number in \(0, 1\)"),
    "D": ({"n_frequencies": 0}, "n_frequencies must be an integer of at least 1"),
    "E": ({"n_epochs": 0}, "n_epochs must be"),
    "kept": ({"keep_weights": 1}, "keep_weights must be True or False"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters_are_named_before_any_work(case: str) -> None:
    parameters, message = BAD_PARAMETERS[case]
    for train in ("fit", "partial_fit"):
        model = bank(**parameters)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=message):
            getattr(model, train)(X, Y)
        assert not hasattr(model, "coef_")


def test_kernels_and_views_in_every_form() -> None:
    numbers = np.array([1.0, 2.0])
    assert check_kernels(numbers) == [("gaussian", 1.0), ("gaussian", 2.0)]
    assert check_kernels((np.float32(0.5), ["cauchy", "cv"])) == [
        ("gaussian", 0.5),
        ("cauchy", "cv"),
    ]
    assert check_kernels([0.5, "theory", ("laplacian", 2)]) == [
        ("gaussian", 0.5),
        ("gaussian", "theory"),
        ("laplacian", 2.0),
    ]
    assert check_kernels("ranges") == [("gaussian", "ranges")]
    assert check_views([3, 2]) == {"view 0": 3, "view 1": 2}
    assert check_views(np.array([1, 2])) == {"view 0": 1, "view 1": 2}
    assert check_views(None) is None


CHANGES = {
    "kernels": [1.0, 5.0],
    "views": {"a": 6},
    "n_frequencies": 9,
    "weight_step": 0.3,
    "regularization": 0.5,
}


@pytest.mark.parametrize("name", CHANGES)
def test_parameters_of_the_members_cannot_change(name: str, tmp_path: Path) -> None:
    model = bank().fit(X, Y).set_params(**{name: CHANGES[name]})
    with pytest.raises(ValueError, match=f"{name} is .*, but the model has features of {name}="):
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match=f"{name} is"):
        model.save(tmp_path / "model.skg")
    model.fit(X, Y)


def test_views_in_another_order_are_a_change() -> None:
    model = bank(views={"a": 3, "b": 3}).fit(X, Y).set_params(views={"b": 3, "a": 3})
    with pytest.raises(ValueError, match="views is"):
        model.partial_fit(X, Y)


def test_equal_kernels_in_another_form_are_not_a_change() -> None:
    model = bank().fit(X, Y).set_params(kernels=(("gaussian", 1), np.float64(4.0)))
    model.partial_fit(X, Y)


BAD_ROWS = {
    "columns": (X[:, :5], Y, {}, "5 features"),
    "nan": (np.where(X > 0, np.nan, X), Y, {}, "NaN"),
    "targets": (X, np.c_[Y, Y], {}, r"y has shape \(20, 2\), but"),
    "strings": (X, ["a"] * 20, {}, "y must hold numbers"),
    "none": (X, [*Y[:19], None], {}, "y must hold finite numbers, got None"),
    "large y": (X, 1e200 * Y, {}, "training left the range of float64"),
    "names": (X, Y, {"references": ["a"] * 6}, "must not repeat a name"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_rows_that_are_refused_leave_the_model_as_it_was(case: str) -> None:
    rows, y, options, message = BAD_ROWS[case]
    model = bank(keep_weights=True).fit(X, Y)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, y, **options)
    for one in (model, before):
        one.partial_fit(X[:3], Y[:3])
    np.testing.assert_array_equal(model.coef_, before.coef_)
    np.testing.assert_array_equal(model.weights_history_, before.weights_history_)
    assert len(model.explain(X).values) == len(before.explain(X).values) == 23


def test_names_of_a_refused_call_are_forgotten() -> None:
    model = bank(kernels=[1.0, ("laplacian", 1.0)]).fit(X, Y, references=list("abcdef"))
    with pytest.raises(ValueError, match="float64"):
        model.partial_fit([[1.0]], [1e200], references=["new"])
    assert list(model.references_) == list("abcdef")
    assert [len(model._table[family]) for family in model._table.families] == [6, 6]


def test_views_refuse_new_columns() -> None:
    model = bank(views=[2, 4]).fit(X, Y, references=list("abcdef"))
    for call in (
        lambda: model.partial_fit(X, Y, references=list("abcdeg")),
        lambda: model.predict(X, references=list("abcdeg")),
    ):
        with pytest.raises(ValueError, match="references has 'g', which the first rows did not"):
            call()
    model.predict(X[:, :3], references=list("afc"))


def test_rules_need_two_rows() -> None:
    with pytest.raises(ValueError, match="kernels='ranges' needs at least two distinct rows"):
        bank(kernels="ranges").partial_fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="rows that are all equal"):
        bank(kernels="ranges").fit(np.ones((5, 2)), np.arange(5.0))
    bank().partial_fit(X[:1], Y[:1]).partial_fit(X, Y)


def test_rows_without_a_difference_have_no_ranges() -> None:
    model = bank().fit(np.ones((5, 2)), np.arange(5.0))
    assert not hasattr(model, "ranges_")
    assert np.isfinite(model.predict(np.ones((2, 2)))).all()


def test_isolated_nodes_and_empty_views() -> None:
    rows = X.copy()
    rows[3], rows[:, :2] = 0.0, 0.0
    model = bank(views=[2, 4]).fit(rows, Y)
    assert np.isfinite(model.predict(rows)).all()
    with pytest.raises(ValueError, match="all equal"):
        bank(views=[2, 4], kernels="theory").fit(rows, Y)


def test_predictions_that_leave_float64_are_refused() -> None:
    model = bank().fit(X, Y)
    with pytest.raises(ValueError, match="X has values too large for a variance of 1"):
        model.predict(1e308 * np.ones((1, 6)))


def test_weights_history_exists_only_with_keep_weights() -> None:
    model = bank().fit(X, Y)
    assert not hasattr(model, "weights_history_")
    with pytest.raises(AttributeError, match="keep_weights=True"):
        model.plot_weights()
