"""Spreads by evidence: a falling curve of mean absolute errors."""

import numpy as np
import pytest

from gradraker.models.walks.iterative.evidence import fit_spread_curve


def test_few_nodes_have_one_spread() -> None:
    errors = np.array([1.0, 2.0, 3.0])
    curve = fit_spread_curve(np.array([0.0, 1.0, 2.0]), errors)
    np.testing.assert_allclose(curve.compute(np.array([-9.0, 0.5, 9.0])), 2.0)


def test_spreads_fall_and_are_means_of_steps() -> None:
    rng = np.random.default_rng(0)
    evidence = rng.random(400)
    errors = np.abs(rng.normal(size=400)) * (2.0 - evidence)
    curve = fit_spread_curve(evidence, errors)
    assert len(curve.evidence) == 10  # 40 nodes in each step
    spreads = curve.compute(np.linspace(-0.5, 1.5, 101))
    assert (np.diff(spreads) <= 1e-12).all()
    # A pooled mean of absolute errors keeps the mean of all.
    assert curve.spreads.mean() == pytest.approx(errors.mean(), rel=1e-9)
    # Mean absolute errors are √(2/π) (2 − evidence), with a standard error of 0.6/√40 = 0.1.
    np.testing.assert_allclose(curve.spreads[[0, -1]], [1.56, 0.84], atol=0.4)


def test_rising_errors_have_one_spread() -> None:
    evidence = np.arange(200.0)
    curve = fit_spread_curve(evidence, 1.0 + evidence)
    np.testing.assert_allclose(curve.compute(evidence), 100.5)


def test_spreads_are_positive_where_errors_vanish() -> None:
    curve = fit_spread_curve(np.arange(80.0), np.zeros(80))
    assert (curve.compute(np.array([0.0, 50.0])) > 0.0).all()
    curve = fit_spread_curve(np.arange(80.0), np.where(np.arange(80) < 40, 1.0, 0.0))
    assert curve.compute(np.array([79.0]))[0] == pytest.approx(5e-4)
