"""An honest estimate of the error: known nodes predicted by a model that has not seen them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gradraker.graph import AdjacencyVectors
from gradraker.learners import SKGRegressor
from gradraker.metrics import gnmse

# With fewer known nodes than this none is held out: the estimate would be noise.
_ENOUGH_TO_HOLD_OUT = 10
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class HeldOutNodes:
    """Known nodes that were predicted by a model which had not seen them.

    ``gnmse`` and ``rmse`` are the errors of the model, ``gnmse_of_mean`` and ``rmse_of_mean``
    those of predicting ``offset``, the mean of the other known values. GNMSE is taken on values
    that are scaled to [0, 1] by the range of all known values, as in the paper. ``model`` is the
    one that made the predictions, trained on values from which ``offset`` was subtracted.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    predictions: NDArray[np.float64]
    gnmse: float
    gnmse_of_mean: float
    rmse: float
    rmse_of_mean: float
    model: SKGRegressor
    offset: float


def trained(
    base: SKGRegressor,
    vectors: AdjacencyVectors,
    rows: NDArray[np.int64],
    centred: NDArray[np.float64],
) -> SKGRegressor:
    """Train a copy of ``base`` on some rows of vectors."""
    model: SKGRegressor = clone(base)
    return model.fit(
        vectors.rows[rows],
        centred,
        references=vectors.references.tolist(),
        node_names=vectors.nodes[rows].tolist(),
    )


def hold_out(
    base: SKGRegressor,
    vectors: AdjacencyVectors,
    values: NDArray[np.float64],
    known: NDArray[np.int64],
    random_state: int,
) -> HeldOutNodes | None:
    """Predict a fifth of the known nodes by a model that is trained on the others."""
    if known.size < _ENOUGH_TO_HOLD_OUT:
        return None
    shuffled = np.random.default_rng([random_state, 3]).permutation(known)
    n_tested = round(_HELD_OUT * known.size)
    tested, others = shuffled[:n_tested], shuffled[n_tested:]
    mean = float(values[others].mean())
    try:
        model = trained(base, vectors, others, values[others] - mean)
    except ValueError:  # the nodes that are left do not differ
        return None
    predictions = model.predict(vectors.rows[tested], references=vectors.references.tolist()) + mean
    low, high = float(values[known].min()), float(values[known].max())
    span = high - low if high > low else 1.0
    scaled, scaled_predictions = (values[tested] - low) / span, (predictions - low) / span
    scaled_mean = np.full(tested.size, (mean - low) / span)
    possible = bool(np.any(scaled != 0.0))
    return HeldOutNodes(
        rows=tested,
        values=values[tested],
        predictions=predictions,
        gnmse=gnmse(scaled, scaled_predictions) if possible else float("nan"),
        gnmse_of_mean=gnmse(scaled, scaled_mean) if possible else float("nan"),
        rmse=_rmse(values[tested], predictions),
        rmse_of_mean=_rmse(values[tested], np.full(tested.size, mean)),
        model=model,
        offset=mean,
    )


def _rmse(values: NDArray[np.float64], predictions: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean((values - predictions) ** 2)))
