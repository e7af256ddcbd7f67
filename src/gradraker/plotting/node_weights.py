"""Plot contribution weights of one unknown node against time and by distance of known nodes."""

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._validation import check_learning_rate
from gradraker.explain.similarity import conformity_factor, noise_range
from gradraker.explain.skg_explanation import Explanation
from gradraker.plotting.explained import ExplainedNodeDisplay, format_title
from gradraker.plotting.figure import (
    BLACK,
    BLUE,
    DARK_GREY,
    GREY,
    LIGHT_GREY,
    MANY_POINTS,
    ORANGE,
    VERMILION,
    add_titled_legend,
    check_column,
    count_columns,
    draw_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

_NOISE, _TWICE_RATE, _EPOCH = "Noise range of $F$", r"$2\eta$", "End of epoch"
# Radius of the empty centre, over the largest distance: room for nodes at distance 0.
_HOLE = 0.12
# A circle with a larger radius than this, over the largest distance, is not drawn.
_MAX_RADIUS = 1.3
# Negative weights get their own colour if one exceeds this share of the largest weight.
_MIN_NEGATIVE_SHARE = 0.1
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))


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

    The paper's figure 3. Grey is the noise range of F; weights in it are not significant.

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
        Noise range of the weights.

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
    for very large σ² it is 2η. Times without α, where F and B differ in sign, are not drawn.

    Parameters
    ----------
    similarities, weights, learning_rate, epoch_ends, title
        As for :class:`ContributionWeightsDisplay`.

    Attributes
    ----------
    conformity : ndarray of shape (T,)
        α_{T+1−i} for i = 1, …, T, NaN where it does not exist.

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
        """Conformity factors, NaN where they do not exist."""
        return conformity_factor(self.similarities, self.weights)

    def _draw_series(self, axes: "Axes") -> None:
        alpha = self.conformity
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
        n_missing = int(np.isnan(alpha).sum())
        label = rf"$\alpha_{{T+1-i}}$ (none at {n_missing} of {alpha.size} times)"
        self._draw_points(axes, alpha, "o", BLUE, label)
        axes.set_ylabel(r"Conformity factor $\alpha_{T+1-i}$")


def _find_epoch_ends(order: NDArray[np.int64], n_known: int) -> NDArray[np.int64]:
    """Find the times after which a new epoch begins; none if training was not in whole epochs."""
    n_epochs, rest = divmod(order.size, n_known)
    if rest or n_epochs < 2:
        return np.empty(0, dtype=np.int64)
    epochs = np.sort(order.reshape(n_epochs, n_known), axis=1)
    if not (epochs == np.arange(n_known)).all():
        return np.empty(0, dtype=np.int64)
    return np.arange(n_known, order.size, n_known)


