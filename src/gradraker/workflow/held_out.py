"""An honest estimate of the error: known nodes predicted by a model that has not seen them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gradraker.graph import AdjacencyVectors
from gradraker.graph.names import find_positions
from gradraker.metrics import gnmse
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_regressor import NodeRegressor

# With fewer known nodes than this there is no estimate: it would be noise.
_ENOUGH_TO_HOLD_OUT = 10
_HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class HeldOutNodes:
    """Known nodes that were predicted by a model which had not seen them.

    ``gnmse`` and ``rmse`` are the errors of the model, ``gnmse_of_mean`` and ``rmse_of_mean``
    those of predicting the mean of the other known values. GNMSE is taken on values that are
    scaled to [0, 1] by the range of all known values, as in the paper. ``offset`` is the mean of
    the known values that were not held out.

    ``model`` is the SKG model that made the predictions, trained on values from which
    ``offset`` was subtracted; None where nodes were left out one at a time.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    predictions: NDArray[np.float64]
    gnmse: float
    gnmse_of_mean: float
    rmse: float
    rmse_of_mean: float
    offset: float
    model: SKGRegressor | None


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
    means = np.full(tested.size, mean)
    return HeldOutNodes(
        rows=tested,
        values=values[tested],
        predictions=predictions,
        **_errors(values[known], values[tested], predictions, means),
        offset=mean,
        model=model,
    )


def leave_one_out(model: NodeRegressor, values: NDArray[np.float64]) -> HeldOutNodes | None:
    """Predictions of a fitted node model for known nodes without their own values.

    ``values`` are those of the model's nodes, NaN where unknown.
    """
    known = np.flatnonzero(~np.isnan(values))
    if known.size < _ENOUGH_TO_HOLD_OUT:
        return None
    names, predictions = model.left_out_predictions()
    rows = find_positions(names, model.nodes_)
    total, n = float(values[known].sum()), known.size
    means = (total - values[rows]) / (n - 1)  # of the other known values
    return HeldOutNodes(
        rows=rows,
        values=values[rows],
        predictions=predictions,
        **_errors(values[known], values[rows], predictions, means),
        offset=total / n,
        model=None,
    )


def _errors(
    known: NDArray[np.float64],
    values: NDArray[np.float64],
    predictions: NDArray[np.float64],
    means: NDArray[np.float64],
) -> dict[str, Any]:
    """Errors of predictions and of means for the values of tested nodes."""
    low, high = float(known.min()), float(known.max())
    span = high - low if high > low else 1.0
    scaled = (values - low) / span
    errors: dict[str, Any] = {}
    for name, guesses in (("", predictions), ("_of_mean", means)):
        possible = bool(np.any(scaled != 0.0))
        errors[f"gnmse{name}"] = gnmse(scaled, (guesses - low) / span) if possible else np.nan
        errors[f"rmse{name}"] = float(np.sqrt(np.mean((values - guesses) ** 2)))
    return errors
