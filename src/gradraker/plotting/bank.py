"""Weights of the members of a bank of kernels against time."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from gradraker.models.bank.gradraker_regressor import GradrakerRegressor
from gradraker.plotting.figure import columns_that_fit, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, the light yellow left out; lines beyond them are told apart by dashes.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":", "-.")
# Of a legend in small type: a line's sample and the space around it, a letter, a line of text.
_HANDLE_INCHES, _LETTER_INCHES, _LINE_INCHES = 0.5, 0.06, 0.17


class KernelWeightsDisplay:
    """Weights of the members of a bank at each training step.

    Parameters
    ----------
    weights : array-like of shape (T, P)
        Weights that each step was predicted with.
    labels : sequence of P str
        What tells the members apart.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on, after ``plot``.
    figure_ : matplotlib.figure.Figure
        The figure of these axes, after ``plot``.

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

    ax_: "Axes"
    figure_: "Figure"

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
            raise ValueError("weights holds NaN or infinity, but what is drawn must be finite")

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
        return cls(model.weights_history_, labels=_labels(model)).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on ``ax``, or on a new figure that no global state knows of.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        The display, with ``ax_`` and ``figure_`` set.
        """
        axes = new_axes() if ax is None else ax
        # The legend stands above the data, with as many members in a line as labels allow.
        longest = max(map(len, self.labels))
        n_columns = columns_that_fit(axes, _HANDLE_INCHES + _LETTER_INCHES * longest)
        if ax is None:
            n_lines = math.ceil(len(self.labels) / n_columns)
            axes.figure.figure.set_figheight(2.9 + _LINE_INCHES * n_lines)
        steps = np.arange(1, self.weights.shape[0] + 1)
        for number, label in enumerate(self.labels):
            axes.plot(
                steps,
                self.weights[:, number],
                color=_COLOURS[number % len(_COLOURS)],
                linestyle=_DASHES[number // len(_COLOURS) % len(_DASHES)],
                linewidth=1.2,
                label=label,
            )
        axes.set_xlabel("Training step")
        axes.set_ylabel(r"Weight of the member, $\bar w_p$")
        axes.set_ylim(0.0, 1.02 * max(0.05, float(self.weights.max())))
        axes.set_xlim(1, max(2, steps.size))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=n_columns,
            frameon=False,
            fontsize="small",
            borderaxespad=0.2,
        )
        self.ax_ = axes
        self.figure_ = axes.figure.figure
        return self


def plot_kernel_weights(
    model: GradrakerRegressor, *, ax: "Axes | None" = None
) -> KernelWeightsDisplay:
    """Draw the weights of a bank against time; see :meth:`GradrakerRegressor.plot_weights`."""
    return KernelWeightsDisplay.from_estimator(model, ax=ax)


def _labels(model: GradrakerRegressor) -> list[str]:
    """Variance and range of each member, where the rows have ranges."""
    try:
        names = [
            f" ({ranges.find_range(member.sigma2)})"
            for member, ranges in zip(model.members_, model.ranges_, strict=True)
        ]
    except AttributeError:
        names = ["" for _ in model.members_]
    return [f"{member.label}{name}" for member, name in zip(model.members_, names, strict=True)]
