"""Figures of a prediction job: the chosen variance, held-out predictions and their errors."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._validation import check_positive
from gradraker.plotting.figure import (
    BLACK,
    BLUE,
    DARK_GREY,
    LIGHT_GREY,
    MANY_POINTS,
    RANGE_TINTS,
    VERMILION,
    Axes,
    DrawnDisplay,
    check_column,
    draw_points,
    draw_spines,
    put_legend_above,
)

# Decades of margin on both sides of the boundaries and the variance.
_MARGIN_DECADES = 0.8


def plot_sigma2_ranges(
    boundaries: ArrayLike, sigma2: float, *, ax: "Axes | None" = None
) -> DrawnDisplay:
    """Draw the four ranges of σ² on a logarithmic axis, with the variance in use marked.

    Parameters
    ----------
    boundaries : array-like of 3 floats
        σ²_ce < σ²_ed < σ²_da, between chaos, extending, disturbing and averaging.
    sigma2 : float
        The variance in use.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker.plotting import plot_sigma2_ranges
    >>> display = plot_sigma2_ranges([0.2, 5.0, 140.0], 5.0)
    >>> [text.get_text() for text in display.ax_.texts][:4]
    ['Chaos', 'Extending', 'Disturbing', 'Averaging']
    """
    inner = check_column("boundaries", boundaries, 3)
    if not (inner[0] > 0.0 and np.all(np.diff(inner) >= 0.0)):
        raise ValueError(f"boundaries must be positive and must not fall, got {inner.tolist()}")
    check_positive("sigma2", sigma2)
    return DrawnDisplay(lambda axes: _draw_ranges(axes, inner, sigma2), 6.6, 1.55).plot(ax=ax)


def _draw_ranges(axes: "Axes", inner: NDArray[np.float64], sigma2: float) -> None:
    factor = 10.0**_MARGIN_DECADES
    low, high = min(inner[0], sigma2) / factor, max(inner[-1], sigma2) * factor
    edges = np.array([low, *inner, high])
    for i, (name, colour) in enumerate(RANGE_TINTS.items()):
        axes.axvspan(edges[i], edges[i + 1], color=colour, linewidth=0.0)
        middle = np.sqrt(edges[i] * edges[i + 1])
        # A range may be too narrow for its name.
        is_wide = np.log10(edges[i + 1] / edges[i]) > 0.11 * np.log10(high / low)
        axes.text(middle, 0.25, name if is_wide else "", ha="center", va="center", fontsize=8.5)
    for edge in inner:
        axes.axvline(edge, color=DARK_GREY, linewidth=0.8)
    axes.axvline(sigma2, color=BLACK, linewidth=2.0)
    axes.plot(sigma2, 0.62, marker="D", color=BLACK, markersize=6.0)
    left = sigma2 > np.sqrt(low * high)
    axes.annotate(
        rf"chosen: $\sigma^2$ = {sigma2:.4g}",
        (sigma2, 0.62),
        xytext=(-10.0 if left else 10.0, 0.0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=9.0,
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2.0},
    )
    axes.set(xscale="log", xlim=(low, high), ylim=(0.0, 0.9), yticks=[])
    axes.set_xlabel(r"Kernel variance $\sigma^2$ (logarithmic axis)")
    axes.spines[["top", "left", "right"]].set_visible(False)


def plot_held_out(
    values: ArrayLike,
    predictions: ArrayLike,
    *,
    mean: float | None = None,
    ax: "Axes | None" = None,
) -> DrawnDisplay:
    """Draw predictions of held-out nodes against their values.

    Parameters
    ----------
    values, predictions : array-like of shape (n,)
        True values and predictions.
    mean : float, optional
        Prediction of a model that predicts the mean, drawn as a dashed line.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker.plotting import plot_held_out
    >>> plot_held_out([1.0, 2.0], [1.5, 1.8], mean=1.4).ax_.get_xlabel()
    'Value'
    """
    true = check_column("values", values)
    predicted = check_column("predictions", predictions, true.size)
    return DrawnDisplay(lambda axes: _draw_points(axes, true, predicted, mean), 4.2, 3.7).plot(
        ax=ax
    )


def _draw_points(
    axes: "Axes", true: NDArray[np.float64], predicted: NDArray[np.float64], mean: float | None
) -> None:
    both = np.concatenate([true, predicted])
    room = 0.05 * (float(np.ptp(both)) or 1.0)
    ends = (float(both.min()) - room, float(both.max()) + room)
    axes.plot(ends, ends, color=DARK_GREY, linewidth=1.0, zorder=1.0, label="No error")
    if mean is not None:
        axes.axhline(mean, color=VERMILION, lw=1.2, ls="--", zorder=1.0, label="The mean")
    style = {"color": BLUE, "alpha": 0.75, "zorder": 2.0, "rasterized": true.size > MANY_POINTS}
    size = float(np.clip(60.0 / np.sqrt(true.size), 1.5, 5.0))
    draw_points(axes, true, predicted, "o", markersize=size, label="Held-out node", **style)
    axes.set(xlim=ends, xlabel="Value", ylabel="Prediction")
    _finish(axes)


def plot_errors(
    values: ArrayLike,
    predictions: ArrayLike,
    *,
    mean: float | None = None,
    ax: "Axes | None" = None,
) -> DrawnDisplay:
    """Draw a histogram of residuals, prediction minus value, of held-out nodes.

    Parameters
    ----------
    values, predictions : array-like of shape (n,)
        True values and predictions.
    mean : float, optional
        If given, the residuals of predicting this number are drawn as an outline.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker.plotting import plot_errors
    >>> plot_errors([1.0, 2.0], [1.5, 1.8], mean=1.4).ax_.get_ylabel()
    'Nodes'
    """
    true = check_column("values", values)
    predicted = check_column("predictions", predictions, true.size)
    return DrawnDisplay(lambda axes: _draw_bars(axes, true, predicted, mean), 4.2, 3.7).plot(ax=ax)


def _draw_bars(
    axes: "Axes", true: NDArray[np.float64], predicted: NDArray[np.float64], mean: float | None
) -> None:
    from matplotlib.ticker import MaxNLocator

    residuals = predicted - true
    mean_residuals = residuals[:0] if mean is None else mean - true
    bins = _make_bins(np.concatenate([residuals, mean_residuals]), true.size)
    axes.axvline(0.0, color=DARK_GREY, linewidth=1.0, zorder=1.0)
    axes.hist(residuals, bins=bins.tolist(), color=BLUE, alpha=0.75, label="Residual", zorder=2.0)
    if mean is not None:
        outline: dict[str, Any] = {"histtype": "step", "color": VERMILION, "zorder": 3.0}
        label = "Residual of the mean"
        axes.hist(mean_residuals, bins=bins.tolist(), lw=1.4, ls="--", label=label, **outline)
    axes.set(xlabel="Prediction − value", ylabel="Nodes")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _finish(axes)


def plot_distribution(
    values: ArrayLike, predictions: ArrayLike, *, ax: "Axes | None" = None
) -> DrawnDisplay:
    """Draw histograms of known values and of predictions, as shares of their nodes.

    Parameters
    ----------
    values, predictions : array-like
        Known values, and predictions of other nodes.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default a new figure that pyplot does not manage.

    Returns
    -------
    DrawnDisplay
        With ``ax_`` and ``figure_``; ``plot(ax=...)`` draws it again elsewhere.

    Examples
    --------
    >>> from gradraker.plotting import plot_distribution
    >>> plot_distribution([1.0, 2.0, 2.5], [1.5, 1.8]).ax_.get_xlabel()
    'Value'
    """
    known, predicted = check_column("values", values), check_column("predictions", predictions)
    return DrawnDisplay(lambda axes: _draw_shares(axes, known, predicted), 6.6, 2.6).plot(ax=ax)


def _draw_shares(axes: "Axes", known: NDArray[np.float64], predicted: NDArray[np.float64]) -> None:
    both = np.concatenate([known, predicted])
    low, high = float(both.min()), float(both.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    n_bins = int(np.clip(2.0 * np.sqrt(predicted.size), 6, 40))
    bins = np.linspace(low, high, n_bins + 1).tolist()
    shares = [np.full(part.size, 1.0 / part.size) for part in (known, predicted)]
    axes.hist(predicted, bins, weights=shares[1], color=BLUE, alpha=0.75, label="Predictions")
    outline: dict[str, Any] = {"histtype": "step", "color": VERMILION, "lw": 1.4, "ls": "--"}
    axes.hist(known, bins, weights=shares[0], label="Known values", **outline)
    axes.set(xlabel="Value", ylabel="Share of the nodes")
    _finish(axes)


def _make_bins(residuals: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Make the edges of bins of equal width, one of which is 0."""
    low, high = min(float(residuals.min()), 0.0), max(float(residuals.max()), 0.0)
    n_bins = int(np.clip(2.0 * np.sqrt(n), 6, 40))
    width = (high - low) / n_bins
    if not width > 0.0:
        return np.array([-0.5, 0.0, 0.5])
    first, last = np.floor(low / width), np.ceil(high / width)
    return np.arange(first, last + 1.0) * width


def _finish(axes: "Axes") -> None:
    axes.grid(color=LIGHT_GREY, linewidth=0.6, zorder=0.0)
    axes.set_axisbelow(True)
    draw_spines(axes)
    put_legend_above(axes, ncols=3, fontsize=8.5, handletextpad=0.5, columnspacing=1.2)
