"""Plot GNMSE over the kernel variance: one curve with the four ranges, or a curve per setting."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from gradraker.plotting.figure import (
    BLACK,
    BLUE,
    DARK_GREY,
    RANGE_TINTS,
    VERMILION,
    Axes,
    DrawnDisplay,
    draw_spines,
    put_legend_above,
)
from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.varied_setting import SettingsSweep

_SYMBOLS = {"n_frequencies": "D", "learning_rate": r"\eta", "n_epochs": "E"}


def plot_sweep(
    result: SweepResult,
    *,
    ranges: bool = True,
    marks: Mapping[str, float] | None = None,
    ax: "Axes | None" = None,
) -> DrawnDisplay:
    """Draw mean GNMSE over σ², with its standard error, the four ranges and σ²_ed.

    Boundaries are medians over repeats. The band is one standard error of the mean on both
    sides; with a single repeat there is no band.

    Parameters
    ----------
    result : SweepResult
        Result of :func:`gradraker.sigma2_sweep`.
    ranges : bool, default=True
        Whether the four ranges are shaded.
    marks : mapping of str to float, optional
        Further variances to mark by thin lines, by their labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> from gradraker.plotting import plot_sweep
    >>> display = plot_sweep(sigma2_sweep(load_temperature(), n_repeats=2))
    >>> [text.get_text() for text in display.ax_.texts]
    ['Chaos', 'Extending', 'Disturbing', 'Averaging']
    """
    return DrawnDisplay(lambda axes: _draw_sweep(axes, result, ranges, marks or {})).plot(ax=ax)


def _draw_sweep(
    axes: "Axes", result: SweepResult, ranges: bool, marks: Mapping[str, float]
) -> None:
    mean = result.mean
    if ranges:
        _shade_ranges(axes, result)
    _draw_curve(axes, result, colour=BLUE, label="GNMSE")
    _mark_ed(axes, result)
    for style, (label, sigma2) in zip(cycle((":", "-.")), marks.items(), strict=False):
        axes.axvline(sigma2, color=DARK_GREY, linewidth=1.1, linestyle=style, label=label)
    best = int(np.argmin(mean))
    label = rf"Best: $\sigma^2$ = {result.sigma2[best]:.3g}"
    axes.plot(
        result.sigma2[best], mean[best], "o", color=BLACK, markersize=5.0, zorder=4.0, label=label
    )
    _finish(axes, result)


def plot_settings_sweep(sweep: SettingsSweep, *, ax: "Axes | None" = None) -> DrawnDisplay:
    """Draw one curve of mean GNMSE over σ² for each value of D, η or E, from light to dark.

    A circle marks the smallest mean of a curve. If σ²_ed depends on the setting, it is a dashed
    line in the colour of each curve; otherwise a single line.

    Parameters
    ----------
    sweep : SettingsSweep
        Result of :func:`gradraker.sweep.settings_sweep`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.sweep import settings_sweep
    >>> found = settings_sweep(
    ...     load_temperature(), setting="learning_rate", values=[0.03, 0.1], n_repeats=2
    ... )
    >>> len(found.plot().ax_.get_legend().get_texts())
    3
    """
    return DrawnDisplay(lambda axes: _draw_settings(axes, sweep)).plot(ax=ax)


def _draw_settings(axes: "Axes", sweep: SettingsSweep) -> None:
    symbol = _SYMBOLS[sweep.setting]
    ed_varies = len({float(result.median_boundaries[1]) for result in sweep.results}) > 1
    colours = _choose_colours(len(sweep.results))
    for value, result, colour in zip(sweep.values, sweep.results, colours, strict=True):
        _draw_curve(axes, result, colour=colour, label=rf"${symbol}$ = {value:g}")
        best = int(np.argmin(result.mean))
        axes.plot(
            result.sigma2[best], result.mean[best], "o", color=colour, markersize=4.5, zorder=4.0
        )
        if ed_varies:
            axes.axvline(result.median_boundaries[1], color=colour, linewidth=1.0, linestyle="--")
    first = sweep.results[0]
    if ed_varies:
        axes.plot([], [], color=DARK_GREY, linewidth=1.0, linestyle="--", label=r"$\sigma^2_{ed}$")
    else:
        _mark_ed(axes, first)
    _finish(axes, first)


def _draw_curve(axes: "Axes", result: SweepResult, *, colour: str, label: str) -> None:
    mean, error = result.mean, result.standard_error
    if np.isfinite(error).all():
        low, high = mean - error, mean + error
        axes.fill_between(result.sigma2, low, high, color=colour, alpha=0.3, linewidth=0.0)
    axes.plot(result.sigma2, mean, color=colour, linewidth=1.6, label=label)


def _mark_ed(axes: "Axes", result: SweepResult) -> None:
    ed = float(result.median_boundaries[1])
    if np.isfinite(ed):
        label = rf"$\sigma^2_{{ed}}$ = {ed:.3g}"
        axes.axvline(ed, color=VERMILION, linewidth=1.4, linestyle="--", label=label)


def _shade_ranges(axes: "Axes", result: SweepResult) -> None:
    boundaries = result.median_boundaries
    if not np.isfinite(boundaries).all():
        return
    low, high = float(result.sigma2[0]), float(result.sigma2[-1])
    edges = np.clip([low, *boundaries, high], low, high)
    width = np.log(high / low)
    for i, (name, colour) in enumerate(RANGE_TINTS.items()):
        if edges[i] == edges[i + 1]:
            continue
        axes.axvspan(edges[i], edges[i + 1], color=colour, linewidth=0.0, zorder=0.0)
        # A range may be too narrow for its name.
        if np.log(edges[i + 1] / edges[i]) > 0.12 * width:
            middle, above = float(np.sqrt(edges[i] * edges[i + 1])), axes.get_xaxis_transform()
            style: dict[str, Any] = {"ha": "center", "va": "top", "color": DARK_GREY}
            axes.text(middle, 0.985, name, transform=above, fontsize=8.0, **style)


def _choose_colours(n: int) -> list[str]:
    """Choose colours from light to dark, which are distinguishable in greyscale too."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in colormaps["viridis"](np.linspace(0.85, 0.0, n))]


def _finish(axes: "Axes", result: SweepResult) -> "Axes":
    sigma2, n_repeats = result.sigma2, result.n_repeats
    name = str(result.settings["data"]["name"]).replace("$", r"\$")  # no math text
    repeats = f"mean of {n_repeats} repeats ± standard error" if n_repeats > 1 else "one repeat"
    axes.set(xscale="log", xlabel=r"Kernel variance $\sigma^2$", ylabel="GNMSE")
    if sigma2.size > 1:
        axes.set_xlim(sigma2[0], sigma2[-1])
    low, high = axes.get_ylim()
    axes.set_ylim(max(0.0, low), high + 0.09 * (high - low))  # room for the names of the ranges
    draw_spines(axes)
    title = {"title": f"{name}: {repeats}", "title_fontsize": "small", "alignment": "left"}
    n_columns = 2 if len(axes.get_legend_handles_labels()[1]) == 4 else 3
    spacing = {"handletextpad": 0.5, "columnspacing": 1.2}
    put_legend_above(axes, ncols=n_columns, fontsize=8.0, **title, **spacing)
    return axes
