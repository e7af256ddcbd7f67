"""Means, errors and ranges of a result."""

import numpy as np
import pytest

from gradraker import load_temperature, sigma2_sweep
from gradraker.sweep import SweepResult


def test_mean_standard_error_and_best_variance_of_a_result() -> None:
    found = SweepResult(
        np.array([1.0, 4.0]),
        np.array([[0.2, 0.5], [0.4, 0.9]]),
        np.array([[0.5, 2.0, 9.0], [0.5, 4.0, 9.0]]),
        np.ones((2, 2)),
        np.ones(2),
        {},
    )
    assert found.mean.tolist() == pytest.approx([0.3, 0.7])
    # Standard deviations are √2/10 and 2√2/10; over √2 repeats.
    assert found.standard_error.tolist() == pytest.approx([0.1, 0.2])
    assert found.best_ == 1.0
    assert found.median_boundaries.tolist() == [0.5, 3.0, 9.0]
    assert found.compute_mean_at(2.0) == pytest.approx(0.5)  # half-way on the logarithmic axis
    assert np.isnan(found.compute_mean_at(5.0))
    ranges = ["extending", "disturbing", "extending", "extending"]
    assert found.to_frame()["range"].tolist() == ranges


def test_one_repeat_has_no_standard_error() -> None:
    found = sigma2_sweep(load_temperature(), n_repeats=1, sigma2=[0.1, 2.0], n_frequencies=30)
    assert np.isnan(found.standard_error).all()
    assert "±" not in repr(found)
