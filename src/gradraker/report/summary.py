"""Everything worth telling about a prediction job, as a dict that JSON can hold."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.sweep.versions import collect_versions
from gradraker.workflow.held_out import HeldOutNodes
from gradraker.workflow.node_predictions import NodePredictions

# Held-out nodes with the largest errors, and contributors of each.
_N_WORST = 10
_N_REASONS = 3
# Candidates of a node model that are listed.
_N_TRIED = 8


def prediction_summary(
    result: NodePredictions,
    *,
    n_edges: int | None = None,
    n_contributors: int = 0,
    inputs: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Summarise predictions: what ``gradraker predict --json`` prints and the report shows.

    Parameters
    ----------
    result : NodePredictions
        What :func:`gradraker.workflow.predict_unknown` returned.
    n_edges : int, optional
        Edges of the graph; default the entries of the adjacency vectors.
    n_contributors : int, default=0
        How many contributors to list with the prediction of each unknown node.
    inputs : mapping of str to str, optional
        Names of the files that the data came from.
    settings : mapping, optional
        How the adjacency vectors were made. Those of the learner are added.

    Returns
    -------
    dict
        Of what JSON can hold: numbers that are not finite are None. It has no date, so that
        equal jobs have equal summaries.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.workflow import predict_unknown
    >>> from gradraker.report import prediction_summary
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> summary = prediction_summary(predict_unknown(data, known))
    >>> summary["values"]["known"], summary["values"]["unknown"]
    (60, 29)
    >>> summary["held_out"]["rmse"] < summary["held_out"]["rmse_of_mean"]
    True
    """
    known = result.is_known
    return {
        "command": "predict",
        "method": result.method,
        "inputs": dict(inputs or {}),
        "graph": _graph(result, n_edges),
        "values": _values(result.values[known], n_unknown=int((~known).sum())),
        "sigma2": _sigma2(result.model) if isinstance(result.model, SKGRegressor) else None,
        "choice": _choice(result.model) if isinstance(result.model, NodeRegressor) else None,
        "held_out": None if result.held_out is None else _held_out(result, result.held_out),
        "transfer": _transfer(result),
        "predictions": listed_predictions(result, n_contributors),
        "settings": _settings(result.model, settings or {}),
        "versions": collect_versions(),
    }


def _graph(result: NodePredictions, n_edges: int | None) -> dict[str, Any]:
    rows = result.vectors.rows
    degrees = np.diff(rows.indptr)
    return {
        "nodes": rows.shape[0],
        "edges": rows.nnz if n_edges is None else n_edges,
        "entries": int(rows.nnz),
        "weighted": bool(np.any(rows.data != 1.0)),
        "neighbours_median": _finite(np.median(degrees)),
        "neighbours_largest": int(degrees.max()),
        "nodes_without_neighbours": int(np.sum(degrees == 0)),
    }


def _values(values: NDArray[np.float64], *, n_unknown: int) -> dict[str, Any]:
    return {
        "known": values.size,
        "unknown": n_unknown,
        "mean": _finite(values.mean()),
        "standard_deviation": _finite(values.std()),
        "smallest": _finite(values.min()),
        "median": _finite(np.median(values)),
        "largest": _finite(values.max()),
    }


def _sigma2(model: SKGRegressor) -> dict[str, Any]:
    facts: dict[str, Any] = {"value": float(model.sigma2_), "rule": model.sigma2_rule_}
    try:
        ranges = model.ranges_
    except AttributeError:  # all known nodes have the same neighbours: a given σ² has no range
        return facts | {"range": None, "meaning": None, "boundaries": None}
    name = ranges.range_of(model.sigma2_)
    return facts | {
        "range": name,
        "meaning": ranges.meaning(name),
        "boundaries": {
            "chaos_extending": ranges.chaos_extending,
            "extending_disturbing": ranges.extending_disturbing,
            "disturbing_averaging": ranges.disturbing_averaging,
        },
        "smallest_distance": ranges.smallest_distance,
        "largest_distance": ranges.largest_distance,
        "noise_ratio": ranges.noise_ratio,
        "noise": ranges.noise,
    }


def _choice(model: NodeRegressor) -> dict[str, Any]:
    """What a node model stands on, and how other candidates fared."""
    choice = model.choice_
    return {
        "kernel": _terms(choice.kernel),
        "alpha": _finite(model.alpha_),
        "solver": model.solver_,
        "chosen_on": choice.n_used,
        "n_tried": len(choice.tried),
        "tried": [
            {"kernel": _terms(one.kernel), "nats": _finite(-one.nats)}
            for one in choice.tried[:_N_TRIED]
        ],
    }


