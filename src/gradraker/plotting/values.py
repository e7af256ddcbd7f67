"""Plot values of nodes: predictions by position, differences by distance of adjacency vectors."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker.explain.transfer import SimilarityTransfer, similarity_transfer
from gradraker.plotting.figure import (
    BLUE,
    GREY,
    VERMILION,
    Axes,
    Display,
    add_titled_legend,
    check_column,
    draw_points,
)

# More pairs than this are counted in cells: points would hide each other.
_MAX_POINTS = 3000
_N_CELLS = 60
# Groups of pairs by distance, for the running median.
_N_GROUPS = 25


class PredictedValuesDisplay(Display):
    """True and predicted values of nodes by position.

    A thin grey line joins the true and the predicted value of the same node, so its
    length is the error.

    Parameters
    ----------
    position : array-like of shape (n,)
        Positions of the nodes on the horizontal axis, such as their altitude.
    y_true : array-like of shape (n,)
        True values.
    y_pred : array-like of shape (n,)
        Predicted values. Those of known nodes are not drawn and may be NaN.
    known : array-like of n bool, optional
        True for nodes whose values the learner knew; they are drawn as small grey dots. By
        default no node is known.
    position_label, value_label : str
        Labels of the axes, with units.

    Examples
    --------
    >>> from gradraker.plotting import PredictedValuesDisplay
    >>> display = PredictedValuesDisplay.from_predictions(
    ...     [400.0, 1600.0, 2500.0],
    ...     [0.1, -5.3, -7.9],
    ...     [-0.4, -4.9, -8.3],
    ...     position_label="Altitude (m a.s.l.)",
    ...     value_label="January mean temperature (°C)",
    ... )
    >>> display.ax_.get_xlabel()
    'Altitude (m a.s.l.)'
    """

    def __init__(
        self,
        position: ArrayLike,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        known: ArrayLike | None = None,
        position_label: str,
        value_label: str,
    ) -> None:
        self.position = check_column("position", position)
        n = len(self.position)
        self.known = _check_known(known, n=n)
        self.y_true = check_column("y_true", y_true, n)
        self.y_pred = check_column("y_pred", y_pred, n, may_be_nan=self.known)
        self.position_label = position_label
        self.value_label = value_label

    @classmethod
    def from_predictions(
        cls,
        position: ArrayLike,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        known: ArrayLike | None = None,
        position_label: str,
        value_label: str,
        ax: "Axes | None" = None,
    ) -> Self:
        """Make the display and plot it; parameters as for the class and for ``plot``."""
        labels = {"position_label": position_label, "value_label": value_label}
        return cls(position, y_true, y_pred, known=known, **labels).plot(ax=ax)

    def _draw(self, axes: "Axes") -> None:
        unknown = ~self.known
        x, true, predicted = self.position[unknown], self.y_true[unknown], self.y_pred[unknown]
        axes.vlines(x, true, predicted, colors=GREY, linewidths=0.7, zorder=1)
        # Shapes differ as well as colours, so that the figure is readable in black and white. Sizes
        # make the shapes look equally large; known values are smaller.
        series = [
            (self.y_true, unknown, "o", 4.2, BLUE, "True"),
            (self.y_pred, unknown, "D", 3.6, VERMILION, "Predicted"),
        ]
        if self.known.any():
            series.insert(0, (self.y_true, self.known, "s", 2.6, GREY, "Known to the learner"))
        for y, nodes, marker, size, colour, label in series:
            style = {"markersize": size, "color": colour, "label": label}
            draw_points(axes, self.position[nodes], y[nodes], marker, **style)
        axes.set_xlabel(self.position_label)
        axes.set_ylabel(self.value_label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)


def _check_known(known: ArrayLike | None, *, n: int) -> NDArray[np.bool_]:
    if known is None:
        return np.zeros(n, dtype=np.bool_)
    checked = np.array(known)
    # Node indices must not be converted to a mask silently.
    if checked.dtype != np.bool_ or checked.shape != (n,):
        raise ValueError(
            f"known must be an array of {n} bool, true for nodes whose values were known; "
            f"got shape {checked.shape} of {checked.dtype}"
        )
    return checked


class SimilarityTransferDisplay(Display):
    """Difference of values against squared distance of rows, over pairs of nodes.

    The paper's figures 7 and 8: where SKG works, small distances come with small differences.
    Up to 3000 pairs are points; more are counted in cells. The line is the median of the
    differences of pairs at about the same distance, between their quartiles.

    Parameters
    ----------
    squared_distances : array-like of shape (n_pairs,)
        ‖a_i − a_j‖².
    value_differences : array-like of shape (n_pairs,)
        ``|y_i − y_j|`` of the same pairs.
    title : str, optional
        Head of the figure.

    Attributes
    ----------
    distances, quartiles : ndarray of shape (n_groups,) and (3, n_groups)
        Mean squared distance of pairs at about the same distance; lower quartile, median
        and upper quartile of their differences.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.plotting import SimilarityTransferDisplay
    >>> data = load_temperature()
    >>> display = SimilarityTransferDisplay.from_data(data.adjacency, data.values)
    >>> display.ax_.get_ylabel()
    'Difference of scaled values $|y_i-y_j|$'
    """

    def __init__(
        self,
        squared_distances: ArrayLike,
        value_differences: ArrayLike,
        *,
        title: str | None = None,
    ) -> None:
        self.squared_distances = check_column("squared_distances", squared_distances)
        n = self.squared_distances.size
        self.value_differences = check_column("value_differences", value_differences, n)
        self.title = title
        self.distances, self.quartiles = _compute_quartiles(
            self.squared_distances, self.value_differences
        )

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        n_pairs: int = 100_000,
        random_state: int | np.random.RandomState | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Make the display of rows and values and plot it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, M)
            Adjacency vectors.
        y : array-like of shape (n,)
            Values of the nodes.
        n_pairs, random_state
            As for :func:`gradraker.explain.similarity_transfer`.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        SimilarityTransferDisplay
        """
        # The picture does not depend on the number of neighbours; 1 works with the fewest rows.
        transfer = similarity_transfer(
            X, y, n_neighbors=1, n_pairs=n_pairs, random_state=random_state
        )
        return cls(transfer.squared_distances, transfer.value_differences).plot(ax=ax)

    @classmethod
    def from_transfer(cls, transfer: SimilarityTransfer, *, ax: "Axes | None" = None) -> Self:
        """Draw the pairs of a result, with its numbers as title."""
        title = (
            f"Relative error {transfer.relative_error:.2f}, "
            f"rank correlation {transfer.rank_correlation:.2f}"
        ).replace("-", "−")  # a minus sign, as on the axes
        pairs = transfer.squared_distances, transfer.value_differences
        return cls(*pairs, title=title).plot(ax=ax)

    def _draw(self, axes: "Axes") -> None:
        if self.squared_distances.size > _MAX_POINTS:
            self._draw_cells(axes)
        else:
            x, y = self.squared_distances, self.value_differences
            draw_points(
                axes, x, y, "o", markersize=3.0, color=BLUE, alpha=0.35, label="Pair of nodes"
            )
        self._draw_quartiles(axes)
        axes.set_xlabel(r"Squared distance of adjacency vectors $\|d_{i,j}\|^2$")
        axes.set_ylabel("Difference of scaled values $|y_i-y_j|$")
        axes.spines[["top", "right"]].set_visible(False)
        add_titled_legend(axes, title=self.title)

    def _draw_cells(self, axes: "Axes") -> None:
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, LogNorm

        x, y = self.squared_distances, self.value_differences
        columns, lines = _choose_edges(x), _choose_edges(y)
        counts, _, _ = np.histogram2d(x, y, bins=(columns, lines))
        cells = axes.pcolormesh(
            columns,
            lines,
            np.ma.masked_equal(counts.T, 0.0),
            # Without its lightest part, so that a single pair is not white.
            cmap=ListedColormap(colormaps["Blues"](np.linspace(0.2, 1.0, 256))),
            norm=LogNorm(1.0, max(float(counts.max()), 2.0)),
            rasterized=True,
        )
        axes.figure.colorbar(cells, ax=axes, label="Pairs of nodes in a cell", pad=0.02)

    def _draw_quartiles(self, axes: "Axes") -> None:
        from matplotlib.patheffects import Normal, Stroke

        outline = [Stroke(linewidth=2.6, foreground="white"), Normal()]
        low, median, high = self.quartiles
        style: dict[str, Any] = {"color": VERMILION, "path_effects": outline}
        for quartile, label in ((low, "Quartiles"), (high, None)):
            axes.plot(self.distances, quartile, "--", linewidth=0.9, label=label, **style)
        axes.plot(
            self.distances, median, "D-", linewidth=1.4, markersize=2.8, label="Median", **style
        )


