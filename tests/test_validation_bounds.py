"""Every number that a model takes as a parameter has bounds, checked before and in files."""

from numbers import Real
from typing import Any

import numpy as np
import pytest

from gradraker import GradrakerRegressor, SKGRegressor
from gradraker._validation import check_bounds
from gradraker.exceptions import ArgumentError
from gradraker.models.loading import MODELS


@pytest.mark.parametrize("kind", MODELS)
def test_every_default_number_has_bounds(kind: Any) -> None:
    cls = MODELS[kind]
    numbers = {
        name
        for name, value in cls().get_params().items()
        if name != "random_state" and isinstance(value, Real) and not isinstance(value, bool)
    }
    assert numbers <= cls.bounds.keys()
    assert cls.bounds.keys() <= cls().get_params().keys()
    check_bounds(cls.bounds, cls().get_params())


@pytest.mark.parametrize("value", [0, 100_001, 10**12, 10**400, -1, float("nan"), float("inf")])
def test_numbers_outside_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="n_frequencies must be from 1 to 100000, got"):
        check_bounds(SKGRegressor.bounds, {"n_frequencies": value})


@pytest.mark.parametrize(
    "value", [1, 100_000, np.int8(5), np.uint64(7), np.float16(3.0), True, "x"]
)
def test_numbers_inside_and_other_types_pass(value: Any) -> None:
    check_bounds(SKGRegressor.bounds, {"n_frequencies": value})


def test_numbers_without_bounds_are_refused() -> None:
    with pytest.raises(ArgumentError, match="views must be something else than a number, got 3"):
        check_bounds(GradrakerRegressor.bounds, {"views": 3})


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("kind", [SKGRegressor, GradrakerRegressor])
def test_training_checks_bounds(kind: Any, call: Any) -> None:
    model = kind(n_epochs=10**12)
    with pytest.raises(ArgumentError, match="n_epochs"):
        getattr(model, call)(np.eye(3), np.arange(3.0))


def test_learn_one_and_save_check_bounds(tmp_path: Any) -> None:
    model = SKGRegressor(sigma2=1.0, n_frequencies=200_000)
    with pytest.raises(ArgumentError, match="n_frequencies"):
        model.learn_one(["a"], 1.0)
    model.set_params(n_frequencies=10)
    model.learn_one(["a"], 1.0)
    with pytest.raises(ArgumentError, match="n_epochs"):
        model.set_params(n_epochs=10**12).save(tmp_path / "m.skg")
    assert list(tmp_path.iterdir()) == []
