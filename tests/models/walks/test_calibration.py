"""Probabilities from scores: fitted, and how far off they are."""

from typing import Any

import numpy as np
import pytest

from gradraker.models.walks.calibration import Calibration, calibration_error, fit_calibration


def _drawn(n: Any, calibration: Any) -> Any:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.full(3, 0.7), n) * 1.3 - 0.1  # they leave [0, 1], and sum to 1
    p = calibration.compute_probabilities(scores)
    return scores, p, np.array([rng.choice(3, p=row) for row in p])


def test_fit_calibration_makes_the_labels_most_likely() -> None:
    truth = Calibration(floor=0.05, power=1.5)
    scores, _, codes = _drawn(2000, truth)
    found = fit_calibration(scores, codes)

    def loss(calibration: Any) -> Any:
        return -calibration.log_probabilities(scores)[np.arange(2000), codes].mean()

    for factor in (0.97, 1.03):
        assert loss(found) <= loss(Calibration(found.floor * factor, found.power))
        assert loss(found) <= loss(Calibration(found.floor, found.power * factor))
    # 2000 labels leave a standard error of some 5 % of the power: 4 of them.
    assert found.power == pytest.approx(1.5, rel=0.2)


def test_calibration_error_is_small_for_true_probabilities_and_large_for_bold_ones() -> None:
    scores, p, codes = _drawn(4000, Calibration(floor=0.05, power=0.7))
    # Ten bins of some 400 nodes: each is off by √(0.25/400) = 0.025 at most, on average.
    assert calibration_error(p, codes) < 0.03
    bold = Calibration(floor=0.05, power=4.0).compute_probabilities(scores)
    assert calibration_error(bold, codes) > 0.15
