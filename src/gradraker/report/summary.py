"""Everything worth telling about a prediction job, as a dict that JSON can hold."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradraker._validation import to_json_number
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.node_graph import count_reversed
from gradraker.models.node_model import NodeModel
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.models.walks.targets.transforms import NoTransform
from gradraker.report.names import list_contributors, round_off, to_json_name, to_json_value
from gradraker.report.quality import describe_left_out
from gradraker.sweep.versions import collect_versions
from gradraker.workflow import NodePredictions, Update

_MOST_DRAWN = 2000
# Whose attributes the blocks of a kernel hold.
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
    """Summarize predictions: what ``gradraker predict --json`` prints and the report shows.

    Parameters
    ----------
    result : NodePredictions
        What :func:`gradraker.predict_nodes` returned.
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
    facts = result.model.describe()
    readings = {what: str(reading) for what, reading in (result.readings or {}).items()}
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
        "choice": _describe_choice(result, facts),
        "attributes": describe_attributes(facts, result.model, target=result.target),
        "held_out": describe_left_out(result),
        "transfer": facts.get("transfer"),
        "predictions": list_predictions(result, n_contributors),
        "settings": dict(settings or {}) | facts["settings"],
        "versions": collect_versions(),
    }


def _describe_choice(result: NodePredictions, facts: dict[str, Any]) -> Any:
    """Return what the model chose; of several targets, with the scale of this one."""
    if not isinstance(result.model, NodeRegressor) or result.target is None:
        return facts.get("choice")
    formula = result.model.transform_[result.target]
    is_plain = formula == NoTransform().formula
    return facts["choice"] | {"formula": formula} | ({"transform": "none"} if is_plain else {})


def _describe_graph(result: NodePredictions) -> dict[str, Any]:
    model = result.model
    adjacency, degrees = model.adjacency_, model.count_neighbours()
    return {
        "nodes": len(degrees),
        "edges": _count_edges(model),
        "entries": int(degrees.sum()),
        "weighted": bool(np.any(adjacency.data != 1.0)),
        "directed": model.is_directed_,
        "edges_with_reverse": count_reversed(adjacency) if model.is_directed_ else None,
        "neighbours_median": to_json_number(np.median(degrees)),
        "neighbours_largest": int(degrees.max()),
        "nodes_without_neighbours": int(np.sum(degrees == 0)),
    }


def _count_edges(model: NodeModel) -> int:
    """Return the edges that the model uses; without directions, both entries are one edge."""
    A = model.adjacency_
    if model.is_directed_:
        return int(A.nnz)
    return (int(A.nnz) + int(np.count_nonzero(A.diagonal()))) // 2


