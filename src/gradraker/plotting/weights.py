"""Similarity measures, contribution weights and conformity factors against time."""

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._validation import check_learning_rate
from gradraker.explain.similarity import conformity_factor, noise_range
from gradraker.explain.skg_explanation import Explanation
from gradraker.plotting.explained import ExplainedNodeDisplay, format_title
from gradraker.plotting.figure import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    MANY_POINTS,
    VERMILION,
    add_titled_legend,
    check_column,
    draw_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOISE, _TWICE_RATE, _EPOCH = "Noise range of $F$", r"$2\eta$", "End of epoch"


class _TimeDisplay(ExplainedNodeDisplay):
    """B and F of one unknown node, for the nodes seen at times 1, …, T."""

    def __init__(
        self,
        similarities: ArrayLike,
        weights: ArrayLike,
        *,
        learning_rate: float,
        epoch_ends: ArrayLike = (),
        title: str | None = None,
    ) -> None:
        self.similarities = check_column("similarities", similarities)
        self.weights = check_column("weights", weights, self.similarities.size)
        self.learning_rate = check_learning_rate(learning_rate)
        self.epoch_ends = np.array(epoch_ends, dtype=np.float64)
        self.title = title

    @classmethod
    def _from_row(cls, explanation: Explanation, number: int) -> Self:
        return cls(
            explanation.similarities[number][explanation.order],
            explanation.compute_row_by_time(number),
            learning_rate=explanation.learning_rate,
            epoch_ends=_find_epoch_ends(explanation.order, explanation.weights.shape[1]),
            title=format_title(explanation, number),
        )

    def _draw(self, axes: "Axes") -> None:
        for i, end in enumerate(self.epoch_ends):
            label = None if i else _EPOCH
            axes.axvline(end + 0.5, color=GREY, lw=0.6, ls=":", zorder=0.5, label=label)
        self._draw_series(axes)
        height = 2.0 * self.learning_rate
        axes.axhline(height, color=BLACK, lw=0.8, ls="--", zorder=1.0, label=_TWICE_RATE)
        n_times = self.weights.size
        axes.set_xlim(0.5 - 0.015 * n_times, n_times + 0.5 + 0.015 * n_times)
        axes.set_xlabel(r"Training time $i$ (nodes seen)")
        axes.spines[["top", "right"]].set_visible(False)
        add_titled_legend(axes, title=self.title, last=(_NOISE, _TWICE_RATE, _EPOCH))

    def _draw_series(self, axes: "Axes") -> None:
        raise NotImplementedError

    def _draw_points(
        self, axes: "Axes", y: NDArray[np.float64], marker: str, colour: str, label: str
    ) -> None:
        size = float(np.clip(36.0 / np.sqrt(y.size), 1.2, 4.0))
        style = {"markersize": size, "color": colour, "label": label, "zorder": 3.0}
        times = np.arange(1, y.size + 1)
        draw_points(axes, times, y, marker, rasterized=y.size > MANY_POINTS, **style)


class ContributionWeightsDisplay(_TimeDisplay):
    """Similarity measures B and contribution weights F of an unknown node against time.

    The paper's figure 3. Grey is the noise range of F, weights in which do not count.

    Parameters
    ----------
    similarities : array-like of shape (T,)
        B_{i,T+1}: similarity of the unknown node to the node seen at time i = 1, …, T.
    weights : array-like of shape (T,)
        F_{i,T+1}: contribution weight of the value seen at time i.
    learning_rate : float
        η; B of equal nodes is 2η.
    epoch_ends : array-like of int, optional
        Times after which a new epoch begins.
    title : str, optional
        Head of the figure.

    Attributes
    ----------
    noise_range : tuple of float
        Of the weights.

    Examples
    --------
    >>> from gradraker import SKGRegressor, load_temperature
    >>> from gradraker.plotting import ContributionWeightsDisplay
    >>> data = load_temperature()
    >>> X, y = data.adjacency, data.scale_values()
    >>> model = SKGRegressor(random_state=0).fit(X[:60], y[:60])
    >>> display = ContributionWeightsDisplay.from_estimator(model, X[60:], row=3)
    >>> display.epoch_ends
    array([ 60., 120.])
    """

    @property
    def noise_range(self) -> tuple[float, float]:
        """Noise range of the weights."""
        return noise_range(self.weights)

    def _draw_series(self, axes: "Axes") -> None:
        low, high = self.noise_range
        axes.axhspan(low, high, color=LIGHT_GREY, linewidth=0.0, zorder=0.0, label=_NOISE)
        axes.vlines(
            np.arange(1, self.weights.size + 1),
            0.0,
            self.weights,
            colors=VERMILION,
            linewidths=float(np.clip(90.0 / self.weights.size, 0.15, 0.8)),
            zorder=2.0,
            rasterized=self.weights.size > MANY_POINTS,
        )
        self._draw_points(axes, self.similarities, "o", BLUE, "$B_{i,T+1}$")
        self._draw_points(axes, self.weights, "D", VERMILION, "$F_{i,T+1}$")
        axes.set_ylabel("$B_{i,T+1}$ and $F_{i,T+1}$")


class ConformityDisplay(_TimeDisplay):
    """Conformity factors α of an unknown node against time, the paper's figure 4.

    F = B (1 − α)^{T−i}: the nearer α is to 0, the slower the value seen at time i fades;
    for very large σ² it is 2η. Times without α, where F and B differ in sign, are left out.

    Parameters
    ----------
    similarities, weights, learning_rate, epoch_ends, title
        As for :class:`ContributionWeightsDisplay`.

    Attributes
    ----------
    conformity : ndarray of shape (T,)
        α_{T+1−i} for i = 1, …, T, NaN where there is none.

    Examples
    --------
    >>> from gradraker.plotting import ConformityDisplay
    >>> display = ConformityDisplay(
    ...     [0.2, 0.2, 0.1, 0.2], [0.1024, -0.1, 0.08, 0.2], learning_rate=0.1
    ... ).plot()
    >>> display.conformity.round(3)
    array([0.2, nan, 0.2, nan])
    """

    @property
    def conformity(self) -> NDArray[np.float64]:
        """Conformity factors, NaN where there are none."""
        return conformity_factor(self.similarities, self.weights)

    def _draw_series(self, axes: "Axes") -> None:
        alpha = self.conformity
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
        n_missing = int(np.isnan(alpha).sum())
        label = rf"$\alpha_{{T+1-i}}$ (none at {n_missing} of {alpha.size} times)"
        self._draw_points(axes, alpha, "o", BLUE, label)
        axes.set_ylabel(r"Conformity factor $\alpha_{T+1-i}$")


def _find_epoch_ends(order: NDArray[np.int64], n_known: int) -> NDArray[np.int64]:
    """Times after which a new epoch begins; none if training was not in whole epochs."""
    n_epochs, rest = divmod(order.size, n_known)
    if rest or n_epochs < 2:
        return np.empty(0, dtype=np.int64)
    epochs = np.sort(order.reshape(n_epochs, n_known), axis=1)
    if not (epochs == np.arange(n_known)).all():
        return np.empty(0, dtype=np.int64)
    return np.arange(n_known, order.size, n_known)
