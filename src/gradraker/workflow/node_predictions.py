"""Predictions for the nodes of a graph, and the model and errors behind them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._html import escape, render_box, render_rows
from gradraker.exceptions import TooFewValuesError
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.adapters.columns import Task
from gradraker.graph.edges import Reading
from gradraker.graph.node_graph import count_reversed
from gradraker.metrics import measure_left_out_error
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.models.node_model import NodeModel

# An explanation holds three numbers for each pair of an explained and a known node.
_BATCH_BYTES = 64 << 20
# Rows that a notebook shows.
_N_SHOWN = 8
# With fewer known nodes no error is estimated: it would be noise.
MIN_KNOWN_TO_ESTIMATE = 10


@dataclass(frozen=True)
class Bounds:
    """Ends of the range that values can have; infinite where it is open."""

    lower: float = -np.inf
    upper: float = np.inf

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(
                f"lower must be below upper, got lower={self.lower!r} and upper={self.upper!r}"
            )

    def clip(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values clipped to the range."""
        return np.clip(values, self.lower, self.upper)


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """The k known nodes with the largest contribution weights in each of n predictions.

    Attributes
    ----------
    names : list of n lists of k names
        The heaviest first; nodes of equal weight in the order of training.
    weights, values : ndarray of shape (n, k)
        Contribution weights, and the known values or labels of classes that they weigh.
    predictions : list of n numbers or labels
        The predictions that are explained, before they are clipped.
    parts : list of n dicts
        How much each kind of similarity adds to a prediction; empty if the model has no parts.
    smallest_weight : float
        The smallest contribution weight of all known nodes: only if it is not negative is a
        prediction a weighted mean.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import find_contributors
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> type(find_contributors(model, ["b"], k=1)).__name__
    'Contributors'
    """

    names: list[list[Hashable]]
    weights: NDArray[np.float64]
    values: NDArray[Any]
    predictions: list[Any] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    smallest_weight: float = 0.0

    def __repr__(self) -> str:
        n, k = self.weights.shape
        return f"Contributors({k} for each of {n} predictions)"


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions:
    """Predictions for all nodes of a graph, returned by :func:`gradraker.predict_nodes`.

    Attributes
    ----------
    model : model of graphs
        Trained on all known nodes; it holds the graph.
    predictions : ndarray of shape (n,)
        Predictions of the trained model for all nodes, the known ones too: numbers, clipped to
        the bounds, or labels of classes.
    intervals : ndarray of shape (n, 2) or None
        Lower and upper ends of the intervals, clipped to the bounds.
    coverage : float or None
        Share of the true values that the intervals should hold.
    probabilities : ndarray of shape (n, K) or None
        Probabilities of the classes, in the order of ``classes``.
    bounds : Bounds
        The range that values can have.
    readings : dict of str to Reading
        How tables of edges and values were read.
    target : name or None
        The predicted target, if there are several.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> data = load_temperature()
    >>> result = predict_nodes(data, dict(zip(data.node_names[:60], data.values[:60])))
    >>> result
    NodePredictions of 29 nodes from 60 known ones; left-out RMSE ...
    >>> result.to_frame().shape[0]
    89
    """

    model: NodeModel
    predictions: NDArray[Any]
    intervals: NDArray[np.float64] | None = None
    coverage: float | None = None
    probabilities: NDArray[np.float64] | None = None
    bounds: Bounds = Bounds()
    readings: dict[str, Reading] | None = None
    target: Hashable = None

    @property
    def nodes(self) -> NDArray[Any]:
        """Names of the nodes."""
        return self.model.nodes_

    @property
    def task(self) -> Task:
        """Whether values are numbers ("values") or labels ("classes")."""
        return self.model.value_kind.task

    @property
    def classes(self) -> NDArray[Any]:
        """Labels of the classes."""
        return self.model.classes_

    @cached_property
    def values(self) -> NDArray[Any]:
        """Known values, NaN or None where unknown, shape (n,)."""
        values = self.model.values_
        if self.target is None:
            return values
        return values[:, self.model.target_names_.index(self.target)]

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """The position of each node in ``nodes``."""
        return {name: i for i, name in enumerate(self.nodes.tolist())}

    @cached_property
    def adjacency(self) -> csr_array:
        """The edges that describe each node, (n, n)."""
        return self.model.used_adjacency_

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the value of each node is known."""
        return self.model.value_kind.is_known(self.values)

    @cached_property
    def left_out(self) -> LeftOut | LeftOutClasses | None:
        """Known nodes predicted without their own values; None with fewer than 10 known nodes."""
        found = evaluate_left_out(self.model, target=self.target)
        if not isinstance(found, LeftOut) or self.bounds == Bounds():
            return found
        return clip_left_out(found, self.bounds, self.values[self.is_known])

    def rank_classes(self) -> NDArray[np.int64]:
        """Return the classes of each node, the most probable first, as positions in ``classes``.

        In a tie the predicted class comes first.
        """
        assert self.probabilities is not None
        position = {label: i for i, label in enumerate(self.classes.tolist())}
        first = np.array([position[label] for label in self.predictions.tolist()], dtype=np.int64)
        keys = -self.probabilities
        keys[np.arange(first.size), first] = -np.inf
        return np.argsort(keys, axis=1, kind="stable")

    def explain(self, nodes: Sequence[Hashable] | None = None) -> LinearExplanation:
        """Explain the predictions of some nodes, before they are clipped; default all."""
        options: dict[str, Any] = {} if self.target is None else {"target": self.target}
        return self.model.explain(self._list_nodes(nodes), **options)

    def find_contributors(self, k: int, *, nodes: Sequence[Hashable] | None = None) -> Contributors:
        """Find the k known nodes that count most in the predictions of some nodes; default all."""
        return find_contributors(self.model, self._list_nodes(nodes), k, target=self.target)

    def find_left_out_contributors(self, k: int, *, nodes: Sequence[Hashable]) -> Contributors:
        """Find the k known nodes that count most in left-out predictions of known nodes."""
        if self.left_out is None:
            raise ValueError("no nodes were left out: fewer than 10 are known")
        return find_contributors(self.model, list(nodes), k, left_out=True, target=self.target)

    def plot_neighbourhood(self, node: Hashable, *, ax: Any = None) -> Any:
        """Draw a node and its neighbourhood; a ``gradraker.plotting.NeighbourhoodDisplay``."""
        from gradraker.plotting import NeighbourhoodDisplay

        return NeighbourhoodDisplay.from_predictions(self, node, ax=ax)

    def _list_nodes(self, nodes: Sequence[Hashable] | None) -> list[Hashable]:
        listed: list[Hashable] = self.nodes.tolist() if nodes is None else list(nodes)
        return listed

    def list_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table: node, whether it is known, value, prediction, and more.

        Intervals add lower and upper; classes add the probability of the predicted class, and
        runner_up_1, probability_1, … for up to two classes that come next.
        """
        columns: dict[str, NDArray[Any]] = {
            "node": self.nodes,
            "known": self.is_known,
            "value": self.values,
            "prediction": self.predictions,
        }
        if self.intervals is not None:
            columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        if self.probabilities is not None:
            order, rows = self.rank_classes(), np.arange(len(self.nodes))
            columns["probability"] = self.probabilities[rows, order[:, 0]]
            for i in range(1, min(3, order.shape[1])):
                columns[f"runner_up_{i}"] = self.classes[order[:, i]]
                columns[f"probability_{i}"] = self.probabilities[rows, order[:, i]]
        return columns

    def to_frame(self, *, n_contributors: int = 0) -> Any:
        """Return one row per node as a pandas data frame.

        Columns are those of :meth:`list_columns`, and with ``n_contributors`` = k
        contributor_1, weight_1, …: the k known nodes that count most in each prediction.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "a data frame needs pandas: pip install pandas; nodes and predictions hold the "
                "same as arrays"
            ) from None
        columns: dict[str, Any] = dict(self.list_columns())
        columns["node"] = pd.Series(self.nodes.tolist(), dtype=None)
        if n_contributors > 0:
            found = self.find_contributors(n_contributors)
            for i in range(found.weights.shape[1]):
                columns[f"contributor_{i + 1}"] = [names[i] for names in found.names]
                columns[f"weight_{i + 1}"] = found.weights[:, i]
        return pd.DataFrame(columns)

    def _repr_html_(self) -> str:
        columns = self.list_columns()
        names = [name for name in columns if name not in ("known", "value")]
        rows = [
            [_to_cell(columns[name][i]) for name in names]
            for i in np.flatnonzero(~self.is_known)[:_N_SHOWN].tolist()
        ]
        notes = [f"<p>{escape(name)}: {escape(r)}</p>" for name, r in (self.readings or {}).items()]
        if self.direction_note:
            notes.append(f"<p>Edges: {escape(self.direction_note)}</p>")
        error = "" if self.left_out is None else f"<p>Left out: {escape(self.left_out.error)}</p>"
        table = render_rows(rows, names) if rows else ""
        n = int((~self.is_known).sum())
        title = f"{n} predictions from {len(self.nodes) - n} known nodes"
        more = f"<p>the first {_N_SHOWN} of {n} predicted nodes</p>" if n > _N_SHOWN else ""
        return render_box(title, error, *notes, table, more)

    def __repr__(self) -> str:
        n_known = int(self.is_known.sum())
        text = f"NodePredictions of {self.values.size - n_known} nodes from {n_known} known ones"
        if self.task == "classes":
            text += f" of {len(self.classes)} classes"
        if self.left_out is not None:
            shown = str(self.left_out.error)
            if isinstance(self.left_out, LeftOut):
                error = self.left_out.error
                shown = f"RMSE {error.rmse:.4g} ({error.rmse_of_mean:.4g} by the mean)"
            text += f"; left-out {shown}"
        notes = [f"; {name}: {reading}" for name, reading in (self.readings or {}).items()]
        return text + "".join(notes) + (f"; {self.direction_note}" if self.direction_note else "")

    @cached_property
    def direction_note(self) -> str:
        """A note if the graph was taken as directed because no edge has its reverse; else empty."""
        model = self.model
        if not model.is_directed_ or not model.adjacency_.nnz or count_reversed(model.adjacency_):
            return ""
        return "taken as directed: no edge has its reverse"


def evaluate_left_out(
    model: NodeModel, *, target: Hashable = None
) -> LeftOut | LeftOutClasses | None:
    """Predict known nodes of a fitted model without their own values.

    Parameters
    ----------
    model : model of graphs
        Fitted.
    target : name, optional
        One of several targets.

    Returns
    -------
    LeftOut, LeftOutClasses or None
        None with fewer than 10 known nodes, or if the model cannot leave any out.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.workflow import evaluate_left_out
    >>> data = load_temperature()
    >>> model = NodeRegressor().fit(data, dict(zip(data.node_names[:30], data.values[:30])))
    >>> evaluate_left_out(model).error.n_nodes
    30
    """
    if len(model.known_nodes_) < MIN_KNOWN_TO_ESTIMATE:
        return None
    try:
        left_out: Any = model.predict_left_out()
    except TooFewValuesError:
        return None
    result: LeftOut | LeftOutClasses = left_out if target is None else left_out[target]
    return None if target is not None and len(result.rows) < MIN_KNOWN_TO_ESTIMATE else result


def _to_cell(entry: Any) -> Any:
    plain = entry.item() if isinstance(entry, np.generic) else entry
    return "" if plain is None or plain != plain else plain


def clip_left_out(found: LeftOut, bounds: Bounds, known: NDArray[np.float64]) -> LeftOut:
    """Return left-out predictions clipped to bounds, with their new errors."""
    clipped = bounds.clip(found.predictions)
    means = np.full(clipped.size, found.mean)
    error = measure_left_out_error(known, found.values, clipped, means)
    error = replace(
        error, rmse_of_mean=found.error.rmse_of_mean, gnmse_of_mean=found.error.gnmse_of_mean
    )
    return replace(found, predictions=clipped, error=error)


def find_contributors(
    model: NodeModel,
    nodes: Sequence[Hashable],
    k: int,
    *,
    left_out: bool = False,
    target: Hashable = None,
) -> Contributors:
    """Find the k heaviest contributors of some nodes, in batches to bound memory.

    If fewer than k values are known, all of them are returned. With ``left_out``, the predictions
    are those of known nodes without their own values. ``target`` is one of several targets.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import find_contributors
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> find_contributors(model, ["b"], k=2).weights
    array([[0.5, 0.5]])
    """
    if len(nodes) == 0:
        return Contributors([], np.empty((0, 0)), np.empty((0, 0)))
    options: dict[str, Any] = {"left_out": left_out}
    options |= {} if target is None else {"target": target}
    first = model.explain(nodes[:1], **options)
    n_known = len(first.known_names)
    # A node that is left out alone has weight 0 in its own prediction.
    k = min(k, n_known - (left_out and not model.learns_by_steps))
    size = max(1, _BATCH_BYTES // (24 * max(1, n_known)))
    kind = np.float64 if first.class_names is None else np.object_
    names: list[list[Hashable]] = []
    predictions: list[Any] = []
    parts: list[dict[str, float]] = []
    smallest = 0.0
    weights, values = np.empty((len(nodes), k)), np.empty((len(nodes), k), dtype=kind)
    for start in range(0, len(nodes), size):
        part = model.explain(nodes[start : start + size], **options)
        order = part.find_heaviest(k)
        stop = start + order.shape[0]
        names += [[part.known_names[i] for i in row] for row in order.tolist()]
        weights[start:stop] = np.take_along_axis(part.weights, order, axis=1)
        labels = np.fromiter(part.known_labels, dtype=kind, count=n_known)
        values[start:stop] = labels[order]
        predictions += part.predicted_labels
        parts += [part.get_parts(row) for row in range(stop - start)]
        smallest = min(smallest, float(part.weights.min(initial=0.0)))
    return Contributors(names, weights, values, predictions, parts, smallest)
