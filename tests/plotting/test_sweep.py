"""Figures of a sweep, read back from the axes."""

import math
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

from axes_content import legend, lines
from gradraker import load_temperature
from gradraker.plotting import plot_sweep, write_figure
from gradraker.plotting.figure import RANGE_TINTS, make_axes
from gradraker.sweep import SettingsSweep, SweepResult, settings_sweep
from sweep_by_hand import by_hand, made


def spans(axes: Any) -> dict[str, Any]:
    """Where each tint begins and ends."""
    found = {}
    for patch in axes.patches:
        (low, _), (high, _) = (
            patch.get_extents().transformed(axes.transData.inverted()).get_points()
        )
        found[to_hex(patch.get_facecolor()).upper()] = (low, high)
    return found


def test_the_curve_is_the_mean_and_the_band_its_standard_error() -> None:
    result = by_hand()
    axes = result.plot().ax_
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == r"Kernel variance $\sigma^2$"
    assert axes.get_ylabel() == "GNMSE"
    assert lines(axes)["GNMSE"].get_ydata().tolist() == pytest.approx([0.6, 0.3, 0.2, 0.2])
    (band,) = axes.collections
    edges = band.get_paths()[0].vertices
    at_first = sorted({round(y, 12) for x, y in edges if x == 0.1})  # type: ignore[arg-type, misc, str-unpack, union-attr]
    assert at_first == pytest.approx([0.5, 0.7])  # 0.6 ± 0.1
    title = axes.get_legend().get_title().get_text()  # type: ignore[union-attr]
    assert title == "Made by hand: mean of 2 repeats ± standard error"


def test_ranges_are_shaded_and_named() -> None:
    axes = by_hand().plot().ax_
    found = spans(axes)
    wanted = [(0.1, 0.5), (0.5, 5.0), (5.0, 50.0), (50.0, 100.0)]
    for tint, ends in zip(RANGE_TINTS.values(), wanted, strict=True):
        assert found[tint] == pytest.approx(ends)
    # The last range is too narrow for its name.
    assert [text.get_text() for text in axes.texts] == ["Chaos", "Extending", "Disturbing"]
    assert lines(axes)[r"$\sigma^2_{ed}$ = 5"].get_xdata() == [5.0, 5.0]
    assert lines(axes)[r"Best: $\sigma^2$ = 10"].get_xydata().tolist() == [[10.0, 0.2]]


def test_ranges_that_the_grid_does_not_reach_are_left_out() -> None:
    axes = made([[0.2, 0.1]] * 2, sigma2=(6.0, 40.0)).plot().ax_
    assert list(spans(axes)) == [RANGE_TINTS["Disturbing"]]
    assert axes.get_xlim() == (6.0, 40.0)


def test_one_repeat_has_no_band_and_no_boundaries_no_ranges() -> None:
    axes = made([[0.5, 0.3, 0.1, 0.2]], boundaries=(math.nan,) * 3).plot().ax_
    assert len(axes.collections) == 0
    assert len(axes.patches) == 0
    assert len(legend(axes)) == 2
    assert "one repeat" in axes.get_legend().get_title().get_text()  # type: ignore[union-attr]


def test_a_single_variance_can_be_drawn() -> None:
    assert made([[0.5], [0.4]], sigma2=(2.0,)).plot().ax_.get_xscale() == "log"


def test_dollar_signs_in_a_name_are_drawn_as_they_are() -> None:
    result = by_hand()
    settings = result.settings | {"data": {"name": r"$\no$"}}
    fields = (result.sigma2, result.gnmse, result.boundaries, result.squared_distances)
    axes = SweepResult(*fields, result.seconds, settings).plot().ax_
    axes.figure.figure.draw_without_rendering()
    assert axes.get_legend().get_title().get_text().startswith(r"\$\no\$: ")  # type: ignore[union-attr]


def test_given_axes_are_used() -> None:
    axes = make_axes()
    assert plot_sweep(by_hand(), ax=axes).ax_ is axes


def test_settings_have_a_curve_each_from_light_to_dark() -> None:
    slow, fast = by_hand(), made([[0.4, 0.2, 0.1, 0.2]] * 2)
    axes = SettingsSweep("learning_rate", (0.01, 0.1), (slow, fast)).plot().ax_
    assert legend(axes) == [r"$\eta$ = 0.01", r"$\eta$ = 0.1", r"$\sigma^2_{ed}$ = 5"]
    first, second = (lines(axes)[label] for label in legend(axes)[:2])
    assert second.get_ydata().tolist() == pytest.approx([0.4, 0.2, 0.1, 0.2])
    lightness = [sum(int(to_hex(c)[i : i + 2], 16) for i in (1, 3, 5)) for c in
                 (first.get_color(), second.get_color())]  # fmt: skip
    assert lightness[0] > lightness[1]
    assert len(axes.collections) == 2


def test_boundaries_that_depend_on_the_setting_are_drawn_for_each() -> None:
    few, many = by_hand(), made([[0.4, 0.2, 0.1, 0.2]] * 2, boundaries=(0.4, 4.0, 50.0))
    axes = SettingsSweep("n_frequencies", (50, 200), (few, many)).plot().ax_
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in dashed[:2]] == [5.0, 4.0]  # type: ignore[index]
    assert legend(axes) == ["$D$ = 50", "$D$ = 200", r"$\sigma^2_{ed}$"]


def test_settings_of_real_data_are_drawn() -> None:
    found = settings_sweep(load_temperature(), setting="n_epochs", values=[1, 2], n_repeats=2)
    assert legend(found.plot().ax_)[:2] == ["$E$ = 1", "$E$ = 2"]


def test_figures_with_another_suffix_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png, \.pdf"):
        write_figure(by_hand().plot().figure_, tmp_path / "figure.jpeg")
