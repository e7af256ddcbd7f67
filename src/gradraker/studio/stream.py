"""Replay the known values as a stream: each is predicted before it is learned."""

import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradraker.graph.values import NUMBERS
from gradraker.live.learning.states import to_plain

if TYPE_CHECKING:
    from gradraker.models import NodeModel

_KNOWN_FRACTION = 0.1
_MAX_ARRIVALS = 300
_MAX_SECONDS = 4.0
_MIN_KNOWN = 4


def replay(model: "NodeModel", *, seed: int) -> dict[str, Any]:
    """Learn the known values again in random order, each predicted before it is learned.

    A tenth of them is known at first. At most 300 arrive, fewer if that takes more than 4 s.

    Returns
    -------
    dict
        ``arrivals`` are [row, value, prediction, mean or most common label before].
    """
    known = np.flatnonzero(model.value_kind.is_known(model.values_))
    if known.size < _MIN_KNOWN:
        raise ValueError(f"a replay needs at least {_MIN_KNOWN} known values, got {known.size}")
    order = np.random.default_rng(seed).permutation(known)
    n_first = max(2, int(_KNOWN_FRACTION * known.size), known.size - _MAX_ARRIVALS)
    nodes, values = model.nodes_, model.values_
    learner = copy.deepcopy(model)
    learner.forget(values=nodes[order[n_first:]].tolist())
    learned = values[order[:n_first]].tolist()
    arrivals: list[list[Any]] = []
    start = perf_counter()
    for i in order[n_first:].tolist():
        (predicted,) = learner.predict([nodes[i]])
        arrivals.append([i, *to_plain([values[i], predicted]), _find_baseline(model, learned)])
        learner.partial_fit(values={nodes[i]: values[i]})
        learned.append(values[i])
        if perf_counter() - start > _MAX_SECONDS:
            break
    return {"n_first": n_first, "n_known": int(known.size), "arrivals": arrivals}


def _find_baseline(model: "NodeModel", learned: list[Any]) -> Any:
    """Return the baseline prediction: the mean, or the most common label."""
    if model.value_kind is NUMBERS:
        return float(np.mean(learned))
    labels, counts = np.unique(np.array(learned, dtype=object).astype(str), return_counts=True)
    return str(labels[counts.argmax()])
