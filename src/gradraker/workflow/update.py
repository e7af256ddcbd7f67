"""Teach a fitted model more edges, then values; each value is first predicted, then learned."""

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
    """The changes that an update made to a model.

    Examples
    --------
    >>> from gradraker.workflow import update_nodes
    >>> update = update_nodes("model.gr", values={"b": 1.5})  # doctest: +SKIP
    """

    learned: Annotated[dict[Hashable, Any], "Node → value that the model learned."]
    predicted: Annotated[
        dict[Hashable, Any],
        "Node → prediction of the model, with the new edges, before it learned the value.",
    ]
    n_passed_over: Annotated[int, "Number of values that the model had already."]
    graph_changed: Annotated[
        bool, "Whether nodes, edges, weights or attributes were added or changed."
    ]
    fallback: Annotated[
        Any, "Mean of the known values, or the most common known class, before the update."
    ]
    task: Annotated[Task, "Whether values are numbers or labels of classes."] = "values"
    n_forgotten: Annotated[int, "Number of forgotten values, nodes and edges."] = 0

    @property
    def has_changed(self) -> bool:
        """Whether the update changed the model."""
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
        """Share of classes predicted correctly before learning; None if nothing was learned."""
        return self._count_correct(list(self.predicted.values()))

    @property
    def accuracy_of_most_common(self) -> float | None:
        """The same share if the most common known class had been predicted."""
        return self._count_correct([self.fallback] * len(self.learned))

    def _count_correct(self, predictions: list[Any]) -> float | None:
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
        Values to learn; those that the model has already are skipped.
    attributes : frame, array, sparse matrix or mapping, optional
        Attributes to add or replace, which are learned with the edges.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that are not in the graph.
    relearn : bool, default=False
        Whether to learn the values that the model has already, too.
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
    given_values = {node: v for node, v in (values or {}).items() if v == v and v is not None}
    _check_task(model, given_values)
    old_values = dict(zip(model.known_nodes_.tolist(), model.known_values_.tolist(), strict=True))
    new_values = {n: v for n, v in given_values.items() if relearn or old_values.get(n) != v}
    nodes = set(model.nodes_.tolist())
    learned_nodes = [node for node in new_values if node in nodes]
    predicted = model.predict(learned_nodes).tolist() if learned_nodes else []
    if new_values:
        model.partial_fit(values=new_values, unknown_nodes=unknown_nodes, relearn=relearn)
    return Update(
        learned={node: new_values[node] for node in learned_nodes},
        predicted=dict(zip(learned_nodes, predicted, strict=True)),
        n_passed_over=sum(node in nodes for node in given_values) - len(learned_nodes),
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
