"""True and predicted node values, drawn over a position such as the altitude."""

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker.plotting.figure import BLUE, GREY, VERMILION, checked_column, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Shapes differ as colours do, so that the figure survives a black and white printer. In
# points, so chosen that the shapes look equally large; known values stand back.
MARKER_SIZES = {"s": 2.6, "o": 4.2, "D": 3.6}


class PredictedValuesDisplay:
    """True and predicted values of nodes by position.

    A thin grey line joins the true and the predicted value of the same node, so its
    length is the error.

    Parameters
    ----------
    position : array-like of shape (n,)
        Where the nodes are on the horizontal axis, such as their altitude.
    y_true : array-like of shape (n,)
        True values.
    y_pred : array-like of shape (n,)
        Predicted values. Those of sampled nodes are not drawn and may be NaN.
    sampled : array-like of n bool, optional
        True for the nodes whose values the learner knew. They are drawn as small
        grey dots. By default no node is.
    position_label, value_label : str
        Labels of the axes, with units.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on, after ``plot``.
    figure_ : matplotlib.figure.Figure
        The figure of these axes, after ``plot``.

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

    ax_: "Axes"
    figure_: "Figure"

    def __init__(
        self,
        position: ArrayLike,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sampled: ArrayLike | None = None,
        position_label: str,
        value_label: str,
    ) -> None:
        self.position = checked_column("position", position)
        n = len(self.position)
        self.sampled = _checked_sampled(sampled, n=n)
        self.y_true = checked_column("y_true", y_true, n)
        self.y_pred = checked_column("y_pred", y_pred, n, may_be_nan=self.sampled)
        self.position_label = position_label
        self.value_label = value_label

    @classmethod
    def from_predictions(
        cls,
        position: ArrayLike,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sampled: ArrayLike | None = None,
        position_label: str,
        value_label: str,
        ax: "Axes | None" = None,
    ) -> Self:
        """Make the display and plot it; parameters as for the class and for ``plot``."""
        display = cls(
            position,
            y_true,
            y_pred,
            sampled=sampled,
            position_label=position_label,
            value_label=value_label,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on ``ax``, or on a new figure that no global state knows of.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        PredictedValuesDisplay
            Itself, with ``ax_`` and ``figure_`` set.
        """
        axes = new_axes() if ax is None else ax
        tested = ~self.sampled
        axes.vlines(
            self.position[tested],
            self.y_true[tested],
            self.y_pred[tested],
            colors=GREY,
            linewidths=0.7,
            zorder=1,
        )
        if self.sampled.any():
            self._draw(axes, self.y_true, self.sampled, "s", GREY, label="Known to the learner")
        self._draw(axes, self.y_true, tested, "o", BLUE, label="True")
        self._draw(axes, self.y_pred, tested, "D", VERMILION, label="Predicted")
        axes.set_xlabel(self.position_label)
        axes.set_ylabel(self.value_label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        self.ax_ = axes
        # The figure of a figure is itself, that of a subfigure the whole one.
        self.figure_ = axes.figure.figure
        return self

    def _draw(
        self,
        axes: "Axes",
        y: NDArray[np.float64],
        which: NDArray[np.bool_],
        marker: str,
        colour: str,
        *,
        label: str,
    ) -> None:
        axes.plot(
            self.position[which],
            y[which],
            linestyle="none",
            marker=marker,
            markersize=MARKER_SIZES[marker],
            markeredgewidth=0.0,
            color=colour,
            label=label,
        )


def _checked_sampled(sampled: ArrayLike | None, *, n: int) -> NDArray[np.bool_]:
    if sampled is None:
        return np.zeros(n, dtype=np.bool_)
    checked = np.array(sampled)
    # Node numbers would pass for a mask if they were turned into bool silently.
    if checked.dtype != np.bool_ or checked.shape != (n,):
        raise ValueError(
            f"sampled must be an array of {n} bool, true for nodes whose values were known; "
            f"got shape {checked.shape} of {checked.dtype}"
        )
    return checked