def _compute_quartiles(
    distances: NDArray[np.float64], differences: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Group pairs by distance, and return the mean distance and the quartiles of each group."""
    order = np.argsort(distances, kind="stable")
    x, y = distances[order], differences[order]
    min_size = max(1, x.size // _N_GROUPS)
    firsts = np.flatnonzero(np.append(True, np.diff(x) > 0.0))  # equal distances stay together
    starts = [0]
    for first in firsts.tolist():
        if first - starts[-1] >= min_size and x.size - first >= min_size:
            starts.append(first)
    parts = [slice(a, b) for a, b in zip(starts, [*starts[1:], x.size], strict=True)]
    means = np.array([x[part].mean() for part in parts])
    quartiles = [np.quantile(y[part], [0.25, 0.5, 0.75]) for part in parts]
    return means, np.array(quartiles, dtype=np.float64).T


def _choose_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Choose edges of about 60 cells; if values are multiples of a step, cells hold whole steps."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    # Distinct up to rounding: differences of multiples of 1/6 are not exact.
    distinct = np.unique(np.round((values - low) / (high - low), 9))
    n_steps = 1.0 / float(np.diff(distinct).min())
    places = distinct * n_steps
    if np.abs(places - np.round(places)).max() < 1e-3:
        step = (high - low) / round(n_steps)
        # All cells hold the same number of multiples; otherwise there would be stripes.
        per_cell = -(-round(n_steps) // _N_CELLS)
        n_cells = round(n_steps) // per_cell + 1
        return np.asarray(low + step * (per_cell * np.arange(n_cells + 1) - 0.5))
    return np.asarray(np.linspace(low, high, _N_CELLS + 1))
