"""Known nodes around an unknown one, by distance and contribution weight."""

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker.explain.skg_explanation import Explanation
from gradraker.plotting.explained import ExplainedNodeDisplay, format_title
from gradraker.plotting.figure import (
    BLACK,
    DARK_GREY,
    GREY,
    LIGHT_GREY,
    MANY_POINTS,
    ORANGE,
    VERMILION,
    check_column,
    count_columns,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

# Around the unknown node, as part of the largest distance: room for nodes at distance 0.
_HOLE = 0.12
# A circle that makes the figure larger than this part of the largest distance is left out.
_ROOM = 1.3
# Negative weights count, and get a colour of their own, from this part of the largest on.
_NEGATIVE_FROM = 0.1
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))


class NodeDistancesDisplay(ExplainedNodeDisplay):
    """Known nodes around an unknown node, by distance, shaded and sized by contribution weight.

    The paper's figure 2. The radius is ‖d‖, the distance of adjacency vectors, counted
    from a small circle around the unknown node, so that nodes at distance 0 are seen. Angles
    mean nothing: nodes of equal distance are spread over their ring, heavy ones apart.

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
        Where the nodes are: ‖d‖ and radians.

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
                # The Laplacian kernel's is an l1 distance, and squared ones are drawn.
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
        outline: dict[str, Any] = {"markeredgecolor": BLACK, "markeredgewidth": 0.5}
        axes.plot(
            0.0, 0.0, "*", markersize=11.0, color=ORANGE, label="Tested node", zorder=5.0, **outline
        )
        self._draw_nodes(axes, hole)
        edge = 1.06 * (hole + self._draw_efficient_distance(axes, farthest, hole))
        axes.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", title=self.title or "")
        axes.set_axis_off()
        n_columns = min(2, count_columns(axes, 1.8))
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        legend = axes.legend(ncols=n_columns, frameon=False, fontsize="small", **below)
        cast("PathCollection", legend.legend_handles[1]).set_sizes([30.0])

    def _draw_scale(self, axes: "Axes", farthest: float, hole: float) -> None:
        """Faint circles with the distances that they stand for."""
        from matplotlib.patches import Circle
        from matplotlib.patheffects import withStroke
        from matplotlib.ticker import MaxNLocator

        style: dict[str, Any] = {"ha": "center", "va": "top", "color": DARK_GREY, "zorder": 2.5}
        style |= {"path_effects": [withStroke(linewidth=2.0, foreground="white")]}
        # Under the circle, on which nodes may be.
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
        signed = -float(self.weights.min()) > _NEGATIVE_FROM * largest
        last = np.argsort(np.abs(self.weights), kind="stable")  # the heaviest on top
        radii, angles = hole + self.radii[last], self.angles[last]
        share = np.abs(self.weights[last]) / largest
        size = float(np.clip(4000.0 / self.weights.size, 14.0, 45.0))
        nodes = axes.scatter(
            radii * np.cos(angles),
            radii * np.sin(angles),
            c=self.weights[last],
            # Light ones step back: a ring may be full of them.
            s=size * (0.2 + 0.8 * share),
            # Blue is positive in both.
            cmap="RdBu" if signed else "Blues",
            norm=Normalize(-largest if signed else 0.0, largest),
            edgecolors=GREY,
            linewidths=0.4,
            label="Observed node",
            zorder=3.0,
            rasterized=self.weights.size > MANY_POINTS,
        )
        extend = "neither" if signed or self.weights.min() >= 0.0 else "min"
        label = "Contribution weight"
        axes.figure.colorbar(nodes, ax=axes, label=label, extend=extend, shrink=0.7, pad=0.02)

    def _draw_efficient_distance(self, axes: "Axes", farthest: float, hole: float) -> float:
        """Draw the circle where it fits; return the largest distance that is to be seen."""
        if self.efficient_distance is None:
            return farthest
        if np.isnan(self.efficient_distance):
            axes.plot([], [], linestyle="none", label="No significant weight")
            return farthest
        radius = float(np.sqrt(self.efficient_distance))
        fits = radius <= _ROOM * farthest  # read off noise, it may be anything
        angles = np.linspace(0.0, 2.0 * np.pi, 361) if fits else np.empty(0)
        x, y = (hole + radius) * np.cos(angles), (hole + radius) * np.sin(angles)
        label = f"Efficient distance, ‖d‖ = {radius:.2f}" + ("" if fits else ", farther out")
        axes.plot(x, y, "--", color=VERMILION, linewidth=1.1, label=label, zorder=2.0)
        return max(farthest, radius) if fits else farthest


def _choose_angles(
    squared: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Angles that spread nodes of equal distance evenly, and the heavy ones of them too."""
    # Distances that differ by rounding only are equal.
    rounded = np.round(squared / (float(squared.max()) or 1.0), 9)
    order = np.lexsort((-np.abs(weights), rounded))  # ring by ring, the heaviest first
    _, starts, ring, counts = np.unique(
        rounded[order], return_index=True, return_inverse=True, return_counts=True
    )
    start, everyone = starts[ring], np.arange(squared.size)
    # Steps of the golden angle spread the first few as well as all; their ranks are even.
    turns = (everyone - start) * _GOLDEN_ANGLE % (2.0 * np.pi)
    place = np.empty(squared.size, dtype=np.int64)
    place[np.lexsort((turns, ring))] = everyone - start
    angles = np.empty(squared.size)
    # Rings begin a golden angle apart: single nodes must not line up.
    angles[order] = np.pi / 2.0 + ring * _GOLDEN_ANGLE + 2.0 * np.pi * place / counts[ring]
    return angles
