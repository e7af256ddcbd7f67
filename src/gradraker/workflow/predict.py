"""Predict the unknown nodes of a graph from the known ones, in one call."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from gradraker._validation import check_number
from gradraker.exceptions import ArgumentError
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.adapters.columns import Task
from gradraker.graph.adapters.tables import ValueTable, is_table
from gradraker.graph.edges import EdgeList, Reading
from gradraker.graph.labels import find_task
from gradraker.graph.values import NodeValues, select_columns, split_targets
from gradraker.models.node_model import NodeModel
from gradraker.models.walks.node_classifier import NodeClassifier
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.workflow.node_predictions import Bounds, NodePredictions


def predict_nodes(
    graph: Any,
    values: Any,
    *,
    attributes: Any = None,
    sample_weight: Any = None,
    model: NodeModel | None = None,
    task: Task | None = None,
    coverage: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    unknown_nodes: Literal["error", "ignore", "isolated"] = "error",
    node: Hashable = None,
    value: Hashable = None,
    **graph_options: Any,
) -> NodePredictions:
    """Predict the values of all nodes of a graph from the known ones, in one call.

    Parameters
    ----------
    graph : any graph that :func:`adjacency_vectors` takes
        Edges, a matrix, a mapping, a graph of another library, …
    values : mapping, Series, table, or array with NaN or None for unknown
        Known values; see :func:`gradraker.graph.known_values`. Texts are labels of classes.
    attributes : frame, array, sparse matrix or mapping, optional
        Attributes of nodes, as :meth:`gradraker.NodeRegressor.fit` takes them.
    sample_weight : mapping, Series, array, or name of a column of values, optional
        How much known values are trusted, as :meth:`gradraker.NodeRegressor.fit` takes it.
    model : model of graphs, optional
        Settings of the learner; it is not changed. Default :class:`NodeRegressor`, or
        :class:`NodeClassifier` for classes, which compare nodes by where walks from them end and
        by their degrees. :class:`SKGNodeRegressor` is the paper's learner, for numbers.
    task : {"values", "classes"}, optional
        Whether values are numbers or labels of classes. Default: the task of the model, or, if
        none is given, classes for texts and values for numbers.
    coverage : float, optional
        Share of the true values that intervals should hold, such as 0.9; for numbers.
    lower, upper : float, optional
        Ends of the range that numbers can have: predictions and intervals are clipped to it,
        explanations are not.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values and attributes of nodes that are not in the graph: raise an error,
        ignore them, or add them as nodes without edges.
    node, value : name or position of a column, optional
        Columns of a table of values; see :func:`gradraker.graph.known_values`.
    **graph_options
        ``nodes``, ``weight``, ``self_loops``, ``duplicates``, ``names``, ``kind``, ``source``,
        ``target`` and ``directed`` of :func:`adjacency_vectors`.

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
    if isinstance(value, list | tuple):
        raise ValueError(
            f"value names {len(value)} columns, but predict_nodes predicts one target: "
            "gradraker.workflow.predict_targets predicts several"
        )
    known = select_columns(values, node=node, value=value, task=task)
    if isinstance(sample_weight, str | int) and is_table(values):
        sample_weight = select_columns(values, node=node, value=sample_weight, task="values")
    learner, readings = _fit_model(
        _choose_model(model, task, known),
        graph,
        known,
        attributes=attributes,
        sample_weight=sample_weight,
        unknown_nodes=unknown_nodes,
        **graph_options,
    )
    found = predict_all(learner, coverage=coverage, lower=lower, upper=upper)
    return replace(found, readings=readings)


def predict_targets(
    graph: Any,
    values: Any,
    *,
    model: NodeModel | None = None,
    task: Task | None = None,
    coverage: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    node: Hashable = None,
    value: Any = None,
    **options: Any,
) -> dict[Hashable, NodePredictions]:
    """Predict the values of all nodes of a graph, of any number of targets: the whole job.

    Parameters
    ----------
    graph
        As in :func:`predict_nodes`.
    values : as in :meth:`gradraker.models.NodeModel.fit`
        Several targets are an array (n, K), a mapping from nodes to K numbers or to mappings from
        targets to numbers, or a table with a list of columns as ``value``.
    model, task
        As in :func:`predict_nodes`; several targets are numbers.
    coverage, lower, upper
        As in :func:`predict_nodes`, for each target.
    **options
        Further options of :meth:`gradraker.models.NodeModel.fit`.

    Returns
    -------
    dict of NodePredictions
        By target; None names the only one.

    Examples
    --------
    >>> from gradraker.workflow import predict_targets
    >>> known = {"a": {"age": 30.0, "income": 5.0}, "c": {"age": 50.0, "income": 7.0}}
    >>> found = predict_targets([("a", "b"), ("b", "c")], known)
    >>> {target: result.predictions.shape for target, result in found.items()}
    {'age': (3,), 'income': (3,)}
    """
    bounds: Any = {"coverage": coverage, "lower": lower, "upper": upper}
    if task == "classes" or split_targets(values, node=node, value=value) is None:
        columns: Any = {"node": node, "value": value}
        return {
            None: predict_nodes(
                graph, values, model=model, task=task, **bounds, **columns, **options
            )
        }
    learner = _choose_model(model, "values", values)
    learner, readings = _fit_model(learner, graph, values, node=node, value=value, **options)
    found = predict_all_targets(learner, **bounds)
    return {target: replace(result, readings=readings) for target, result in found.items()}


