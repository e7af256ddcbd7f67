"""True and predicted node values, drawn over a position such as the altitude."""

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker.plotting.figure import BLUE, GREY, VERMILION, Display, check_column, draw_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PredictedValuesDisplay(Display):
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
        Predicted values. Those of known nodes are not drawn and may be NaN.
    known : array-like of n bool, optional
        True for the nodes whose values the learner knew. They are drawn as small
        grey dots. By default no node is.
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
        # Shapes differ as colours do, so that the figure survives a black and white printer. Sizes
        # are such that the shapes look equally large; known values stand back.
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
    # Node numbers would pass for a mask if they were turned into bool silently.
    if checked.dtype != np.bool_ or checked.shape != (n,):
        raise ValueError(
            f"known must be an array of {n} bool, true for nodes whose values were known; "
            f"got shape {checked.shape} of {checked.dtype}"
        )
    return checked
