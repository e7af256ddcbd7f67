"""Plot the reasons for a prediction: the known nodes that count, and the neighbourhood."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.node_graph import find_neighbourhood
from gradraker.plotting.figure import (
    BLACK,
    BLUE,
    DARK_GREY,
    GREY,
    VERMILION,
    Axes,
    Display,
    check_column,
    make_axes,
)
from gradraker.workflow import NodePredictions

_PALETTE = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")
_MAX_LABEL_LENGTH = 22


class ContributorsDisplay(Display):
    """Known nodes that count most in a prediction, as bars of their weights.

    Parameters
    ----------
    names : sequence of k names
        Known nodes, the heaviest first.
    weights : array-like of shape (k,)
        Contribution weights.
    values : sequence of k texts, optional
        Their known values, written next to the names.
    title : str, optional
        Title, such as the name of the explained node.

    Examples
    --------
    >>> from gradraker.plotting import ContributorsDisplay
    >>> display = ContributorsDisplay(["Basel", "Chur"], [0.4, 0.2], ["1.0", "−0.5"]).plot()
    >>> display.ax_.get_xlabel()
    'Contribution weight'
    """

    def __init__(
        self,
        names: Sequence[Hashable],
        weights: ArrayLike,
        values: Sequence[str] | None = None,
        *,
        title: str = "",
    ) -> None:
        self.names = list(names)
        self.weights = check_column("weights", weights, len(self.names))
        self.values = values
        self.title = title

    @classmethod
    def from_explanation(
        cls, explanation: LinearExplanation, *, row: int = 0, k: int = 8, ax: "Axes | None" = None
    ) -> Self:
        """Make the display of one explained node, and plot it."""
        order = explanation.find_heaviest(k)[row].tolist()
        labels = [_format(explanation.known_labels[i]) for i in order]
        names = [explanation.known_names[i] for i in order]
        title = f"{explanation.node_names[row]}: {_format(explanation.predicted_labels[row])}"
        return cls(names, explanation.weights[row, order], labels, title=title).plot(ax=ax)

    def _make_axes(self) -> "Axes":
        return make_axes(5.5, 0.6 + 0.3 * max(3, len(self.names)))

    def _draw(self, axes: "Axes") -> None:
        heights = np.arange(len(self.names))[::-1]
        colours = [BLUE if weight >= 0.0 else VERMILION for weight in self.weights]
        axes.barh(heights, self.weights, color=colours, height=0.7)
        labels = [_shorten(name) for name in self.names]
        if self.values is not None:
            labels = [f"{name} ({v})" for name, v in zip(labels, self.values, strict=True)]
        axes.set_yticks(heights, labels, parse_math=False)
        axes.axvline(0.0, color=BLACK, linewidth=0.8)
        axes.set_xlabel("Contribution weight")
        axes.set_title(_shorten(self.title, 44), loc="left", fontsize=10.0, parse_math=False)
        axes.spines[["top", "right"]].set_visible(False)


class NeighbourhoodDisplay(Display):
    """A node, its neighbours and the known nodes that count in its prediction.

    Nodes are coloured by their value or class; circles are known, squares predicted, and a ring
    marks nodes that count.

    Parameters
    ----------
    names : sequence of n names
        The node in the middle first.
    values : array-like of shape (n,)
        Values, or numbers of classes.
    is_known : array-like of n bool
        Which values are known.
    edges : array-like of int, shape (m, 2)
        Pairs of positions of joined nodes.
    weights : array-like of shape (n,)
        Contribution weights; 0 for nodes that do not count.
    classes : sequence of labels, optional
        Labels of classes, if values are their numbers.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> from gradraker.plotting import NeighbourhoodDisplay
    >>> data = load_temperature()
    >>> result = predict_nodes(data, dict(zip(data.node_names[:60], data.values[:60])))
    >>> display = NeighbourhoodDisplay.from_predictions(result, "Pilatus")
    >>> display.ax_.get_title(loc="left")
    'Pilatus: -...'
    """

    size = (6.2, 4.6)

    def __init__(
        self,
        names: Sequence[Hashable],
        values: ArrayLike,
        is_known: ArrayLike,
        edges: ArrayLike,
        weights: ArrayLike,
        *,
        classes: Sequence[Hashable] | None = None,
    ) -> None:
        self.names = list(names)
        n = len(self.names)
        self.values = check_column("values", values, n)
        self.weights = check_column("weights", weights, n)
        self.is_known = np.asarray(is_known, dtype=np.bool_)
        self.edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        self.classes = classes

    @classmethod
    def from_predictions(
        cls, result: NodePredictions, node: Hashable, *, k: int = 8, ax: "Axes | None" = None
    ) -> Self:
        """Make the display of one predicted node, with k contributors, and plot it."""
        found = result.find_contributors(k, nodes=[node])
        rows = [result.positions[name] for name in found.names[0]]
        drawn, edges = find_neighbourhood(result.adjacency, result.positions[node], rows)
        weight_of = dict(zip(rows, found.weights[0].tolist(), strict=True))
        known = result.is_known[drawn]
        labels = np.where(known, result.values[drawn], result.predictions[drawn])
        classes = None
        if result.task == "classes":
            classes = result.classes.tolist()
            labels = np.array([classes.index(label) for label in labels.tolist()])
        weights = [weight_of.get(row, 0.0) for row in drawn.tolist()]
        names = result.nodes[drawn].tolist()
        return cls(names, labels, known, edges, weights, classes=classes).plot(ax=ax)

    def _draw(self, axes: "Axes") -> None:
        places = place_nodes(len(self.names), self.edges)
        for i, j in self.edges.tolist():
            axes.plot(*places[[i, j]].T, color=GREY, linewidth=0.8, zorder=1.0)
        colours = self._choose_colours()
        for shape, mask in (("o", self.is_known), ("s", ~self.is_known)):
            sizes = np.where(np.arange(len(self.names)) == 0, 170.0, 80.0)[mask]
            x, y = places[mask].T
            axes.scatter(
                x,
                y,
                s=sizes,
                c=[colours[i] for i in np.flatnonzero(mask)],
                marker=shape,
                edgecolors=DARK_GREY,
                zorder=3.0,
            )
        counts = (self.weights != 0.0) & (np.arange(len(self.names)) > 0)
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": VERMILION, "linewidths": 2.0}
        x, y = places[counts].T
        axes.scatter(x, y, s=220.0, zorder=2.0, **ring)
        for i, name in enumerate(self.names):
            if i == 0 or counts[i] or len(self.names) < 16:
                axes.annotate(
                    _shorten(name),
                    places[i],
                    xytext=(0.0, -17.0),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8.0,
                    fontweight="bold" if i == 0 else "normal",
                    parse_math=False,
                )
        value = self.values[0]
        shown = _format(value if self.classes is None else self.classes[int(value)])
        title = f"{_shorten(self.names[0])}: {shown}"
        axes.set_title(title, loc="left", fontsize=10.0, parse_math=False)
        axes.margins(0.15)
        axes.set_axis_off()

    def _choose_colours(self) -> list[Any]:
        if self.classes is not None:
            return [_PALETTE[int(code) % len(_PALETTE)] for code in self.values]
        from matplotlib import colormaps

        low, high = float(self.values.min()), float(self.values.max())
        span = high - low if high > low else 1.0
        return [colormaps["viridis"](float((value - low) / span)) for value in self.values]


def place_nodes(n: int, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a place for each node, (n, 2): the first in the middle, its neighbours around it.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.plotting.reasons import place_nodes
    >>> place_nodes(3, np.array([[0, 1], [1, 2]])).round(1).tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.6, 1.6]]
    """
    near = {j for i, j in edges.tolist() if i == 0} | {i for i, j in edges.tolist() if j == 0}
    places = np.zeros((n, 2))
    rings = ([i for i in range(1, n) if i in near], [i for i in range(1, n) if i not in near])
    for ring, radius, turn in zip(rings, (1.0, 1.75), (0.0, 0.35), strict=True):
        angles = np.pi / 2.0 - turn - 2.0 * np.pi * np.arange(len(ring)) / max(1, len(ring))
        places[ring] = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return places


def _shorten(name: object, longest: int = _MAX_LABEL_LENGTH) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in str(name))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _format(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else _shorten(value)
