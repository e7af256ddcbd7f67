"""Teach a fitted model more edges, then values, each predicted before it is learned."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from gradraker._fields import describe_fields
from gradraker.graph.adapters.columns import Task
from gradraker.models.node_model import NodeModel


@describe_fields
@dataclass(frozen=True, eq=False)
class Update:
    """What an update taught a model.

    Examples
    --------
    >>> from gradraker.workflow import update_nodes
    >>> update = update_nodes("model.gr", values={"b": 1.5})  # doctest: +SKIP
    """

    learned: Annotated[dict[Hashable, Any], "Node → value, of the values that the model learned."]
    predicted: Annotated[
        dict[Hashable, Any],
        "Node → what the model, with the new edges, predicted before it learned the value.",
    ]
    n_passed_over: Annotated[int, "Values that the model held already."]
    graph_changed: Annotated[
        bool, "Whether there are new nodes, new edges, other weights or attributes."
    ]
    fallback: Annotated[
        Any, "Mean that the model compares values with, or the class that was known most often."
    ]
    task: Annotated[Task, "Whether values are numbers or labels of classes."] = "values"
    n_forgotten: Annotated[int, "Values, nodes and edges that the model was told to forget."] = 0

    @property
    def has_changed(self) -> bool:
        """Whether the model is another one than before."""
        return bool(self.learned) or self.graph_changed or self.n_forgotten > 0

    @property
    def rmse(self) -> float | None:
        """Error of numbers predicted before learning; None if nothing was learned."""
        return self._measure(np.array(list(self.predicted.values())))

    @property
    def rmse_of_mean(self) -> float | None:
        """The same error if the mean had been predicted."""
        return self._measure(np.full(len(self.learned), self.fallback))

    @property
    def accuracy(self) -> float | None:
        """Share of classes predicted rightly before learning; None if nothing was learned."""
        return self._count_right(list(self.predicted.values()))

    @property
    def accuracy_of_most_common(self) -> float | None:
        """The same share if the class that was known most often had been predicted."""
        return self._count_right([self.fallback] * len(self.learned))

    def _count_right(self, predictions: list[Any]) -> float | None:
        if not self.learned or self.task != "classes":
            return None
        pairs = zip(self.learned.values(), predictions, strict=True)
        return sum(bool(label == predicted) for label, predicted in pairs) / len(self.learned)

    def _measure(self, predictions: Any) -> float | None:
        if not self.learned or self.task != "values":
            return None
        values = np.array(list(self.learned.values()))
        return float(np.sqrt(np.mean((values - predictions) ** 2)))


def update_nodes(
    model: NodeModel,
    graph: Any = None,
    values: Mapping[Any, Any] | None = None,
    *,
    attributes: Any = None,
    unknown_nodes: str = "error",
    relearn: bool = False,
    forget: Mapping[str, Any] | None = None,
    **graph_options: Any,
) -> Update:
    """Let a fitted model forget, then teach it more edges, then more values.

    Parameters
    ----------
    model : model of graphs
        Fitted; it is changed.
    graph : graph, optional
        Edges to add, in any form that ``fit`` takes.
    values : mapping from nodes to values, optional
        Values to learn; those that the model holds already are passed over.
    attributes : frame, array, sparse matrix or mapping, optional
        Attributes to add or replace, which are learned with the edges.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that the graph does not have.
    relearn : bool, default=False
        Whether to learn also the values that the model holds already.
    forget : mapping, optional
        ``values``, ``nodes`` and ``edges`` that the model forgets first; see
        :meth:`gradraker.models.NodeModel.forget`.
    **graph_options
        As in ``partial_fit``.

    Returns
    -------
    Update

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import update_nodes
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c"), ("c", "d")], {"a": 1.0, "d": 4.0})
    >>> update = update_nodes(model, [("d", "e")], {"e": 5.0, "a": 1.0})
    >>> update.learned, update.n_passed_over, update.graph_changed
    ({'e': 5.0}, 1, True)
    """
    task = model.value_kind.task
    fallback = model.mean_ if task == "values" else _find_most_common(model.known_values_.tolist())
    before = model.adjacency_
    removed = {name: list(items) for name, items in (forget or {}).items() if len(items)}
    if removed:
        model.forget(**removed)
    if graph is not None or attributes is not None:
        model.partial_fit(
            graph, attributes=attributes, unknown_nodes=unknown_nodes, **graph_options
        )
    after = model.adjacency_
    changed = before.shape != after.shape or (before != after).nnz > 0 or attributes is not None
    given = {node: v for node, v in (values or {}).items() if v == v and v is not None}
    _check_task(model, given)
    held = dict(zip(model.known_nodes_.tolist(), model.known_values_.tolist(), strict=True))
    news = {node: v for node, v in given.items() if relearn or held.get(node) != v}
    nodes = set(model.nodes_.tolist())
    listed = [node for node in news if node in nodes]
    predicted = model.predict(listed).tolist() if listed else []
    if news:
        model.partial_fit(values=news, unknown_nodes=unknown_nodes, relearn=relearn)
    return Update(
        learned={node: news[node] for node in listed},
        predicted=dict(zip(listed, predicted, strict=True)),
        n_passed_over=sum(node in nodes for node in given) - len(listed),
        graph_changed=changed,
        fallback=fallback,
        task=task,
        n_forgotten=sum(map(len, removed.values())),
    )


def _find_most_common(labels: list[Hashable]) -> Hashable:
    return Counter(labels).most_common(1)[0][0]


def _check_task(model: NodeModel, values: Mapping[Hashable, Any]) -> None:
    """Refuse texts for a model of numbers, before anything is learned."""
    texts = (value for value in values.values() if isinstance(value, str))
    text = next(texts, None)
    if text is not None and model.value_kind.task == "values":
        raise ValueError(f"values holds the text {text!r}, but the model has learned numbers")
