"""One node: the reasons for its prediction, and the effect of imagined changes."""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradraker.graph.names import find_positions, to_name_array
from gradraker.graph.values import NUMBERS
from gradraker.live.learning.states import to_plain
from gradraker.report.explorer import pack
from gradraker.studio.answers.node_columns import COVERAGE

if TYPE_CHECKING:
    from gradraker.models import NodeModel

_MAX_MOVED = 20


def explain_node(
    model: "NodeModel", row: int, *, left_out: bool, has_intervals: bool
) -> dict[str, Any]:
    """Return the prediction of a node, its interval, and the exact weight of every known node.

    ``offset`` + Σ weight · value is the prediction; for classes, the score of each class, where
    the value of a known node is 1 for its own class and 0 for the others.
    """
    name = model.nodes_[row]
    found = model.explain([name], left_out=left_out)
    known = to_name_array(found.known_names, argument="nodes")
    rows = find_positions(known, model.nodes_)
    offset = np.asarray(found.offset, dtype=np.float64)
    offset = offset[:1] if offset.ndim == 1 and found.class_names is None else offset
    answer: dict[str, Any] = {
        "row": row,
        "left_out": left_out,
        "known": pack(rows, "<u4"),
        "weights": pack(found.weights[0], "<f8"),
        "offset": to_plain(offset.ravel()),
        "prediction": to_plain(np.atleast_1d(found.prediction[0])),
        # If weights add up in another scale: values in that scale, and the prediction in units.
        "scale": None if found.units is None else found.units.scale,
        "scaled": None if found.units is None else pack(found.values, "<f8"),
        "in_units": None if found.units is None else to_plain(found.units.predictions[0]),
        "parts": [[part, to_plain(size)] for part, size in found.get_parts(0).items()],
        "lower": None,
        "upper": None,
        "probabilities": None,
        "neighbours": _list_neighbours(model, row),
    }
    if model.value_kind is not NUMBERS:
        answer["probabilities"] = to_plain(model.predict_proba([name])[0])
    elif has_intervals and not left_out:
        _, ends = model.predict([name], return_interval=True, coverage=COVERAGE)
        answer["lower"], answer["upper"] = to_plain(ends[0])
    return answer


def _list_neighbours(model: "NodeModel", row: int) -> list[list[Any]]:
    """Return [row, edge weight, direction] of the edges out of a node, then of those into it."""
    A = model.adjacency_
    own = slice(A.indptr[row], A.indptr[row + 1])
    out = zip(A.indices[own].tolist(), A.data[own].tolist(), strict=True)
    found = [[j, weight, "out"] for j, weight in out]
    if model.is_directed_:
        column = A[:, [row]].tocoo()
        into = zip(column.coords[0].tolist(), column.data.tolist(), strict=True)
        found += [[j, weight, "in"] for j, weight in into]
    return found


def imagine_changes(
    model: "NodeModel", row: int, links: Mapping[int, float], values: Mapping[int, Any]
) -> dict[str, Any]:
    """Return predictions of a copy of the model that learns imagined links and values.

    ``moved`` lists the nodes whose predictions change most: row, before, after.
    """
    changed = copy.deepcopy(model)
    if links:
        names = model.nodes_[[row, *links]].tolist()
        edges = [(names[0], *end) for end in zip(names[1:], links.values(), strict=True)]
        if not model.is_directed_:
            edges += [(target, source, weight) for source, target, weight in edges]
        changed.partial_fit(edges)
    if values:
        changed.partial_fit(values={model.nodes_[i]: value for i, value in values.items()})
    before, after = model.predict(model.nodes_), changed.predict(model.nodes_)
    if model.value_kind is NUMBERS:
        size = np.abs(after - before)
    else:
        shares = changed.predict_proba(model.nodes_) - model.predict_proba(model.nodes_)
        size = np.abs(shares).sum(1)
    order = np.argsort(-size, kind="stable")[:_MAX_MOVED]
    moved = [[int(i), to_plain(before[i]), to_plain(after[i])] for i in order if size[i] > 0.0]
    return {
        "row": row,
        "before": to_plain(before[row]),
        "after": to_plain(after[row]),
        "moved": moved,
    }
