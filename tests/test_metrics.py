"""GNMSE by hand and by its invariances."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from gradraker import gnmse

FINITE = st.floats(-1e3, 1e3).filter(lambda y: y == 0 or abs(y) > 1e-3)
VALUES = st.lists(FINITE, min_size=1, max_size=8).filter(any)


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [
        ([1.0, 2.0], [1.0, 1.0], 1 / 5),
        ([3.0, 4.0], [0.0, 0.0], 1.0),
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([1.0], [-1.0], 4.0),
        ([0.0, 2.0], [1.0, 2.0], 1 / 4),
        ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [2.0, 9.0]], 1.0),
        ([1, 2, 3], [1, 2, 4], 1 / 14),
    ],
)
def test_gnmse_by_hand(true: list[Any], pred: list[Any], expected: float) -> None:
    assert gnmse(true, pred) == pytest.approx(expected, rel=1e-15)
    assert type(gnmse(true, pred)) is float


@given(true=VALUES, data=st.data())
@settings(deadline=None, derandomize=True)
def test_gnmse_equals_formula(true: Any, data: Any) -> None:
    pred = data.draw(st.lists(FINITE, min_size=len(true), max_size=len(true)))
    error = math.fsum((y - f) ** 2 for y, f in zip(true, pred, strict=True))
    assert gnmse(true, pred) == pytest.approx(error / math.fsum(y**2 for y in true), rel=1e-12)


@given(true=VALUES, power=st.integers(-1000, 1000))
@settings(deadline=None, derandomize=True)
def test_gnmse_does_not_depend_on_units(true: Any, power: Any) -> None:
    # Even where the squares of the values would leave the range of float64.
    pred = [y + 1.0 for y in true]
    assert gnmse(np.ldexp(true, power), np.ldexp(pred, power)) == gnmse(true, pred)


@given(true=VALUES)
@settings(deadline=None, derandomize=True)
def test_gnmse_of_perfect_and_zero_predictions(true: Any) -> None:
    assert gnmse(true, true) == 0.0
    assert gnmse(true, np.zeros(len(true))) == pytest.approx(1.0)


def test_gnmse_does_not_depend_on_order() -> None:
    rng = np.random.default_rng(0)
    true, pred, order = rng.normal(size=9), rng.normal(size=9), rng.permutation(9)
    assert gnmse(true[order], pred[order]) == pytest.approx(gnmse(true, pred), rel=1e-14)


def test_gnmse_accepts_other_containers() -> None:
    assert gnmse(pd.Series([1.0, 2.0]), (1, 1)) == pytest.approx(0.2)
    assert gnmse(np.float32([1.0, 2.0]), np.array([1, 1])) == pytest.approx(0.2)  # type: ignore[arg-type]


@pytest.mark.parametrize("true", [[0.0], [0.0, -0.0], np.zeros((2, 2))])
def test_gnmse_refuses_values_that_are_all_zero(true: NDArray[np.float64] | list[float]) -> None:
    with pytest.raises(ValueError, match="y_true is 0 everywhere"):
        gnmse(true, np.ones_like(true))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_gnmse_refuses_nan_and_infinity(bad: float) -> None:
    with pytest.raises(ValueError, match="Input y_true contains"):
        gnmse([1.0, bad], [1.0, 1.0])
    with pytest.raises(ValueError, match="Input y_pred contains"):
        gnmse([1.0, 1.0], [1.0, bad])


def test_gnmse_refuses_shapes_that_differ() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        gnmse([1.0, 2.0], [1.0])
    # Broadcasting would compare every value with every prediction.
    with pytest.raises(ValueError, match=r"y_pred has shape \(2, 1\), but y_true has shape \(2,\)"):
        gnmse([1.0, 2.0], [[1.0], [2.0]])


@pytest.mark.parametrize("bad", [[], 3.0, ["a", "b"], sparse.csr_array(np.eye(2)), [1j, 2j]])
def test_gnmse_refuses_other_input(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        gnmse(bad, bad)
