"""Teach a fitted model more edges, then values, each predicted before it is learned."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradraker.models.node_model import NodeModel


@dataclass(frozen=True, eq=False)
class Update:
    """What an update taught a model.

    Attributes
    ----------
    learned : dict
        Node → value, of the values that the model learned.
    predicted : dict
        Node → what the model, with the new edges, predicted before it learned the value.
    n_passed_over : int
        Values that the model held already.
    graph_changed : bool
        Whether there are new nodes, new edges or other weights.
    mean : float
        Mean that the model compares values with.
    """

    learned: dict[Hashable, float]
    predicted: dict[Hashable, float]
    n_passed_over: int
    graph_changed: bool
    mean: float

    @property
    def rmse(self) -> float | None:
        """Error of the predictions made before learning; None if nothing was learned."""
        return self._measure(np.array(list(self.predicted.values())))

    @property
    def rmse_of_mean(self) -> float | None:
        """The same error if the mean had been predicted."""
        return self._measure(np.full(len(self.learned), self.mean))

    def _measure(self, predictions: Any) -> float | None:
        if not self.learned:
            return None
        values = np.array(list(self.learned.values()))
        return float(np.sqrt(np.mean((values - predictions) ** 2)))


def update_nodes(
    model: NodeModel,
    graph: Any = None,
    values: Mapping[Any, float] | None = None,
    *,
    unknown_nodes: str = "error",
    relearn: bool = False,
) -> Update:
    """Teach a fitted model more edges, then more values.

    Parameters
    ----------
    model : model of graphs
        Fitted; it is changed.
    graph : graph, optional
        Edges to add, in any form that ``fit`` takes.
    values : mapping from nodes to values, optional
        Values to learn; those that the model holds already are passed over.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that the graph does not have.
    relearn : bool, default=False
        Whether to learn also the values that the model holds already.

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
    mean = model.mean_
    before = model.adjacency_
    if graph is not None:
        model.partial_fit(graph)
    after = model.adjacency_
    changed = before.shape != after.shape or (before != after).nnz > 0
    given = {node: value for node, value in (values or {}).items() if value == value}
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
        mean=mean,
    )
