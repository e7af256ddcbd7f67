"""The known nodes that count most in each of many predictions."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.models.node_model import NodeModel

# An explanation holds three numbers for each pair of an explained and a known node.
_BATCH_BYTES = 64 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """The k known nodes with the largest contribution weights in each of n predictions.

    Attributes
    ----------
    names : list of n lists of k names
        The heaviest first; nodes of equal weight in the order of training.
    weights, values : ndarray of shape (n, k)
        Contribution weights, and the known values or labels of classes that they weigh.
    predictions : list of n numbers or labels
        The predictions that are explained, before they are clipped.
    parts : list of n dicts
        What each kind of similarity adds to a prediction; empty if the model cannot tell.
    smallest_weight : float
        The smallest contribution weight of all known nodes: a prediction is a weighted mean only
        if it is not negative.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import find_contributors
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> type(find_contributors(model, ["b"], k=1)).__name__
    'Contributors'
    """

    names: list[list[Hashable]]
    weights: NDArray[np.float64]
    values: NDArray[Any]
    predictions: list[Any] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    smallest_weight: float = 0.0

    def __repr__(self) -> str:
        n, k = self.weights.shape
        return f"Contributors({k} for each of {n} predictions)"


def find_contributors(
    model: NodeModel,
    nodes: Sequence[Hashable],
    k: int,
    *,
    left_out: bool = False,
    target: Hashable = None,
) -> Contributors:
    """Find the k heaviest contributors of some nodes, in batches so that memory is bounded.

    There are fewer than k where fewer values are known. With ``left_out``, the predictions are
    those of known nodes without their own values. ``target`` is one of several targets.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import find_contributors
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})
    >>> type(find_contributors(model, ["b"], k=1)).__name__
    'Contributors'
    """
    if len(nodes) == 0:
        return Contributors([], np.empty((0, 0)), np.empty((0, 0)))
    which: dict[str, Any] = {"left_out": left_out}
    which |= {} if target is None else {"target": target}
    first = model.explain(nodes[:1], **which)
    n_known = len(first.known_names)
    # A node that is left out alone has weight 0 in its own prediction.
    k = min(k, n_known - (left_out and not model.learns_by_steps))
    size = max(1, _BATCH_BYTES // (24 * max(1, n_known)))
    kind = np.float64 if first.class_names is None else np.object_
    names: list[list[Hashable]] = []
    predictions: list[Any] = []
    parts: list[dict[str, float]] = []
    smallest = 0.0
    weights, values = np.empty((len(nodes), k)), np.empty((len(nodes), k), dtype=kind)
    for start in range(0, len(nodes), size):
        part = model.explain(nodes[start : start + size], **which)
        order = part.find_heaviest(k)
        stop = start + order.shape[0]
        names += [[part.known_names[i] for i in one] for one in order.tolist()]
        weights[start:stop] = np.take_along_axis(part.weights, order, axis=1)
        labels = np.fromiter(part.known_labels, dtype=kind, count=n_known)
        values[start:stop] = labels[order]
        predictions += part.predicted_labels
        parts += [part.get_parts(row) for row in range(stop - start)]
        smallest = min(smallest, float(part.weights.min(initial=0.0)))
    return Contributors(names, weights, values, predictions, parts, smallest)