def _terms(kernel: Iterable[Any]) -> list[dict[str, Any]]:
    """Terms of a kernel, the largest share first."""
    terms = sorted(kernel, key=lambda term: -term.share)
    return [{"block": term.block, "width": term.width, "share": term.share} for term in terms]


def _held_out(result: NodePredictions, held_out: HeldOutNodes) -> dict[str, Any]:
    names = result.vectors.nodes[held_out.rows].tolist()
    errors = held_out.predictions - held_out.values
    worst = np.argsort(-np.abs(errors), kind="stable")[:_N_WORST]
    # Without the nodes themselves, whose own values count most in the final model.
    found = result.held_out_contributors(_N_REASONS, which=worst)
    offset = 0.0 if held_out.model is None else held_out.offset
    points = [
        {"node": _name(name), "value": value, "prediction": prediction}
        for name, value, prediction in zip(
            names, held_out.values.tolist(), held_out.predictions.tolist(), strict=True
        )
    ]
    return {
        "nodes": len(names),
        "one_at_a_time": held_out.model is None,
        "mean": held_out.offset,
        "rmse": _finite(held_out.rmse),
        "rmse_of_mean": _finite(held_out.rmse_of_mean),
        "gnmse": _finite(held_out.gnmse),
        "gnmse_of_mean": _finite(held_out.gnmse_of_mean),
        "points": points,
        "largest_errors": [
            points[i]
            | {"error": float(errors[i])}
            | {
                "contributors": _contributors(
                    found.names[k], found.weights[k], found.values[k] + offset
                )
            }
            for k, i in enumerate(worst.tolist())
        ],
    }


def _transfer(result: NodePredictions) -> dict[str, Any] | None:
    transfer = result.transfer
    if transfer is None:
        return None
    return {
        "verdict": transfer.verdict,
        "relative_error": _finite(transfer.relative_error),
        "rank_correlation": _finite(transfer.rank_correlation),
    }


def listed_predictions(result: NodePredictions, n_contributors: int) -> list[dict[str, Any]]:
    """Predictions of the nodes whose values are not known."""
    rows = np.flatnonzero(~result.is_known)
    listed: list[dict[str, Any]] = [
        {"node": _name(node), "prediction": prediction}
        for node, prediction in zip(
            result.vectors.nodes[rows].tolist(), result.predictions[rows].tolist(), strict=True
        )
    ]
    if result.intervals is not None:
        for one, (lower, upper) in zip(listed, result.intervals[rows].tolist(), strict=True):
            one |= {"lower": _finite(lower), "upper": _finite(upper)}
    if n_contributors > 0:
        found = result.contributors(n_contributors, rows=rows)
        for i, one in enumerate(listed):
            one["contributors"] = _contributors(
                found.names[i], found.weights[i], found.values[i] + result.offset
            )
    return listed


def _contributors(
    names: list[Any], weights: NDArray[np.float64], values: NDArray[np.float64]
) -> list[dict[str, Any]]:
    return [
        {"node": _name(name), "weight": weight, "value": tidy(value)}
        for name, weight, value in zip(names, weights.tolist(), values.tolist(), strict=True)
    ]


def _settings(model: NodeRegressor | SKGRegressor, given: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(model, NodeRegressor):
        parameters = model.get_params()
        asked = {name: parameters[name] for name in ("blocks", "width", "alpha", "solver")}
        asked["direction"] = model.direction
        return dict(given) | asked | {"seed": model.seed_}
    return dict(given) | {
        "sigma2": model.sigma2 if isinstance(model.sigma2, str) else float(model.sigma2),
        "kernel": model.kernel,
        "frequencies": model.n_frequencies,
        "learning_rate": model.learning_rate,
        "epochs": model.n_epochs,
        "seed": model.seed_,
    }


def _name(node: Any) -> Any:
    return node if isinstance(node, str | int) else str(node)


def _finite(number: Any) -> float | None:
    return float(number) if math.isfinite(number) else None


def tidy(value: float) -> float:
    """Return a value as it was before an offset was subtracted from it and added again.

    Examples
    --------
    >>> (3.7 - 0.1) + 0.1, tidy((3.7 - 0.1) + 0.1)
    (3.7, 3.7)
    >>> (0.3 - 7.9) + 7.9, tidy((0.3 - 7.9) + 7.9)
    (0.2999999999999998, 0.3)
    """
    return float(f"{value:.12g}")