def _fit_model(
    learner: NodeModel, graph: Any, values: Any, **options: Any
) -> tuple[NodeModel, dict[str, Reading]]:
    """Fit a model, and return it with how tables of edges and values were read."""
    edges, remaining = _select_edges(graph, options)
    learner.fit(edges, values, **remaining)
    tables = {"edges": edges, "values": values}
    kinds = EdgeList | ValueTable | NodeValues
    read = {name: table.reading for name, table in tables.items() if isinstance(table, kinds)}
    return learner, {name: reading for name, reading in read.items() if reading is not None}


def predict_all(
    model: NodeModel,
    *,
    coverage: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
) -> NodePredictions:
    """Predict all nodes of the graph of a fitted model.

    Parameters
    ----------
    model : model of graphs
        Fitted.
    coverage, lower, upper
        As in :func:`predict_nodes`.

    Returns
    -------
    NodePredictions

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import predict_all
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> predict_all(model).predictions.shape
    (3,)
    """
    if model.target_names_:
        raise ValueError(
            f"model has learned the targets {model.target_names_}: predict_all_targets predicts "
            "them"
        )
    nodes, bounds = model.nodes_, _make_bounds(lower, upper)
    if model.value_kind.task == "classes":
        for argument, given in (("coverage", coverage), ("lower", lower), ("upper", upper)):
            if given is not None:
                raise ArgumentError(argument, "None for classes, which have probabilities", given)
        return NodePredictions(
            model, model.predict(nodes), probabilities=model.predict_proba(nodes)
        )
    predictions, ends = _predict_numbers(model, coverage, bounds)
    return NodePredictions(model, predictions, ends, coverage, bounds=bounds)


def predict_all_targets(
    model: NodeModel,
    *,
    coverage: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
) -> dict[Hashable, NodePredictions]:
    """Predict all nodes of the graph of a model that has learned any number of targets.

    Parameters
    ----------
    model : model of graphs
        Fitted.
    coverage, lower, upper
        As in :func:`predict_nodes`, for each target.

    Returns
    -------
    dict of NodePredictions
        By target; None names the only one.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import predict_all_targets
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": [30.0, 5.0], "c": [50.0, 7.0]})
    >>> list(predict_all_targets(model))
    [0, 1]
    """
    if not model.target_names_:
        return {None: predict_all(model, coverage=coverage, lower=lower, upper=upper)}
    bounds = _make_bounds(lower, upper)
    columns, ends = _predict_numbers(model, coverage, bounds)
    return {
        target: NodePredictions(
            model,
            columns[:, j],
            None if ends is None else ends[:, j],
            coverage,
            bounds=bounds,
            target=target,
        )
        for j, target in enumerate(model.target_names_)
    }


def _predict_numbers(model: NodeModel, coverage: float | None, bounds: Bounds) -> tuple[Any, Any]:
    """Return predictions of all nodes, and intervals if coverage is given, clipped to bounds."""
    if coverage is None:
        return bounds.clip(model.predict(model.nodes_)), None
    found = model.predict(model.nodes_, return_interval=True, coverage=coverage)
    predictions, ends = map(bounds.clip, found)
    return predictions, ends


def _make_bounds(lower: float | None, upper: float | None) -> Bounds:
    for argument, given in (("lower", lower), ("upper", upper)):
        if given is not None:
            check_number(argument, given)
    return Bounds(-np.inf if lower is None else lower, np.inf if upper is None else upper)


def _choose_model(model: object, task: Task | None, values: Any) -> NodeModel:
    """Return an unfitted model for the task that the values have."""
    if task not in (None, "values", "classes"):
        raise ArgumentError("task", "'values', 'classes' or None", task)
    if model is None:
        kinds = {"values": NodeRegressor, "classes": NodeClassifier}
        learner: NodeModel = kinds[task or find_task(values)]()
        return learner
    learner = _check_model(model)
    predicted = learner.value_kind.task
    if predicted != (task or predicted):
        raise ValueError(
            f"task is {task!r}, but {type(learner).__name__} predicts {predicted}: pass another "
            "model, or leave task out"
        )
    if predicted == "values" and task is None and find_task(values) == "classes":
        raise ValueError(
            f"values holds texts, which are classes, but {type(learner).__name__} predicts "
            "numbers: pass model=NodeClassifier(), or give numbers"
        )
    return learner


def _select_edges(graph: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the edges of a table with a note on how it was read, and the remaining options."""
    if isinstance(graph, EdgeList) or not is_table(graph):
        return graph, options
    columns = {name: options.get(name) for name in ("source", "target", "weight")}
    edges = to_edge_list(graph, GraphOptions(**columns))
    remaining = {name: given for name, given in options.items() if name not in columns}
    return edges, remaining


def _check_model(model: object) -> NodeModel:
    """Return an unfitted copy of a model of graphs."""
    if not isinstance(model, NodeModel):
        raise TypeError(
            "model must be a model of graphs, such as NodeRegressor() or SKGNodeRegressor(), got "
            f"{type(model).__name__}"
        )
    copy: NodeModel = clone(model)
    return copy
