"""The observed nodes that count most in each of many predictions."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph import AdjacencyVectors
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_regressor import NodeRegressor

# An explanation holds three numbers for each pair of an explained and an observed node.
_BATCH_BYTES = 64 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Contributors:
    """The k observed nodes with the largest weights in each of n predictions.

    Attributes
    ----------
    names : list of n lists of k names
        The heaviest first; nodes of equal weight in the order of training.
    weights, values : ndarray of shape (n, k)
        Contribution weights, and the values that they weigh, relative to the model's offset.
    """

    names: list[list[Hashable]]
    weights: NDArray[np.float64]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        n, k = self.weights.shape
        return f"Contributors({k} for each of {n} predictions)"


def explained(
    model: SKGRegressor | NodeRegressor, vectors: AdjacencyVectors, rows: NDArray[Any]
) -> LinearExplanation:
    """Explain the predictions of a model for some rows of vectors."""
    names = vectors.nodes[rows].tolist()
    if isinstance(model, NodeRegressor):
        explanation = model.explain(names)
    else:
        references = vectors.references.tolist()
        explanation = model.explain(vectors.rows[rows], references=references, node_names=names)
    assert isinstance(explanation, LinearExplanation)
    return explanation


def top_contributors(
    model: SKGRegressor | NodeRegressor,
    vectors: AdjacencyVectors,
    rows: NDArray[Any],
    k: int,
    *,
    besides_itself: bool = False,
) -> Contributors:
    """Find the k heaviest contributors of some rows, a batch at a time so that memory is bounded.

    There are fewer than k where fewer nodes were observed. With ``besides_itself``, a known
    node is not among its own contributors.
    """
    if len(rows) == 0:
        return Contributors([], np.empty((0, 0)), np.empty((0, 0)))
    n_observed = len(explained(model, vectors, rows[:1]).observed_names)
    size = max(1, _BATCH_BYTES // (24 * max(1, n_observed)))
    names: list[list[Hashable]] = []
    weights = np.empty((len(rows), min(k, n_observed - besides_itself)))
    values = np.empty_like(weights)
    for start in range(0, len(rows), size):
        part = explained(model, vectors, rows[start : start + size])
        if besides_itself:
            part = _without_themselves(part)
        order = part.heaviest(weights.shape[1])
        stop = start + order.shape[0]
        names += [[part.observed_names[i] for i in one] for one in order.tolist()]
        weights[start:stop] = np.take_along_axis(part.weights, order, axis=1)
        values[start:stop] = part.values[order]
    return Contributors(names, weights, values)


def _without_themselves(explanation: LinearExplanation) -> LinearExplanation:
    """The explanation with weight 0 of each known node in its own prediction."""
    at = {name: i for i, name in enumerate(explanation.observed_names)}
    weights = explanation.weights.copy()
    for row, name in enumerate(explanation.node_names):
        if name in at:
            weights[row, at[name]] = 0.0
    return replace(explanation, weights=weights)
