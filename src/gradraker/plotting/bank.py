"""Plot member weights of a bank of kernels against time."""

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from gradraker.models.bank.gradraker_regressor import GradrakerRegressor
from gradraker.plotting.figure import Axes, Display, count_columns, put_legend_above

# Okabe and Ito's colours without the light yellow; when they repeat, the dashes change.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":", "-.")
# Sizes in a legend of small type: a sample line with its margins, a letter, a line of text.
_HANDLE_INCHES, _LETTER_INCHES, _LINE_INCHES = 0.5, 0.06, 0.17


class KernelWeightsDisplay(Display):
    """Member weights of a bank at each training step.

    Parameters
    ----------
    weights : array-like of shape (T, P)
        Member weights at the prediction of each step.
    labels : sequence of P str
        Names of the members.

    Examples
    --------
    >>> from gradraker import GradrakerRegressor, load_temperature
    >>> from gradraker.plotting import KernelWeightsDisplay
    >>> data = load_temperature()
    >>> model = GradrakerRegressor(keep_weights=True, random_state=0)
    >>> display = KernelWeightsDisplay.from_estimator(model.fit(data.adjacency, data.values))
    >>> display.ax_.get_xlabel()
    'Training step'
    """

    def __init__(self, weights: ArrayLike, *, labels: Sequence[str]) -> None:
        self.weights = np.array(weights, dtype=np.float64)
        self.labels = list(labels)
        if self.weights.ndim != 2 or self.weights.size == 0:
            raise ValueError(
                f"weights must have shape (T, P) with T, P > 0, got shape {self.weights.shape}"
            )
        if len(self.labels) != self.weights.shape[1]:
            raise ValueError(
                f"labels must have a label for each of {self.weights.shape[1]} members, "
                f"got {len(self.labels)}"
            )
        if not np.isfinite(self.weights).all():
            raise ValueError("weights holds NaN or infinity, but only finite numbers can be drawn")

    @classmethod
    def from_estimator(cls, model: GradrakerRegressor, *, ax: "Axes | None" = None) -> Self:
        """Make the display of a model that was trained with ``keep_weights=True``, and plot it.

        Parameters
        ----------
        model : GradrakerRegressor
            A fitted model.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        The display, drawn.
        """
        check_is_fitted(model, "coef_")
        return cls(model.weights_history_, labels=_format_labels(model)).plot(ax=ax)

    def _make_axes(self) -> "Axes":
        axes = super()._make_axes()
        n_lines = math.ceil(len(self.labels) / self._count_columns(axes))
        axes.figure.figure.set_figheight(2.9 + _LINE_INCHES * n_lines)
        return axes

    def _count_columns(self, axes: "Axes") -> int:
        """Count the columns of the legend: as many as its longest label allows."""
        longest = max(map(len, self.labels))
        return count_columns(axes, _HANDLE_INCHES + _LETTER_INCHES * longest)

    def _draw(self, axes: "Axes") -> None:
        steps = np.arange(1, self.weights.shape[0] + 1)
        for number, label in enumerate(self.labels):
            dash = _DASHES[number // len(_COLOURS) % len(_DASHES)]
            colour = _COLOURS[number % len(_COLOURS)]
            axes.plot(steps, self.weights[:, number], dash, color=colour, lw=1.2, label=label)
        axes.set_xlabel("Training step")
        axes.set_ylabel(r"Weight of the member, $\bar w_p$")
        axes.set_ylim(0.0, 1.02 * max(0.05, float(self.weights.max())))
        axes.set_xlim(1, max(2, steps.size))
        axes.spines[["top", "right"]].set_visible(False)
        put_legend_above(axes, ncols=self._count_columns(axes), fontsize="small")


def _format_labels(model: GradrakerRegressor) -> list[str]:
    """Format the variance of each member, and its range if the rows have ranges."""
    try:
        names = [
            f" ({ranges.find_range(member.sigma2)})"
            for member, ranges in zip(model.members_, model.ranges_, strict=True)
        ]
    except AttributeError:
        names = ["" for _ in model.members_]
    return [f"{member.label}{name}" for member, name in zip(model.members_, names, strict=True)]
