"""Transforms of values: there and back, refused input, files."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import PowerTransformer, QuantileTransformer

from gradraker.models.walks.targets.target_view import measure_normality
from gradraker.models.walks.targets.transforms import (
    FITS,
    GivenTransform,
    LogTransform,
    PowerTransform,
    check_transform,
    dump_transform,
    fit_given,
    fit_log,
    fit_power,
    restore_transform,
)

Vector = NDArray[np.float64]
POSITIVE = np.random.default_rng(0).lognormal(3.0, 2.0, size=80)
SIGNED = np.random.default_rng(1).normal(size=80) ** 3


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("values", [POSITIVE, np.where(POSITIVE < 5.0, 0.0, POSITIVE)])
def test_transforms_increase_and_are_undone(name: str, values: Vector) -> None:
    transform = FITS[name](values)
    scaled = transform.apply(values)
    np.testing.assert_allclose(transform.undo(scaled), values, rtol=1e-9, atol=1e-9)
    order = np.argsort(values, kind="stable")
    assert (np.diff(scaled[order])[np.diff(values[order]) > 0.0] > 0.0).all()


def test_power_is_that_of_scikit_learn() -> None:
    fitted = fit_power(SIGNED)
    moved = (SIGNED - fitted.centre) / fitted.unit
    reference = PowerTransformer(standardize=False).fit(moved[:, np.newaxis])
    assert fitted.exponent == pytest.approx(float(reference.lambdas_[0]))
    expected = reference.transform(moved[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(fitted.apply(SIGNED), expected)


@pytest.mark.parametrize("fit", [fit_log, fit_power])
def test_unit_of_values_does_not_matter(fit: Any) -> None:
    np.testing.assert_allclose(
        fit(1000.0 * POSITIVE).apply(1000.0 * POSITIVE), fit(POSITIVE).apply(POSITIVE), rtol=1e-6
    )


def test_power_does_not_depend_on_the_zero_of_values() -> None:
    moved = SIGNED + 1e4
    np.testing.assert_allclose(
        fit_power(moved).apply(moved), fit_power(SIGNED).apply(SIGNED), rtol=1e-5, atol=1e-6
    )


def test_log_of_zeros_is_finite() -> None:
    fitted = fit_log(np.zeros(5))
    assert fitted.apply(np.zeros(5)).tolist() == [0.0] * 5


def test_log_refuses_negative_values() -> None:
    with pytest.raises(ValueError, match=r"negative \(-1\)"):
        fit_given("log", np.array([-1.0, 3.0]))


@pytest.mark.parametrize("wrong", ["logs", 3, None, (np.log,), (np.log, 3), object()])
def test_other_transforms_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="transform must be 'auto'"):
        check_transform(wrong)


def test_functions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="does not undo"):
        fit_given((np.sqrt, np.exp), POSITIVE)
    with pytest.raises(ValueError, match="not a finite number"), np.errstate(all="ignore"):
        fit_given((np.log, np.exp), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="one number for each"):
        fit_given((np.sum, np.exp), POSITIVE)


def test_transformers_of_scikit_learn_are_fitted_and_not_changed() -> None:
    given = QuantileTransformer(n_quantiles=20, output_distribution="normal")
    fitted = fit_given(given, POSITIVE)
    assert not hasattr(given, "quantiles_")
    np.testing.assert_allclose(fitted.undo(fitted.apply(POSITIVE)), POSITIVE, rtol=1e-6)


@pytest.mark.parametrize("name", FITS)
def test_files_keep_transforms(name: str) -> None:
    transform = FITS[name](POSITIVE)
    assert restore_transform(dump_transform(transform)) == transform
    assert restore_transform(dump_transform(None)) is None


def test_functions_cannot_be_saved() -> None:
    with pytest.raises(ValueError, match="a file cannot hold"):
        dump_transform(GivenTransform(np.sqrt, np.square, "root"))


@pytest.mark.parametrize(
    "item",
    [
        {"name": "exec"},
        {"name": "log", "unit": 0.0},
        {"name": "log", "unit": float("nan")},
        {"name": "log", "unit": 1e300},
        {"name": "log", "unit": 1.0, "more": 2.0},
        {"name": "power", "centre": 0.0, "unit": 1.0, "exponent": -3.0},
        {"name": "power", "centre": float("inf"), "unit": 1.0, "exponent": 1.0},
        {"name": "none", "unit": 1.0},
        ["log", 1.0],
    ],
)
def test_forged_transforms_are_refused(item: Any) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        restore_transform(item)


def test_normality_of_few_or_equal_values_is_0() -> None:
    assert measure_normality(np.ones(9)) == 0.0
    assert measure_normality(np.array([1.0, 2.0])) == 0.0


def test_formulas_name_the_function() -> None:
    assert LogTransform(2.0).formula == "log(1 + value / 2)"
    assert "power 0.5" in PowerTransform(1.0, 2.0, 0.5).formula
