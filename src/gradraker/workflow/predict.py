"""The user's job: a graph and some known values in, predictions for the other nodes out."""

from typing import Any, Literal

from sklearn.base import clone

from gradraker.models.node_model import NodeModel
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.workflow.node_predictions import NodePredictions


def predict_nodes(
    graph: Any,
    values: Any,
    *,
    model: NodeModel | None = None,
    coverage: float | None = None,
    unknown_nodes: Literal["error", "ignore", "isolated"] = "error",
    **graph_options: Any,
) -> NodePredictions:
    """Predict the values of all nodes of a graph from the known ones: the whole job.

    Parameters
    ----------
    graph : any graph that :func:`adjacency_vectors` takes
        Edges, a matrix, a mapping, a graph of another library, …
    values : mapping, Series, table, or array with NaN for unknown
        Known values; see :func:`gradraker.graph.known_values`.
    model : model of graphs, optional
        Settings of the learner; it is not changed. Default :class:`NodeRegressor`, which compares
        nodes by where walks from them lead and by their degrees. :class:`SKGNodeRegressor` is
        the paper's learner.
    coverage : float, optional
        Share of the true values that intervals should hold, such as 0.9.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that the graph does not have: refuse them, leave them
        out, or add them as nodes without edges.
    **graph_options
        ``nodes``, ``weight``, ``self_loops``, ``duplicates``, ``names`` and ``kind`` of
        :func:`adjacency_vectors`.

    Returns
    -------
    NodePredictions
        ``to_frame()`` makes a data frame of it, one row per node.

    Examples
    --------
    >>> from gradraker import predict_nodes
    >>> links = {"a": "xy", "b": "xy", "c": "uv", "d": "uv", "e": "xy"}
    >>> links = {node: list(neighbours) for node, neighbours in links.items()}
    >>> known = {"a": 1.0, "b": 1.0, "c": 9.0, "d": 9.0}
    >>> frame = predict_nodes(links, known).to_frame(n_contributors=1)
    >>> row = frame[frame.node == "e"].iloc[0]
    >>> bool(row.known), bool(row.prediction < 3.0), row.contributor_1 in ("a", "b")
    (False, True, True)
    """
    learner: NodeModel = NodeRegressor() if model is None else _check_model(model)
    learner.fit(graph, values, unknown_nodes=unknown_nodes, **graph_options)
    return predict_all(learner, coverage=coverage)


def predict_all(model: NodeModel, *, coverage: float | None = None) -> NodePredictions:
    """Predict all nodes of the graph of a fitted model."""
    nodes = model.nodes_
    if coverage is None:
        return NodePredictions(model, model.predict(nodes))
    predictions, intervals = model.predict(nodes, return_interval=True, coverage=coverage)
    return NodePredictions(model, predictions, intervals)


def _check_model(model: object) -> NodeModel:
    """Return an unfitted copy of a model of graphs."""
    if not isinstance(model, NodeModel):
        raise TypeError(
            "model must be a model of graphs, such as NodeRegressor() or SKGNodeRegressor(), got "
            f"{type(model).__name__}"
        )
    copy: NodeModel = clone(model)
    return copy
