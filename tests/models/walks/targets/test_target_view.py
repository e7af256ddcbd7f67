"""From the scale in which weights add up back to the units of the user."""

import numpy as np
import pytest

from gradraker.models.walks.targets.target_view import NoTransform, compute_constants, make_scale
from gradraker.models.walks.targets.transforms import LogTransform

VALUES = np.array([0.0, 1.0, 3.0, 20.0, 400.0])


def test_mean_is_that_over_left_out_errors() -> None:
    log, residuals = LogTransform(1.0), np.array([-0.3, 0.1, 0.2])
    scale = make_scale(log, "mean", VALUES, residuals)
    expected = np.mean(np.expm1(1.5 + residuals))
    assert scale.to_units(np.array([1.5]))[0] == pytest.approx(expected)


def test_median_moves_by_the_median_error() -> None:
    scale = make_scale(LogTransform(1.0), "median", VALUES, np.array([-0.3, 0.1, 0.2]))
    assert scale.to_units(np.array([1.5]))[0] == pytest.approx(np.expm1(1.6))


@pytest.mark.statistical
def test_mean_is_unbiased_and_median_is_in_the_middle() -> None:
    # Errors of a lognormal: 20 000 draws, mean e^½ ± 5 standard errors of 0.0153.
    rng = np.random.default_rng(0)
    errors, new = rng.normal(size=20_000), np.exp(rng.normal(size=20_000)) - 1.0
    values = np.expm1(np.array([0.0, 9.0]))
    mean = make_scale(LogTransform(1.0), "mean", values, errors + 5.0).to_units(np.array([-5.0]))
    assert mean[0] == pytest.approx(np.exp(0.5) - 1.0 + 0.085, abs=0.12)  # cut off at 0 below
    median = make_scale(LogTransform(1.0), "median", values, errors + 5.0).to_units(
        np.array([-5.0 + np.log(2.0)])
    )
    # The share of 2(1 + new) − 1 below the median is a half ± 5 · 0.0035.
    assert abs(np.mean(2.0 * (1.0 + new) - 1.0 < median[0]) - 0.5) < 0.02


def test_predictions_stay_in_the_range_of_known_values() -> None:
    scale = make_scale(LogTransform(1.0), "mean", VALUES, np.array([0.0]))
    found = scale.to_units(np.array([-5.0, 50.0]))
    np.testing.assert_allclose(found, [0.0, 400.0])


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_values_that_are_not_negative_give_no_negative_predictions(statistic: str) -> None:
    scale = make_scale(NoTransform(), statistic, VALUES, np.array([0.0, 1.0]))
    assert (scale.to_units(np.array([-9.0, 2.0])) >= 0.0).all()
    signed = make_scale(NoTransform(), statistic, VALUES - 1.0, np.array([0.0, 1.0]))
    assert signed.to_units(np.array([-9.0]))[0] < -7.0


def test_ends_of_intervals_increase_and_keep_infinity() -> None:
    scale = make_scale(LogTransform(1.0), "mean", VALUES, np.array([0.0]))
    ends = scale.to_ends(np.array([-1.0, 1.0, -np.inf]), np.array([1.0, 900.0, np.inf]))
    np.testing.assert_allclose(ends[0], [0.0, np.expm1(1.0)])
    assert ends[1].tolist() == [np.expm1(1.0), np.inf]
    assert ends[2].tolist() == [-np.inf, np.inf]


def test_a_constant_is_the_mean_or_median_itself() -> None:
    for statistic, expected in (("mean", VALUES.mean()), ("median", 3.0)):
        scale = make_scale(NoTransform(), statistic, VALUES, np.empty(0), is_constant=True)
        assert scale.to_units(np.zeros(2)).tolist() == [expected] * 2


@pytest.mark.parametrize("n", [2, 3, 6, 7])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_constants_of_the_others(n: int, statistic: str) -> None:
    values = np.random.default_rng(n).normal(size=n)
    values[-1] = values[0]
    compute = np.mean if statistic == "mean" else np.median
    expected = [compute(np.delete(values, i)) for i in range(n)]
    np.testing.assert_allclose(compute_constants(values, statistic), expected)


def test_one_value_has_no_constant_of_the_others() -> None:
    assert np.isnan(compute_constants(np.array([3.0]), "median")).all()