class NodeDistancesDisplay(ExplainedNodeDisplay):
    """Known nodes around an unknown node, by distance, shaded and sized by contribution weight.

    The paper's figure 2. The radius is ‖d‖, the distance of adjacency vectors, measured
    from a small circle around the unknown node, so that nodes at distance 0 are visible. Angles
    have no meaning: nodes of equal distance are spread over their ring, heavy ones apart.

    Parameters
    ----------
    squared_distances : array-like of shape (n_known,)
        ‖d‖² of the known nodes to the unknown node.
    weights : array-like of shape (n_known,)
        Their contribution weights.
    efficient_distance : float, optional
        Squared efficient distance, drawn as a circle; NaN if no weight is significant.
    title : str, optional
        Head of the figure.

    Attributes
    ----------
    radii, angles : ndarray of shape (n_known,)
        Positions of the nodes: ‖d‖ and radians.

    Examples
    --------
    >>> from gradraker.plotting import NodeDistancesDisplay
    >>> display = NodeDistancesDisplay([4.0, 1.0, 4.0], [0.1, 0.6, 0.2], efficient_distance=2.0)
    >>> display.radii
    array([2., 1., 2.])
    >>> display.plot().ax_.get_legend().get_texts()[-1].get_text()
    'Efficient distance, ‖d‖ = 1.41'
    """

    size = (4.8, 4.6)

    def __init__(
        self,
        squared_distances: ArrayLike,
        weights: ArrayLike,
        *,
        efficient_distance: float | None = None,
        title: str | None = None,
    ) -> None:
        self.squared_distances = check_column("squared_distances", squared_distances)
        least = float(self.squared_distances.min())
        if least < 0.0:
            raise ValueError(f"squared_distances must not be negative, got {least:g}")
        self.weights = check_column("weights", weights, self.squared_distances.size)
        self.efficient_distance = efficient_distance
        self.title = title
        self.radii = np.sqrt(self.squared_distances)
        self.angles = _choose_angles(self.squared_distances, self.weights)

    @classmethod
    def _from_row(cls, explanation: Explanation, number: int) -> Self:
        return cls(
            explanation.squared_distances[number],
            explanation.weights[number],
            efficient_distance=(
                # Squared distances are drawn, and that of the Laplacian kernel is an l1 distance.
                explanation.efficient_distance(number)
                if explanation.kernel == "gaussian"
                else explanation.find_significant_distance(number)
            ),
            title=format_title(explanation, number),
        )

    def _draw(self, axes: "Axes") -> None:
        farthest = float(self.radii.max()) or 1.0
        hole = _HOLE * farthest
        self._draw_scale(axes, farthest, hole)
        star: dict[str, Any] = {"markeredgecolor": BLACK, "markeredgewidth": 0.5, "zorder": 5.0}
        axes.plot(0.0, 0.0, "*", markersize=11.0, color=ORANGE, label="Unknown node", **star)
        self._draw_nodes(axes, hole)
        edge = 1.06 * (hole + self._draw_efficient_distance(axes, farthest, hole))
        axes.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", title=self.title or "")
        axes.set_axis_off()
        n_columns = min(2, count_columns(axes, 1.8))
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        legend = axes.legend(ncols=n_columns, frameon=False, fontsize="small", **below)
        cast("PathCollection", legend.legend_handles[1]).set_sizes([30.0])

    def _draw_scale(self, axes: "Axes", farthest: float, hole: float) -> None:
        """Draw faint circles, labelled with their distances."""
        from matplotlib.patches import Circle
        from matplotlib.patheffects import withStroke
        from matplotlib.ticker import MaxNLocator

        style: dict[str, Any] = {"ha": "center", "va": "top", "color": DARK_GREY, "zorder": 2.5}
        style |= {"path_effects": [withStroke(linewidth=2.0, foreground="white")]}
        # Below the circle, since nodes may lie on it.
        style |= {"xytext": (0.0, -2.0), "textcoords": "offset points", "fontsize": "x-small"}
        ticks = np.asarray(MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0.0, farthest))
        for tick in ticks[(ticks >= 0.0) & (ticks <= farthest)]:
            radius = hole + tick
            axes.add_patch(
                Circle((0.0, 0.0), radius, fill=False, color=LIGHT_GREY, linewidth=0.8, zorder=0.0)
            )
            axes.annotate(f"‖d‖ = {tick:g}", (0.0, -radius), **style)

    def _draw_nodes(self, axes: "Axes", hole: float) -> None:
        from matplotlib.colors import Normalize

        largest = float(np.abs(self.weights).max()) or 1.0
        has_negative = -float(self.weights.min()) > _MIN_NEGATIVE_SHARE * largest
        last = np.argsort(np.abs(self.weights), kind="stable")  # the heaviest on top
        radii, angles = hole + self.radii[last], self.angles[last]
        share = np.abs(self.weights[last]) / largest
        size = float(np.clip(4000.0 / self.weights.size, 14.0, 45.0))
        nodes = axes.scatter(
            radii * np.cos(angles),
            radii * np.sin(angles),
            c=self.weights[last],
            # Light ones are small: a ring may be full of them.
            s=size * (0.2 + 0.8 * share),
            # Blue is positive in both maps.
            cmap="RdBu" if has_negative else "Blues",
            norm=Normalize(-largest if has_negative else 0.0, largest),
            edgecolors=GREY,
            linewidths=0.4,
            label="Known node",
            zorder=3.0,
            rasterized=self.weights.size > MANY_POINTS,
        )
        extend = "neither" if has_negative or self.weights.min() >= 0.0 else "min"
        label = "Contribution weight"
        axes.figure.colorbar(nodes, ax=axes, label=label, extend=extend, shrink=0.7, pad=0.02)

    def _draw_efficient_distance(self, axes: "Axes", farthest: float, hole: float) -> float:
        """Draw the circle if it fits; return the largest distance that must be visible."""
        if self.efficient_distance is None:
            return farthest
        if np.isnan(self.efficient_distance):
            axes.plot([], [], linestyle="none", label="No significant weight")
            return farthest
        radius = float(np.sqrt(self.efficient_distance))
        fits = radius <= _MAX_RADIUS * farthest  # where weights are noise, the radius is arbitrary
        angles = np.linspace(0.0, 2.0 * np.pi, 361) if fits else np.empty(0)
        x, y = (hole + radius) * np.cos(angles), (hole + radius) * np.sin(angles)
        label = f"Efficient distance, ‖d‖ = {radius:.2f}" + ("" if fits else ", farther out")
        axes.plot(x, y, "--", color=VERMILION, linewidth=1.1, label=label, zorder=2.0)
        return max(farthest, radius) if fits else farthest


def _choose_angles(
    squared: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Choose angles that spread nodes of equal distance evenly, and the heavy ones too."""
    # Rounding errors must not separate equal distances.
    rounded = np.round(squared / (float(squared.max()) or 1.0), 9)
    order = np.lexsort((-np.abs(weights), rounded))  # ring by ring, the heaviest first
    _, starts, ring, counts = np.unique(
        rounded[order], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.arange(squared.size) - starts[ring]  # within the ring
    # Steps of the golden angle spread any number of nodes well; their ranks are evenly spaced.
    turns = rank * _GOLDEN_ANGLE % (2.0 * np.pi)
    place = np.empty(squared.size, dtype=np.int64)
    place[np.lexsort((turns, ring))] = rank
    angles = np.empty(squared.size)
    # Each ring starts a golden angle further, so that single nodes do not line up.
    angles[order] = np.pi / 2.0 + ring * _GOLDEN_ANGLE + 2.0 * np.pi * place / counts[ring]
    return angles
