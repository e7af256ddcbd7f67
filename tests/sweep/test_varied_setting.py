"""Sweeps that differ in one setting, and the paper's statements about them."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gradraker import load_temperature, sigma2_sweep
from gradraker.sweep import settings_sweep

SMALL: dict[str, Any] = {
    "n_repeats": 3,
    "sigma2": [0.1, 2.0, 10.0, 300.0],
    "n_frequencies": 30,
    "random_state": 5,
}


def test_too_small_learning_rates_move_the_best_variance_up() -> None:
    # Section VI.B.2. Fixed seeds: this cannot fail by chance.
    data = load_temperature()
    found = settings_sweep(data, setting="learning_rate", values=[0.01, 0.1, 0.2], n_repeats=15)
    slow, usual, fast = (result.best_ for result in found.results)
    assert slow > 3 * usual
    assert 0.5 < fast / usual < 2.0


def test_the_best_variance_does_not_depend_on_many_frequencies() -> None:
    data = load_temperature()
    found = settings_sweep(data, setting="n_frequencies", values=[200, 800], n_repeats=15)
    few, many = found.results
    assert 0.5 < many.best_ / few.best_ < 2.0


def test_settings_share_grid_split_and_first_frequencies() -> None:
    data = load_temperature()
    found = settings_sweep(data, setting="n_epochs", values=[1, 3], **SMALL)
    single = sigma2_sweep(data, **SMALL, n_epochs=1)
    assert np.array_equal(found.results[0].gnmse, single.gnmse)
    assert found.results[1].settings["n_epochs"] == 3
    frame = found.to_frame()
    assert list(frame.columns) == ["n_epochs", "repeat", "sigma2", "gnmse", "range"]
    assert len(frame) == 2 * 3 * 4
    assert repr(found).count("\n") == 2


def test_settings_sweep_refuses_bad_arguments() -> None:
    X = sp.eye_array(20, format="csr")
    with pytest.raises(ValueError, match=r"values must be a sequence of numbers.* got 3"):
        settings_sweep(X, np.arange(20.0), setting="n_epochs", values=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"values must be .* at least one, got \[\]"):
        settings_sweep(X, np.arange(20.0), setting="n_epochs", values=[])
    with pytest.raises(ValueError, match="setting must be one of"):
        settings_sweep(X, np.arange(20.0), setting="sigma2", values=[1])
    with pytest.raises(ValueError, match="n_epochs varies: give its values"):
        settings_sweep(X, np.arange(20.0), setting="n_epochs", values=[1], n_epochs=[1, 2])
