"""How good predictions are, by known nodes that were left out: numbers and classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import to_json_number
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.report.names import list_contributors, to_json_name
from gradraker.workflow import NodePredictions

# Left-out nodes with the largest errors, and contributors of each.
_N_WORST = 10
_N_REASONS = 3
_BINS = 10


def describe_left_out(result: NodePredictions) -> dict[str, Any] | None:
    """Return errors of left-out nodes as JSON can hold them; None if no node was left out."""
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
        points[i]
        | {"error": float(errors[i])}
        | {"contributors": list_contributors(found.names[k], found.weights[k], found.values[k])}
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
    sure = left_out.probabilities[m, left_out.predicted]
    points = [
        {"node": to_json_name(name), "value": classes[c], "prediction": classes[p]}
        | {"probability": probability}
        for name, c, p, probability in zip(
            names,
            left_out.codes.tolist(),
            left_out.predicted.tolist(),
            sure.tolist(),
            strict=True,
        )
    ]
    # The most surprising: how improbable the true class was.
    of_truth = left_out.probabilities[m, left_out.codes]
    wrong = np.flatnonzero(left_out.predicted != left_out.codes)
    worst = wrong[np.argsort(of_truth[wrong], kind="stable")][:_N_WORST].tolist()
    found = result.find_left_out_contributors(_N_REASONS, nodes=[names[i] for i in worst])
    largest = [
        points[i]
        | {"probability_of_value": float(of_truth[i])}
        | {"contributors": list_contributors(found.names[k], found.weights[k], found.values[k])}
        for k, i in enumerate(worst)
    ]
    error = left_out.error
    return {
        "nodes": len(names),
        "one_at_a_time": True,
        "accuracy": to_json_number(error.accuracy),
        "accuracy_of_most_common": to_json_number(error.accuracy_of_most_common),
        "log_loss": to_json_number(error.log_loss),
        "calibration_error": to_json_number(error.calibration_error),
        "confusion": {"classes": classes, "counts": count_confusion(left_out).tolist()},
        "calibration": list_calibration(sure, left_out.predicted == left_out.codes),
        "points": points,
        "largest_errors": largest,
    }


def count_confusion(left_out: LeftOutClasses) -> NDArray[np.int64]:
    """Count left-out nodes by known class (row) and predicted class (column), (K, K)."""
    k = len(left_out.classes)
    pairs = left_out.codes * k + left_out.predicted
    return np.bincount(pairs, minlength=k * k).reshape(k, k)


def list_calibration(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """List how often predictions are right, by the probability that they gave.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.report.quality import list_calibration
    >>> list_calibration(np.array([0.92, 0.98]), np.array([True, False]))
    [{'from': 0.9, 'to': 1.0, 'nodes': 2, 'probability': 0.95, 'right': 0.5}]
    """
    bins = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
    listed = []
    for i in np.unique(bins).tolist():
        inside = bins == i
        listed.append(
            {
                "from": i / _BINS,
                "to": (i + 1) / _BINS,
                "nodes": int(inside.sum()),
                "probability": float(np.round(sure[inside].mean(), 12)),
                "right": float(right[inside].mean()),
            }
        )
    return listed
