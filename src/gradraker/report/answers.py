"""Summaries of all commands but ``gradraker predict``, as dicts ready for JSON."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradraker._validation import to_json_number
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.models.node_model import NodeModel
from gradraker.report.summary import (
    count_edges,
    describe_attributes,
    describe_bounds,
    list_predictions,
    round_off,
    summarize_predictions,
    to_json_name,
    to_json_value,
)
from gradraker.workflow import BankPredictions, NodePredictions, SeriesPredictions, Update


def summarize_update(
    update: Update, result: NodePredictions | Mapping[Any, NodePredictions], *, n_contributors: int
) -> dict[str, Any]:
    """Summarize an update, as ``gradraker update --json`` prints it.

    ``result`` has the predictions of the model after the update, of several targets by target.

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
    if not isinstance(result, NodePredictions):
        if update.targets:
            return _summarize_targets_update(update, result, n_contributors)
        (result,) = result.values()
    model = result.model
    facts = model.describe()
    summary = {
        "command": "update",
        "method": facts["method"],
        "task": result.task,
        "nodes": len(model.nodes_),
        "edges": count_edges(model),
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


def _summarize_targets_update(
    update: Update, results: Mapping[Any, NodePredictions], n_contributors: int
) -> dict[str, Any]:
    summaries = {
        name: summarize_predictions(result, n_contributors=n_contributors)
        for name, result in results.items()
    }
    facts: dict[str, Any] = {
        "command": "update",
        "graph_changed": update.graph_changed,
        "learned": update.n_learned,
        "passed_over": update.n_passed_over,
        "forgotten": update.n_forgotten,
    } | summarize_targets(results, summaries)
    errors: Any = [{} if found is None else found for found in (update.rmse, update.rmse_of_mean)]
    for row, target in zip(facts["targets"], update.targets, strict=True):
        row["rmse_before"], row["rmse_before_of_mean"] = (found.get(target) for found in errors)
    return facts


def summarize_targets(
    results: Mapping[Any, NodePredictions], summaries: Mapping[Any, dict[str, Any]]
) -> dict[str, Any]:
    """Summarize predictions of several targets, as ``gradraker predict --value a,b`` prints them.

    ``summaries`` are those that :func:`summarize_predictions` makes of each result.

    Examples
    --------
    >>> from gradraker.report import summarize_predictions, summarize_targets
    >>> from gradraker.workflow import predict_targets
    >>> found = predict_targets([("a", "b"), ("b", "c")], {"a": [30.0, 5.0], "c": [50.0, 7.0]})
    >>> summaries = {target: summarize_predictions(found[target]) for target in found}
    >>> [row["known"] for row in summarize_targets(found, summaries)["targets"]]
    [2, 2]
    """
    facts = next(iter(results.values())).model.describe()
    first = next(iter(summaries.values()))
    return {
        "graph": first["graph"],
        "choice": facts["choice"],
        "coverage": first["coverage"],
        "bounds": first["bounds"],
        "targets": [
            {
                "target": to_json_name(name),
                "known": summary["values"]["known"],
                "scale": summary["choice"]["formula"],
                "rmse": error.get("rmse"),
                "rmse_of_mean": error.get("rmse_of_mean"),
                "predictions": summary["predictions"],
            }
            for name, summary in summaries.items()
            for error in [summary["held_out"] or {}]  # None with too few known values
        ],
    }


def summarize_bank(result: BankPredictions) -> dict[str, Any]:
    """Summarize predictions of a bank, as ``gradraker bank --json`` prints them.

    Examples
    --------
    >>> from gradraker.report import summarize_bank
    >>> from gradraker.workflow import predict_with_bank
    >>> road = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    >>> found = predict_with_bank({"road": road}, {"a": 1.0, "c": 9.0}, kernels=[1.0])
    >>> summarize_bank(found)["known"]
    2
    """
    model, error = result.model, result.held_out_error
    return {
        "command": "bank",
        "nodes": len(result.nodes),
        "known": int((~np.isnan(result.values)).sum()),
        "members": [
            {
                "view": member.view,
                "kernel": member.kernel,
                "sigma2": float(member.sigma2),
                "member_weight": float(weight),
            }
            for member, weight in zip(model.members_, model.kernel_weights_, strict=True)
        ],
        "held_out": None
        if error is None
        else {"rmse": error.rmse, "rmse_of_mean": error.rmse_of_mean, "nodes": error.n_nodes},
    }


def summarize_series(result: SeriesPredictions) -> dict[str, Any]:
    """Summarize predictions of series, as ``gradraker series --json`` prints them.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker import SKGRegressor
    >>> from gradraker.report import summarize_series
    >>> from gradraker.workflow import predict_series
    >>> waves = np.sin(np.arange(40)[:, np.newaxis] / 3 + np.arange(3))
    >>> found = predict_series([("a", "b"), ("b", "c")], waves, learner=SKGRegressor(), taps=2)
    >>> summarize_series(found)["times"]
    40
    """
    rows = zip(*(column.tolist() for column in result.list_columns().values()), strict=True)
    return {
        "command": "series",
        "nodes": len(result.nodes),
        "times": result.n_times,
        "horizon": result.horizon,
        "sigma2": float(result.model.sigma2_),
        "held_out": None
        if result.gnmse is None
        else {"gnmse": result.gnmse, "gnmse_of_last_value": result.gnmse_of_last},
        "predictions": [{"node": str(n), "last": a, "prediction": b} for n, a, b in rows],
    }


def summarize_explanation(
    model: NodeModel, explanation: LinearExplanation, *, k: int, target: object = None
) -> dict[str, Any]:
    """Summarize the prediction of the first explained node, as ``gradraker explain`` prints it.

    Contributions are weight × (value − mean): how far a known value moves the prediction from the
    mean. A class is scored by the weights of the known nodes of that class. ``target`` is the
    explained target, if the model has several.

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
    weights, deviations = explanation.weights[0], explanation.values - mean
    order = explanation.find_heaviest(k)[0].tolist()
    total, listed = float(weights @ deviations), float(weights[order] @ deviations[order])
    details = explanation.describe_pairs([0] * len(order), order)
    if units is not None:
        details = {"scaled_value": explanation.values[order]} | details
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
        "attributes": _list_coefficients(model, target, k),
        "contributors": [
            {
                "node": str(explanation.known_names[i]),
                "weight": float(weights[i]),
                "value": round_off(float(explanation.known_labels[i])),
                "contribution": float(weights[i] * deviations[i]),
            }
            | {name: float(column[rank]) for name, column in details.items()}
            for rank, i in enumerate(order)
        ],
    } | scaled


def _summarize_class(model: NodeModel, explanation: LinearExplanation, *, k: int) -> dict[str, Any]:
    weights, scores = explanation.weights[0], explanation.prediction[0]
    node = explanation.node_names[0]
    probabilities = model.predict_proba([node])[0]
    names = [to_json_name(label) for label in model.classes_.tolist()]
    first = names.index(to_json_name(model.predict([node]).tolist()[0]))
    ranked = sorted(range(len(names)), key=lambda i: (i != first, -probabilities[i]))
    order = explanation.find_heaviest(k)[0].tolist()
    return {
        "node": str(node),
        "prediction": names[first],
        "probability": float(probabilities[first]),
        "classes": [
            {"class": names[i], "probability": float(probabilities[i]), "score": float(scores[i])}
            for i in ranked
        ],
        "observed": int(weights.size),
        "sum_of_weights": float(weights.sum()),
        "listed_part": float(np.abs(weights[order]).sum() / max(np.abs(weights).sum(), 1e-300)),
        "parts": explanation.get_parts(0),
        "attributes": _list_coefficients(model, names[first], k),
        "contributors": [
            {
                "node": str(explanation.known_names[i]),
                "weight": float(weights[i]),
                "value": to_json_value(explanation.known_labels[i]),
            }
            for i in order
        ],
    }


def _list_coefficients(model: NodeModel, target: object, k: int) -> list[dict[str, Any]]:
    """List the attributes that count most for a class or a target (None if it is the only one)."""
    attributes = describe_attributes(model.describe(), model, target=target)
    if attributes is None:
        return []
    keys = ("attribute", "whose", "coefficient")
    return [{key: entry[key] for key in keys} for entry in attributes["coefficients"][:k]]
