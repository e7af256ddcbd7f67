"""Figures of a prediction job, read back from the axes."""

from typing import Any

import numpy as np
import pytest

from gradraker.plotting import plot_errors, plot_held_out, plot_sigma2_ranges


def test_ranges_figure_marks_the_choice() -> None:
    axes = plot_sigma2_ranges([0.2, 5.0, 140.0], 7.5).ax_
    (marker,) = [line for line in axes.get_lines() if line.get_marker() == "D"]
    assert marker.get_xdata()[0] == 7.5  # type: ignore[index]
    lines = {line.get_xdata()[0] for line in axes.get_lines()}  # type: ignore[index]
    assert lines == {0.2, 5.0, 140.0, 7.5}
    low, high = axes.get_xlim()
    assert low < 0.2 < 140.0 < high
    assert axes.get_xscale() == "log"
    assert any("7.5" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("sigma2", [1e-9, 1e9])
def test_ranges_figure_shows_a_choice_far_outside(sigma2: Any) -> None:
    low, high = plot_sigma2_ranges([0.2, 5.0, 140.0], sigma2).ax_.get_xlim()
    assert low < min(sigma2, 0.2)
    assert high > max(sigma2, 140.0)


@pytest.mark.parametrize(
    ("boundaries", "sigma2", "message"),
    [
        ([1.0, 2.0], 1.0, "boundaries must have shape"),
        ([2.0, 1.0, 3.0], 1.0, "boundaries must be positive"),
        ([0.0, 1.0, 3.0], 1.0, "boundaries must be positive"),
        ([1.0, 2.0, 3.0], -1.0, "sigma2 must be a positive number"),
    ],
)
def test_ranges_figure_refuses_boundaries_and_variances_that_are_not_positive(
    boundaries: list[float], sigma2: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        plot_sigma2_ranges(boundaries, sigma2)


def test_held_out_figure_has_the_points() -> None:
    axes = plot_held_out([1.0, 2.0, 4.0], [1.5, 1.8, 3.0], mean=2.2).ax_
    points = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}  # type: ignore[union-attr]
    assert points["Held-out node"] == [[1.0, 1.5], [2.0, 1.8], [4.0, 3.0]]
    assert points["The mean"][0][1] == 2.2


def test_errors_figure_counts_every_residual() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    predictions = values + rng.normal(size=200)
    axes = plot_errors(values, predictions, mean=0.0).ax_
    bars = [patch for patch in axes.patches if hasattr(patch, "get_height")]
    assert sum(bar.get_height() for bar in bars) == 200
    edges = [bar.get_x() for bar in bars]  # type: ignore[attr-defined]
    assert np.abs(edges).min() == pytest.approx(0.0, abs=1e-12)  # no bin mixes signs
    plot_errors([1.0, 1.0], [1.0, 1.0])  # no residual at all
