"""A stream of values that are known: each predicted before it is learned."""

import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gradraker.graph.values import NUMBERS
from gradraker.live.learning.states import to_plain

if TYPE_CHECKING:
    from gradraker.models import NodeModel

_KNOWN_AT_FIRST = 0.1
_MOST_ARRIVALS = 300
_SECONDS = 4.0
_FEWEST = 4


def replay(model: "NodeModel", *, seed: int) -> dict[str, Any]:
    """Learn the known values again in random order, each predicted before it is learned.

    A tenth of them is known at first. At most 300 arrive, fewer if they take more than seconds.

    Returns
    -------
    dict
        ``arrivals`` are [row, value, prediction, mean or most common label before].
    """
    known = np.flatnonzero(model.value_kind.is_known(model.values_))
    if known.size < _FEWEST:
        raise ValueError(f"a replay needs at least {_FEWEST} known values, got {known.size}")
    order = np.random.default_rng(seed).permutation(known)
    n_first = max(2, int(_KNOWN_AT_FIRST * known.size), known.size - _MOST_ARRIVALS)
    nodes, values = model.nodes_, model.values_
    learner = copy.deepcopy(model)
    learner.forget(values=nodes[order[n_first:]].tolist())
    seen = values[order[:n_first]].tolist()
    arrivals: list[list[Any]] = []
    start = perf_counter()
    for i in order[n_first:].tolist():
        (predicted,) = learner.predict([nodes[i]])
        arrivals.append([i, to_plain(values[i]), to_plain(predicted), _guess(model, seen)])
        learner.partial_fit(values={nodes[i]: values[i]})
        seen.append(values[i])
        if perf_counter() - start > _SECONDS:
            break
    return {"n_first": n_first, "n_known": int(known.size), "arrivals": arrivals}


def _guess(model: "NodeModel", seen: list[Any]) -> Any:
    """Return the simplest prediction: the mean, or the most common label."""
    if model.value_kind is NUMBERS:
        return float(np.mean(seen))
    labels, counts = np.unique(np.array(seen, dtype=object).astype(str), return_counts=True)
    return str(labels[counts.argmax()])
