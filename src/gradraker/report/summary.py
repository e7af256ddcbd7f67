"""Everything worth telling about a prediction job, as a dict that JSON can hold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import to_json_number
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.models.left_out import LeftOut
from gradraker.sweep.versions import collect_versions
from gradraker.workflow import NodePredictions, Update

# Left-out nodes with the largest errors, and contributors of each.
_N_WORST = 10
_N_REASONS = 3


def summarize_predictions(
    result: NodePredictions,
    *,
    n_edges: int | None = None,
    n_contributors: int = 0,
    inputs: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Summarize predictions: what ``gradraker predict --json`` prints and the report shows.

    Parameters
    ----------
    result : NodePredictions
        What :func:`gradraker.predict_nodes` returned.
    n_edges : int, optional
        Edges of the graph; default the entries of its adjacency matrix.
    n_contributors : int, default=0
        How many contributors to list with the prediction of each unknown node.
    inputs : mapping of str to str, optional
        Names of the files that the data came from.
    settings : mapping, optional
        How the graph was read. The settings of the model are added.

    Returns
    -------
    dict
        Of what JSON can hold: numbers that are not finite are None. It has no date, so that
        equal jobs have equal summaries.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> from gradraker.report import summarize_predictions
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> summary = summarize_predictions(predict_nodes(data, known))
    >>> summary["values"]["known"], summary["values"]["unknown"]
    (60, 29)
    >>> summary["held_out"]["rmse"] < summary["held_out"]["rmse_of_mean"]
    True
    """
    known, left_out = result.is_known, result.left_out
    facts = result.model.describe()
    return {
        "command": "predict",
        "method": facts["method"],
        "inputs": dict(inputs or {}),
        "graph": _describe_graph(result, n_edges),
        "values": _describe_values(result.values[known], n_unknown=int((~known).sum())),
        "sigma2": facts.get("sigma2"),
        "choice": facts.get("choice"),
        "held_out": None if left_out is None else _describe_left_out(result, left_out),
        "transfer": facts.get("transfer"),
        "predictions": list_predictions(result, n_contributors),
        "settings": dict(settings or {}) | facts["settings"],
        "versions": collect_versions(),
    }


def _describe_graph(result: NodePredictions, n_edges: int | None) -> dict[str, Any]:
    adjacency, degrees = result.model.adjacency_, result.model.count_neighbours()
    return {
        "nodes": len(degrees),
        "edges": adjacency.nnz if n_edges is None else n_edges,
        "entries": int(degrees.sum()),
        "weighted": bool(np.any(adjacency.data != 1.0)),
        "neighbours_median": to_json_number(np.median(degrees)),
        "neighbours_largest": int(degrees.max()),
        "nodes_without_neighbours": int(np.sum(degrees == 0)),
    }


def _describe_values(values: NDArray[np.float64], *, n_unknown: int) -> dict[str, Any]:
    return {
        "known": values.size,
        "unknown": n_unknown,
        "mean": to_json_number(values.mean()),
        "standard_deviation": to_json_number(values.std()),
        "smallest": to_json_number(values.min()),
        "median": to_json_number(np.median(values)),
        "largest": to_json_number(values.max()),
    }


def _describe_left_out(result: NodePredictions, left_out: LeftOut) -> dict[str, Any]:
    names = result.nodes[left_out.rows].tolist()
    errors = left_out.predictions - left_out.values
    worst = np.argsort(-np.abs(errors), kind="stable")[:_N_WORST].tolist()
    found = result.find_left_out_contributors(_N_REASONS, nodes=[names[i] for i in worst])
    points = [
        {"node": _to_json_name(name), "value": value, "prediction": prediction}
        for name, value, prediction in zip(
            names, left_out.values.tolist(), left_out.predictions.tolist(), strict=True
        )
    ]
    largest = [
        points[i]
        | {"error": float(errors[i])}
        | {"contributors": _list_contributors(found.names[k], found.weights[k], found.values[k])}
        for k, i in enumerate(worst)
    ]
    return {
        "nodes": len(names),
        "one_at_a_time": left_out.one_at_a_time,
        "mean": left_out.mean,
        "rmse": to_json_number(left_out.error.rmse),
        "rmse_of_mean": to_json_number(left_out.error.rmse_of_mean),
        "gnmse": to_json_number(left_out.error.gnmse),
        "gnmse_of_mean": to_json_number(left_out.error.gnmse_of_mean),
        "points": points,
        "largest_errors": largest,
    }


