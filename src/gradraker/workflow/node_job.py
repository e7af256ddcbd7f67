"""Predict the nodes of a graph by a node model."""

from typing import Any

from sklearn.base import clone

from gradraker.graph import AdjacencyVectors, known_values
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.workflow.held_out import leave_one_out
from gradraker.workflow.node_predictions import NodePredictions


def predict_by_nodes(
    graph: Any,
    values: Any,
    *,
    base: NodeRegressor,
    unknown_nodes: Any,
    coverage: float | None,
    options: dict[str, Any],
) -> NodePredictions:
    """Fit a copy of ``base`` to a graph and its known values and predict all nodes."""
    model: NodeRegressor = clone(base)
    model.fit(graph, values, unknown_nodes=unknown_nodes, **options)
    return all_predictions(model, coverage=coverage)


def all_predictions(model: NodeRegressor, *, coverage: float | None = None) -> NodePredictions:
    """What a fitted node model says of all nodes of its graph."""
    nodes = model.nodes_.tolist()
    learned = dict(zip(model.known_nodes_.tolist(), model.known_values_.tolist(), strict=True))
    values = known_values(learned, model.nodes_)
    intervals = None
    if coverage is None:
        predictions = model.predict(nodes)
    else:
        predictions, intervals = model.predict(nodes, return_interval=True, coverage=coverage)
    vectors = AdjacencyVectors(model.adjacency_, model.nodes_, model.nodes_)
    held_out = leave_one_out(model, values)
    return NodePredictions(vectors, values, predictions, 0.0, model, held_out, intervals)


def update_by_nodes(
    model: NodeRegressor,
    graph: Any,
    values: dict[Any, float],
    *,
    unknown_nodes: Any = "error",
    **options: Any,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Teach a model more edges, then more values.

    Returns
    -------
    new : dict
        Node → value, of the values that the model did not hold before.
    before : dict
        Node → what the model, with the new edges, predicted for these before it learned them.
    """
    model.partial_fit(graph, **options)
    learned = dict(zip(model.known_nodes_.tolist(), model.known_values_.tolist(), strict=True))
    new = {node: value for node, value in values.items() if learned.get(node) != value}
    known_names = set(model.nodes_.tolist())
    asked = [node for node in new if node in known_names]
    predicted = model.predict(asked).tolist() if asked else []
    if new:
        model.partial_fit(values=new, unknown_nodes=unknown_nodes)
    new = {node: new[node] for node in asked}
    return new, dict(zip(asked, predicted, strict=True))
