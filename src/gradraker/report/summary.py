"""Summary of a prediction job, as a dict ready for JSON."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import to_json_number
from gradraker.graph.node_graph import count_reversed
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.models.node_model import NodeModel
from gradraker.sweep.versions import VERSIONS
from gradraker.workflow import Contributors, NodePredictions

_MAX_DRAWN = 2000
# Left-out nodes with the largest errors, and contributors of each.
_N_WORST = 10
_N_REASONS = 3
_N_BINS = 10
# Whose attributes a block of the kernel holds.
_WHOSE = {
    "attributes": "of the node",
    "neighbour_attributes": "of neighbours",
    "neighbour_attributes1": "of neighbours",
    "neighbour_attributes2": "of neighbours of neighbours",
}


def summarize_predictions(
    result: NodePredictions,
    *,
    n_contributors: int = 0,
    inputs: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Summarize predictions, as ``gradraker predict --json`` prints and the report shows them.

    Parameters
    ----------
    result : NodePredictions
        Result of :func:`gradraker.predict_nodes`.
    n_contributors : int, default=0
        Number of contributors to list with each prediction of an unknown node.
    inputs : mapping of str to str, optional
        Names of the files that the data came from.
    settings : mapping, optional
        How the graph was read. The settings of the model are added.

    Returns
    -------
    dict
        Ready for JSON: numbers that are not finite are None. It has no date, so that equal jobs
        have equal summaries.

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
    facts = result.model.describe(target=result.target)
    readings = {name: str(reading) for name, reading in (result.readings or {}).items()}
    return {
        "command": "predict",
        "method": facts["method"],
        "task": result.task,
        "inputs": dict(inputs or {}),
        "readings": readings,
        "graph": _describe_graph(result),
        "values": _describe_known(result),
        "coverage": result.coverage,
        "bounds": describe_bounds(result),
        "sigma2": facts.get("sigma2"),
        "choice": facts.get("choice"),
        "attributes": describe_attributes(facts, result.model, target=result.target),
        "held_out": describe_left_out(result),
        "transfer": facts.get("transfer"),
        "predictions": list_predictions(result, n_contributors),
        "settings": dict(settings or {}) | facts["settings"],
        "versions": VERSIONS,
    }


def _describe_graph(result: NodePredictions) -> dict[str, Any]:
    model = result.model
    adjacency, degrees = model.adjacency_, model.count_neighbours()
    return {
        "nodes": len(degrees),
        "edges": count_edges(model),
        "entries": int(degrees.sum()),
        "weighted": bool(np.any(adjacency.data != 1.0)),
        "directed": model.is_directed_,
        "edges_with_reverse": count_reversed(adjacency) if model.is_directed_ else None,
        "neighbours_median": to_json_number(np.median(degrees)),
        "neighbours_largest": int(degrees.max()),
        "nodes_without_neighbours": int(np.sum(degrees == 0)),
    }


def count_edges(model: NodeModel) -> int:
    """Count the edges that the model uses; both entries of an undirected edge count once."""
    A = model.adjacency_
    if model.is_directed_:
        return int(A.nnz)
    return (int(A.nnz) + int(np.count_nonzero(A.diagonal()))) // 2


def _describe_known(result: NodePredictions) -> dict[str, Any]:
    known = result.is_known
    facts: dict[str, Any] = {"known": int(known.sum()), "unknown": int((~known).sum())}
    values = result.values[known]
    if result.task == "classes":
        n_known = Counter(values.tolist())
        n_predicted = Counter(result.predictions[~known].tolist())
        return facts | {
            "classes": [
                {"class": to_json_name(c), "known": n_known[c], "predicted": n_predicted[c]}
                for c in result.classes.tolist()
            ]
        }
    # Enough known values to draw their distribution.
    quantiles = np.sort(values)[:: max(1, values.size // _MAX_DRAWN)]
    return facts | {
        "quantiles": quantiles.tolist(),
        "mean": to_json_number(values.mean()),
        "standard_deviation": to_json_number(values.std()),
        "smallest": to_json_number(values.min()),
        "median": to_json_number(np.median(values)),
        "largest": to_json_number(values.max()),
    }


def describe_bounds(result: NodePredictions) -> dict[str, float | None]:
    """Return the ends of the range that values can have; None where it is open."""
    return {
        "lower": to_json_number(result.bounds.lower),
        "upper": to_json_number(result.bounds.upper),
    }


def list_predictions(result: NodePredictions, n_contributors: int) -> list[dict[str, Any]]:
    """List the predictions of the unknown nodes."""
    rows = np.flatnonzero(~result.is_known)
    nodes = result.nodes[rows].tolist()
    to_json = float if result.task == "values" else to_json_name
    listed: list[dict[str, Any]] = [
        {"node": to_json_name(node), "prediction": to_json(prediction)}
        for node, prediction in zip(nodes, result.predictions[rows].tolist(), strict=True)
    ]
    if result.intervals is not None:
        for entry, (lower, upper) in zip(listed, result.intervals[rows].tolist(), strict=True):
            entry |= {"lower": to_json_number(lower), "upper": to_json_number(upper)}
    if result.probabilities is not None:
        order = result.rank_classes()[rows]
        probabilities = np.take_along_axis(result.probabilities[rows], order, axis=1).tolist()
        labels = [to_json_name(label) for label in result.classes.tolist()]
        for entry, ranked, p in zip(listed, order.tolist(), probabilities, strict=True):
            entry["probability"] = p[0]
            entry["runners_up"] = [
                {"class": labels[ranked[i]], "probability": p[i]}
                for i in range(1, min(3, len(ranked)))
            ]
    if n_contributors > 0:
        found = result.find_contributors(n_contributors, nodes=nodes)
        for i, entry in enumerate(listed):
            entry["contributors"] = list_contributors(found, i)
    return listed


def list_least_certain(predictions: list[dict[str, Any]], k: int = 10) -> list[dict[str, Any]]:
    """List the predictions with the widest intervals or the smallest probabilities."""
    if not predictions:
        return []
    if "probability" in predictions[0]:
        return sorted(predictions, key=lambda entry: entry["probability"])[:k]
    if "lower" not in predictions[0]:
        return []
    return sorted(predictions, key=lambda entry: -_measure_width(entry))[:k]


def _measure_width(entry: dict[str, Any]) -> float:
    ends = entry["lower"], entry["upper"]
    return math.inf if None in ends else float(ends[1] - ends[0])


def describe_attributes(
    facts: dict[str, Any], model: NodeModel, *, target: object = None
) -> dict[str, Any] | None:
    """Return a model's facts about attributes, with names of classes and targets.

    Parameters
    ----------
    facts : dict
        Result of ``model.describe()``.
    model : model of graphs
        Fitted.
    target : name, optional
        A class, or one of several targets, whose coefficients are listed; default all.

    Returns
    -------
    dict or None
        None for a model without attributes. ``coefficients`` are the gains of a prediction (for a
        class: of its score) when an attribute is larger by one standard deviation.
    """
    attributes: dict[str, Any] | None = facts.get("attributes")
    if attributes is None:
        return None
    named = [_name_coefficient(entry, model) for entry in attributes["coefficients"]]
    wanted = None if target is None else to_json_name(target)
    chosen = [entry for entry in named if wanted in (None, entry.get("target"))]
    return attributes | {"coefficients": chosen}


def _name_coefficient(entry: dict[str, Any], model: NodeModel) -> dict[str, Any]:
    is_classes = model.value_kind.task == "classes"
    names = model.classes_.tolist() if is_classes else model.target_names_
    target = {"target": to_json_name(names[entry["target"]])} if names else {}
    return {
        "attribute": entry["attribute"],
        "whose": _WHOSE.get(entry["block"], entry["block"]),
        "coefficient": entry["coefficient"],
    } | target


# -- errors of known nodes that were left out -----------------------------------------------------


def describe_left_out(result: NodePredictions) -> dict[str, Any] | None:
    """Return errors of left-out nodes, ready for JSON; None if no node was left out."""
    left_out = result.left_out
    if left_out is None:
        return None
    if isinstance(left_out, LeftOut):
        return _describe_values(result, left_out)
    return _describe_classes(result, left_out)


def _describe_values(result: NodePredictions, left_out: LeftOut) -> dict[str, Any]:
    names = result.nodes[left_out.rows].tolist()
    errors = left_out.predictions - left_out.values
    points = [
        {"node": to_json_name(name), "value": value, "prediction": prediction}
        for name, value, prediction in zip(
            names, left_out.values.tolist(), left_out.predictions.tolist(), strict=True
        )
    ]
    worst = np.argsort(-np.abs(errors), kind="stable")[:_N_WORST].tolist()
    found = result.find_left_out_contributors(_N_REASONS, nodes=[names[i] for i in worst])
    largest = [
        points[i] | {"error": float(errors[i]), "contributors": list_contributors(found, k)}
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


def _describe_classes(result: NodePredictions, left_out: LeftOutClasses) -> dict[str, Any]:
    names = result.nodes[left_out.rows].tolist()
    classes = [to_json_name(label) for label in left_out.classes.tolist()]
    m = np.arange(len(names))
    certainty = left_out.probabilities[m, left_out.predicted]
    points = [
        {"node": to_json_name(name), "value": classes[c], "prediction": classes[p]}
        | {"probability": probability}
        for name, c, p, probability in zip(
            names,
            left_out.codes.tolist(),
            left_out.predicted.tolist(),
            certainty.tolist(),
            strict=True,
        )
    ]
    # The most surprising nodes are those whose true class was the least probable.
    p_of_true = left_out.probabilities[m, left_out.codes]
    wrong = np.flatnonzero(left_out.predicted != left_out.codes)
    worst = wrong[np.argsort(p_of_true[wrong], kind="stable")][:_N_WORST].tolist()
    found = result.find_left_out_contributors(_N_REASONS, nodes=[names[i] for i in worst])
    largest = [
        points[i]
        | {"probability_of_value": float(p_of_true[i]), "contributors": list_contributors(found, k)}
        for k, i in enumerate(worst)
    ]
    error, k = left_out.error, len(classes)
    counts = np.bincount(left_out.codes * k + left_out.predicted, minlength=k * k)
    return {
        "nodes": len(names),
        "one_at_a_time": True,
        "accuracy": to_json_number(error.accuracy),
        "accuracy_of_most_common": to_json_number(error.accuracy_of_most_common),
        "log_loss": to_json_number(error.log_loss),
        "calibration_error": to_json_number(error.calibration_error),
        # By known class (row) and predicted class (column).
        "confusion": {"classes": classes, "counts": counts.reshape(k, k).tolist()},
        "calibration": list_calibration(certainty, left_out.predicted == left_out.codes),
        "points": points,
        "largest_errors": largest,
    }


def list_calibration(
    certainty: NDArray[np.float64], is_correct: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """List how often predictions are correct, by their predicted probability."""
    bins = np.minimum((certainty * _N_BINS).astype(np.int64), _N_BINS - 1)
    listed = []
    for i in np.unique(bins).tolist():
        inside = bins == i
        listed.append(
            {
                "from": i / _N_BINS,
                "to": (i + 1) / _N_BINS,
                "nodes": int(inside.sum()),
                "probability": float(np.round(certainty[inside].mean(), 12)),
                "right": float(is_correct[inside].mean()),
            }
        )
    return listed


# -- names and values, ready for JSON -------------------------------------------------------------


def to_json_name(node: Any) -> Any:
    """Return a name or a label in a type that JSON has."""
    return node if isinstance(node, str | int) else str(node)


def to_json_value(value: Any) -> Any:
    """Return a number without rounding errors, or a label."""
    return round_off(value) if isinstance(value, float) else to_json_name(value)


def list_contributors(found: Contributors, i: int) -> list[dict[str, Any]]:
    """List the known nodes that count most in prediction ``i``, with weights and values."""
    pairs = zip(found.weights[i].tolist(), found.values[i].tolist(), strict=True)
    return [
        {"node": to_json_name(name), "weight": weight, "value": to_json_value(value)}
        for name, (weight, value) in zip(found.names[i], pairs, strict=True)
    ]


def round_off(value: float) -> float:
    """Remove the rounding errors of subtracting a mean from a value and adding it again.

    Examples
    --------
    >>> from gradraker.report.summary import round_off
    >>> (0.3 - 7.9) + 7.9, round_off((0.3 - 7.9) + 7.9)
    (0.2999999999999998, 0.3)
    """
    return float(f"{value:.12g}")