def list_predictions(result: NodePredictions, n_contributors: int) -> list[dict[str, Any]]:
    """List the predictions of the nodes whose values are unknown."""
    rows = np.flatnonzero(~result.is_known)
    nodes = result.nodes[rows].tolist()
    listed: list[dict[str, Any]] = [
        {"node": _to_json_name(node), "prediction": prediction}
        for node, prediction in zip(nodes, result.predictions[rows].tolist(), strict=True)
    ]
    if result.intervals is not None:
        for one, (lower, upper) in zip(listed, result.intervals[rows].tolist(), strict=True):
            one |= {"lower": to_json_number(lower), "upper": to_json_number(upper)}
    if n_contributors > 0:
        found = result.find_contributors(n_contributors, nodes=nodes)
        for i, one in enumerate(listed):
            one["contributors"] = _list_contributors(
                found.names[i], found.weights[i], found.values[i]
            )
    return listed


def summarize_update(
    update: Update, result: NodePredictions, *, n_contributors: int
) -> dict[str, Any]:
    """Summarize an update: what ``gradraker update --json`` prints."""
    model = result.model
    facts = model.describe()
    summary = {
        "command": "update",
        "method": facts["method"],
        "nodes": len(model.nodes_),
        "edges": int(model.adjacency_.nnz),
        "graph_changed": update.graph_changed,
        "learned": len(update.learned),
        "passed_over": update.n_passed_over,
        "known": len(model.known_nodes_),
        "rmse_before": update.rmse,
        "rmse_of_mean": update.rmse_of_mean,
        "mean": update.mean,
    }
    if "steps" in facts:
        summary |= {"steps": facts["steps"], "sigma2": facts["sigma2"]["value"]}
    return summary | {"predictions": list_predictions(result, n_contributors)}


def summarize_explanation(explanation: LinearExplanation, *, mean: float, k: int) -> dict[str, Any]:
    """Summarize why the first explained node got its prediction: what ``gradraker explain`` prints.

    Contributions are weight × (value − mean), the part by which a known value moves the prediction
    from the mean.
    """
    weights, moved = explanation.weights[0], explanation.values - mean
    order = explanation.find_heaviest(k)[0].tolist()
    total, listed = float(weights @ moved), float(weights[order] @ moved[order])
    further = explanation.describe_pairs([0] * len(order), order)
    return {
        "node": str(explanation.node_names[0]),
        "prediction": float(explanation.prediction[0]),
        "mean": mean,
        "observed": int(weights.size),
        "sum_of_weights": float(weights.sum()),
        "listed_part": listed / total if total != 0.0 else 1.0,
        "contributors": [
            {
                "node": str(explanation.known_names[i]),
                "weight": float(weights[i]),
                "value": round_off(float(explanation.values[i])),
                "contribution": float(weights[i] * moved[i]),
            }
            | {name: float(column[at]) for name, column in further.items()}
            for at, i in enumerate(order)
        ],
    }


def _list_contributors(
    names: list[Any], weights: NDArray[np.float64], values: NDArray[np.float64]
) -> list[dict[str, Any]]:
    return [
        {"node": _to_json_name(name), "weight": weight, "value": round_off(value)}
        for name, weight, value in zip(names, weights.tolist(), values.tolist(), strict=True)
    ]


def _to_json_name(node: Any) -> Any:
    return node if isinstance(node, str | int) else str(node)


def round_off(value: float) -> float:
    """Return a value as it was before a mean was subtracted from it and added again.

    Examples
    --------
    >>> (0.3 - 7.9) + 7.9, round_off((0.3 - 7.9) + 7.9)
    (0.2999999999999998, 0.3)
    """
    return float(f"{value:.12g}")
