"""Compute the predictions of all nodes for a state."""

import contextlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.live.learning.live_model import LiveModel
from gradraker.live.learning.states import DEFAULT_COVERAGE, StateTable, to_plain
from gradraker.models import NodeModel

# Intervals of all nodes are computed in advance if that takes at most this long.
_MAX_INTERVAL_SECONDS = 0.5
_TIMED_NODES = (64, 1024)


def make_table(
    live: LiveModel, *, seq: int, batch: int, learned: list[dict[str, Any]]
) -> StateTable:
    """Predict all nodes."""
    model, names = live.model, live.names
    n_known = live.n_known
    predictions = intervals = probabilities = classes = None
    has_intervals = False
    is_known = np.zeros(len(names), dtype=np.bool_)
    values: list[Any] = [None] * len(names)
    if n_known:
        nodes = model.nodes_
        is_known = model.value_kind.is_known(model.values_)
        found = model.values_.tolist()
        values = [found[i] if known else None for i, known in enumerate(is_known.tolist())]
        predictions = model.predict(nodes)
        has_intervals = not live.has_labels and can_have_intervals(model)
        intervals = _compute_intervals(model, nodes) if has_intervals else None
        if live.has_labels:
            classes, probabilities = model.classes_.tolist(), model.predict_proba(nodes)
        _prepare_for_new(live, has_intervals=has_intervals)
    return StateTable(
        seq=seq,
        batch=batch,
        time=time.time(),
        names=names,
        has_integer_names=live.has_integer_names,
        predictions=predictions,
        is_known=is_known,
        values=values,
        has_intervals=has_intervals,
        intervals=intervals,
        classes=classes,
        probabilities=probabilities,
        facts={
            "nodes": len(names),
            "edges": 0 if live.is_empty else int(model.adjacency_.nnz),
            "known": n_known,
            "values": "labels" if live.has_labels else "numbers",
            "directed": live.is_directed,
            "attributes_are_learned": live.attributes_are_learned,
            "class": type(model).__name__,
            "model": to_plain(model.describe()) if n_known else None,
        },
        learned=learned,
    )


def _prepare_for_new(live: LiveModel, *, has_intervals: bool) -> None:
    """Predict a new node, so that the model caches what all new nodes need."""
    names = live.model.nodes_
    new = int(names.max()) + 1 if live.has_integer_names else f"{max(live.names, key=len)} "
    options = {"return_interval": True, "coverage": DEFAULT_COVERAGE} if has_intervals else {}
    with contextlib.suppress(ValueError, TypeError):  # reported to clients that ask for one
        live.model.predict_new({new: {names[0]: 1.0}}, **options)


def can_have_intervals(model: NodeModel) -> bool:
    """Return whether a fitted model has intervals."""
    try:
        model.predict(model.nodes_[:1], return_interval=True, coverage=DEFAULT_COVERAGE)
    except ValueError:
        return False
    return True


def _compute_intervals(model: NodeModel, nodes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return intervals of all nodes, or None if it takes too long; then they are made on demand."""
    for n in _TIMED_NODES:
        if n < len(nodes):
            start = time.perf_counter()
            model.predict(nodes[:n], return_interval=True, coverage=DEFAULT_COVERAGE)
            took = time.perf_counter() - start
            # The time per node is larger for few nodes.
            expected = took if n == _TIMED_NODES[0] else took * len(nodes) / n
            if expected > _MAX_INTERVAL_SECONDS:
                return None
    return np.asarray(model.predict(nodes, return_interval=True, coverage=DEFAULT_COVERAGE)[1])
