"""The user's job: a graph and some known values in, predictions for the other nodes out."""

from collections.abc import Hashable, Iterable
from typing import Any, Literal

from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.workflow.node_job import predict_by_nodes
from gradraker.workflow.node_predictions import NodePredictions
from gradraker.workflow.skg_job import predict_by_skg

METHODS = ("nodes", "skg")


def predict_unknown(
    graph: Any,
    values: Any,
    *,
    method: Literal["nodes", "skg"] | None = None,
    coverage: float | None = None,
    references: Iterable[Hashable] | None = None,
    direction: Literal["out", "in", "both"] | None = None,
    weight: Hashable = None,
    self_loops: Literal["keep", "add", "drop"] = "keep",
    hops: int = 1,
    hop_weights: Literal["count", "binary", "random_walk"] = "count",
    duplicates: Literal["sum", "last", "error"] = "sum",
    unknown_nodes: Literal["error", "ignore", "isolated"] = "error",
    model: NodeRegressor | SKGRegressor | None = None,
    random_state: int = 0,
) -> NodePredictions:
    """Train on the known nodes of a graph and predict all of them; see :func:`predict_nodes`."""
    options = {"weight": weight, "self_loops": self_loops, "duplicates": duplicates}
    chosen = _method(method, model)
    if chosen == "skg":
        if coverage is not None:
            raise ValueError(f"coverage is for method='nodes', got {coverage!r} with method='skg'")
        base = SKGRegressor(random_state=random_state) if model is None else model
        assert isinstance(base, SKGRegressor)
        return predict_by_skg(
            graph,
            values,
            base=base,
            references=references,
            unknown_nodes=unknown_nodes,
            random_state=random_state,
            options=options
            | {"direction": direction or "out", "hops": hops, "hop_weights": hop_weights},
        )
    for argument, got, default in (
        ("references", references, None),
        ("hops", hops, 1),
        ("hop_weights", hop_weights, "count"),
    ):
        if got != default:
            raise ValueError(f"{argument} is for method='skg', got {got!r} with method='nodes'")
    base_model = NodeRegressor(random_state=random_state) if model is None else model
    if direction is not None and model is not None:
        raise ValueError(f"direction is a parameter of the given model, got {direction!r} as well")
    if direction is not None:
        base_model.set_params(direction=direction)
    assert isinstance(base_model, NodeRegressor)
    return predict_by_nodes(
        graph,
        values,
        base=base_model,
        unknown_nodes=unknown_nodes,
        coverage=coverage,
        options=options,
    )


def _method(method: Any, model: Any) -> str:
    """The method that was asked for, or that the given model is of."""
    if method is not None and method not in METHODS:
        raise ValueError(f"method must be 'nodes' or 'skg', got {method!r}")
    if model is None:
        return method or "nodes"
    for name, kind in (("nodes", NodeRegressor), ("skg", SKGRegressor)):
        if isinstance(model, kind) and method in (None, name):
            return name
    wanted = {None: "a NodeRegressor or an SKGRegressor", "nodes": "a NodeRegressor"}
    raise TypeError(
        f"model must be {wanted.get(method, 'an SKGRegressor')}, got {type(model).__name__}"
    )


def predict_nodes(
    graph: Any,
    values: Any,
    *,
    n_contributors: int = 0,
    **options: Any,
) -> Any:
    """Predict the values of all nodes of a graph from those that are known: the whole job.

    Parameters
    ----------
    graph : any graph that :func:`adjacency_vectors` takes
        Edges, a matrix, a mapping, a graph of another library, …
    values : mapping, Series, table, or array with NaN for unknown
        Known values; see :func:`known_values`.
    n_contributors : int, default=0
        How many of the known nodes that count most to list with each prediction.
    method : {"nodes", "skg"}, optional
        ``"nodes"``, the default, is :class:`NodeRegressor`: nodes are compared by where walks
        from them lead and by their degrees, and everything is chosen by leave-one-out.
        ``"skg"`` is the paper's :class:`SKGRegressor` on adjacency vectors, centred by the mean.
    coverage : float, optional
        With method "nodes": part of the true values that intervals should hold, such as 0.9.
    references : sequence of names, optional
        With method "skg": the nodes that vectors point to; default all nodes of the graph. Their
        values are not needed; what that brings over the known nodes alone is measured in
        ``docs/graphs.md``.
    direction : {"out", "in", "both"}, optional
        Which edges describe a node; default "both" for method "nodes", "out" for "skg".
    weight, self_loops, duplicates
        As in :func:`adjacency_vectors`.
    hops : int, default=1
    hop_weights : {"count", "binary", "random_walk"}, default="count"
        With method "skg": as in :func:`adjacency_vectors`.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that the graph does not have: refuse them, leave them
        out, or take them for nodes without edges, which a list of edges cannot hold.
    model : NodeRegressor or SKGRegressor, optional
        Settings of the learner; it is not changed.
    random_state : int, default=0
        Seed.

    Returns
    -------
    pandas.DataFrame
        Columns node, known, value and prediction, with ``coverage`` also lower and upper, and
        with ``n_contributors`` = k also contributor_1, weight_1, …, contributor_k, weight_k. One
        row a node, in the order of ``adjacency_vectors(graph).nodes``.

    Notes
    -----
    With method "nodes" a prediction is Σ weight × value over the known nodes, and the weights
    sum to 1. With method "skg" it is mean + Σ weight × (value − mean), and a node that
    resembles none that is known gets about the mean.

    Examples
    --------
    >>> from gradraker import predict_nodes
    >>> links = {"a": "xy", "b": "xy", "c": "uv", "d": "uv", "e": "xy"}
    >>> links = {node: list(neighbours) for node, neighbours in links.items()}
    >>> known = {"a": 1.0, "b": 1.0, "c": 9.0, "d": 9.0}
    >>> frame = predict_nodes(links, known, n_contributors=1)
    >>> row = frame[frame.node == "e"].iloc[0]
    >>> bool(row.known), bool(row.prediction < 3.0), row.contributor_1 in ("a", "b")
    (False, True, True)
    """
    return predict_unknown(graph, values, **options).frame(n_contributors=n_contributors)
