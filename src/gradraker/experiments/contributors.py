"""The observed nodes that count most in each of many predictions."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.analysis import Explanation
from gradraker.graph import AdjacencyVectors
from gradraker.learners import SKGRegressor

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


def explained(model: SKGRegressor, vectors: AdjacencyVectors, rows: NDArray[Any]) -> Explanation:
    """Explain the predictions of a model for some rows of vectors."""
    explanation = model.explain(
        vectors.rows[rows],
        references=vectors.references.tolist(),
        node_names=vectors.nodes[rows].tolist(),
    )
    assert isinstance(explanation, Explanation)
    return explanation


def top_contributors(
    model: SKGRegressor, vectors: AdjacencyVectors, rows: NDArray[Any], k: int
) -> Contributors:
    """Find the k heaviest contributors of some rows, a batch at a time so that memory is bounded.

    There are fewer than k where fewer nodes were observed.
    """
    if len(rows) == 0:
        return Contributors([], np.empty((0, 0)), np.empty((0, 0)))
    n_observed = len(explained(model, vectors, rows[:1]).observed_names)
    size = max(1, _BATCH_BYTES // (24 * max(1, n_observed)))
    names: list[list[Hashable]] = []
    weights = np.empty((len(rows), min(k, n_observed)))
    values = np.empty_like(weights)
    for start in range(0, len(rows), size):
        part = explained(model, vectors, rows[start : start + size])
        order = part.heaviest(k)
        stop = start + order.shape[0]
        names += [[part.observed_names[i] for i in one] for one in order.tolist()]
        weights[start:stop] = np.take_along_axis(part.weights, order, axis=1)
        values[start:stop] = part.values[order]
    return Contributors(names, weights, values)