def _describe_known(result: NodePredictions) -> dict[str, Any]:
    known = result.is_known
    facts: dict[str, Any] = {"known": int(known.sum()), "unknown": int((~known).sum())}
    values = result.values[known]
    if result.task == "classes":
        given, predicted = Counter(values.tolist()), Counter(result.predictions[~known].tolist())
        return facts | {
            "classes": [
                {"class": to_json_name(c), "known": given[c], "predicted": predicted[c]}
                for c in result.classes.tolist()
            ]
        }
    # Enough of the known values to draw their distribution.
    kept = np.sort(values)[:: max(1, values.size // _MOST_DRAWN)]
    return facts | {
        "quantiles": kept.tolist(),
        "mean": to_json_number(values.mean()),
        "standard_deviation": to_json_number(values.std()),
        "smallest": to_json_number(values.min()),
        "median": to_json_number(np.median(values)),
        "largest": to_json_number(values.max()),
    }


def describe_bounds(result: NodePredictions) -> dict[str, float | None]:
    """Return the ends of the range that values can have; None where there is none."""
    return {
        "lower": to_json_number(result.bounds.lower),
        "upper": to_json_number(result.bounds.upper),
    }


def list_predictions(result: NodePredictions, n_contributors: int) -> list[dict[str, Any]]:
    """List the predictions of the nodes whose values are unknown."""
    rows = np.flatnonzero(~result.is_known)
    nodes = result.nodes[rows].tolist()
    to_json = float if result.task == "values" else to_json_name
    listed: list[dict[str, Any]] = [
        {"node": to_json_name(node), "prediction": to_json(prediction)}
        for node, prediction in zip(nodes, result.predictions[rows].tolist(), strict=True)
    ]
    if result.intervals is not None:
        for one, (lower, upper) in zip(listed, result.intervals[rows].tolist(), strict=True):
            one |= {"lower": to_json_number(lower), "upper": to_json_number(upper)}
    if result.probabilities is not None:
        order = result.rank_classes()[rows]
        chances = np.take_along_axis(result.probabilities[rows], order, axis=1).tolist()
        labels = [to_json_name(label) for label in result.classes.tolist()]
        for one, ranked, p in zip(listed, order.tolist(), chances, strict=True):
            one["probability"] = p[0]
            one["runners_up"] = [
                {"class": labels[ranked[i]], "probability": p[i]}
                for i in range(1, min(3, len(ranked)))
            ]
    if n_contributors > 0:
        found = result.find_contributors(n_contributors, nodes=nodes)
        for i, one in enumerate(listed):
            one["contributors"] = list_contributors(
                found.names[i], found.weights[i], found.values[i]
            )
    return listed


def list_least_certain(predictions: list[dict[str, Any]], k: int = 10) -> list[dict[str, Any]]:
    """List the predictions with the widest intervals, or with the smallest probabilities."""
    if not predictions:
        return []
    if "probability" in predictions[0]:
        return sorted(predictions, key=lambda one: one["probability"])[:k]
    if "lower" not in predictions[0]:
        return []
    return sorted(predictions, key=lambda one: -_measure_width(one))[:k]


def _measure_width(one: dict[str, Any]) -> float:
    ends = one["lower"], one["upper"]
    return math.inf if None in ends else float(ends[1] - ends[0])


def summarize_update(
    update: Update, result: NodePredictions, *, n_contributors: int
) -> dict[str, Any]:
    """Summarize an update: what ``gradraker update --json`` prints.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.report import summarize_update
    >>> from gradraker.workflow import predict_all, update_nodes
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> update = update_nodes(model, values={"b": 1.5})
    >>> summarize_update(update, predict_all(model), n_contributors=0)["learned"]
    1
    """
    model = result.model
    facts = model.describe()
    summary = {
        "command": "update",
        "method": facts["method"],
        "task": result.task,
        "nodes": len(model.nodes_),
        "edges": _count_edges(model),
        "directed": model.is_directed_,
        "graph_changed": update.graph_changed,
        "learned": len(update.learned),
        "passed_over": update.n_passed_over,
        "forgotten": update.n_forgotten,
        "known": len(model.known_nodes_),
        "coverage": result.coverage,
        "bounds": describe_bounds(result),
    }
    if update.task == "classes":
        summary |= {
            "accuracy_before": update.accuracy,
            "accuracy_of_most_common": update.accuracy_of_most_common,
            "most_common": to_json_name(update.fallback),
        }
    else:
        summary |= {
            "rmse_before": update.rmse,
            "rmse_of_mean": update.rmse_of_mean,
            "mean": update.fallback,
        }
    if "steps" in facts:
        summary |= {"steps": facts["steps"], "sigma2": facts["sigma2"]["value"]}
    return summary | {"predictions": list_predictions(result, n_contributors)}


def summarize_explanation(
    model: NodeModel, explanation: LinearExplanation, *, k: int, target: object = None
) -> dict[str, Any]:
    """Summarize why the first explained node got its prediction: what ``gradraker explain`` prints.

    Contributions are weight × (value − mean), the part by which a known value moves the prediction
    from the mean. A class is scored by the weights of the known nodes of that class. ``target`` is
    the one that was explained, if the model has several.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.report import summarize_explanation
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> summarize_explanation(model, model.explain(["b"]), k=1)["observed"]
    2
    """
    if explanation.class_names is not None:
        return _summarize_class(model, explanation, k=k)
    units = explanation.units
    mean = (
        model.mean_
        if units is None and not model.target_names_
        else float(explanation.values.mean())
    )
    weights, moved = explanation.weights[0], explanation.values - mean
    order = explanation.find_heaviest(k)[0].tolist()
    total, listed = float(weights @ moved), float(weights[order] @ moved[order])
    further = explanation.describe_pairs([0] * len(order), order)
    if units is not None:
        further = {"scaled_value": explanation.values[order]} | further
    scaled = (
        {} if units is None else {"scale": units.scale, "sum": float(explanation.prediction[0])}
    )
    return {
        "node": str(explanation.node_names[0]),
        "prediction": to_json_number(explanation.predicted_labels[0]),
        "mean": mean,
        "observed": int(weights.size),
        "sum_of_weights": float(weights.sum()),
        "listed_part": listed / total if total != 0.0 else 1.0,
        "parts": explanation.get_parts(0),
        "attributes": list_coefficients(model, target, k),
        "contributors": [
            {
                "node": str(explanation.known_names[i]),
                "weight": float(weights[i]),
                "value": round_off(float(explanation.known_labels[i])),
                "contribution": float(weights[i] * moved[i]),
            }
            | {name: float(column[at]) for name, column in further.items()}
            for at, i in enumerate(order)
        ],
    } | scaled


def _summarize_class(model: NodeModel, explanation: LinearExplanation, *, k: int) -> dict[str, Any]:
    weights, scores = explanation.weights[0], explanation.prediction[0]
    node = explanation.node_names[0]
    chances = model.predict_proba([node])[0]
    names = [to_json_name(label) for label in model.classes_.tolist()]
    first = names.index(to_json_name(model.predict([node]).tolist()[0]))
    ranked = sorted(range(len(names)), key=lambda i: (i != first, -chances[i]))
    order = explanation.find_heaviest(k)[0].tolist()
    return {
        "node": str(node),
        "prediction": names[first],
        "probability": float(chances[first]),
        "classes": [
            {"class": names[i], "probability": float(chances[i]), "score": float(scores[i])}
            for i in ranked
        ],
        "observed": int(weights.size),
        "sum_of_weights": float(weights.sum()),
        "listed_part": float(np.abs(weights[order]).sum() / max(np.abs(weights).sum(), 1e-300)),
        "parts": explanation.get_parts(0),
        "attributes": list_coefficients(model, names[first], k),
        "contributors": [
            {
                "node": str(explanation.known_names[i]),
                "weight": float(weights[i]),
                "value": to_json_value(explanation.known_labels[i]),
            }
            for i in order
        ],
    }


def describe_attributes(
    facts: dict[str, Any], model: NodeModel, *, target: object = None
) -> dict[str, Any] | None:
    """Return what a model says about attributes, with names of classes and targets.

    Parameters
    ----------
    facts : dict
        What ``model.describe()`` returned.
    model : model of graphs
        Fitted.
    target : name, optional
        A class, or one of several targets, that coefficients are listed for; default all.

    Returns
    -------
    dict or None
        None for a model without attributes. ``coefficients`` says what a prediction (of a class:
        its score) gains when an attribute is larger by one standard deviation.
    """
    told: dict[str, Any] | None = facts.get("attributes")
    if told is None:
        return None
    named = [_name_coefficient(one, model) for one in told["coefficients"]]
    wanted = None if target is None else to_json_name(target)
    return told | {"coefficients": [one for one in named if wanted in (None, one.get("target"))]}


def list_coefficients(model: NodeModel, target: object, k: int) -> list[dict[str, Any]]:
    """List the attributes that count most for a class or a target (None if there is one only)."""
    told = describe_attributes(model.describe(), model, target=target)
    if told is None:
        return []
    listed = told["coefficients"][:k]
    return [{key: one[key] for key in ("attribute", "whose", "coefficient")} for one in listed]


def _name_coefficient(one: dict[str, Any], model: NodeModel) -> dict[str, Any]:
    is_classes = model.value_kind.task == "classes"
    names = model.classes_.tolist() if is_classes else model.target_names_
    named = {"target": to_json_name(names[one["target"]])} if names else {}
    return {
        "attribute": one["attribute"],
        "whose": _WHOSE.get(one["block"], one["block"]),
        "coefficient": one["coefficient"],
    } | named
