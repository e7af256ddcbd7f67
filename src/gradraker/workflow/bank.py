"""Predict the nodes of a graph, or of a graph of several layers, by a bank of kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker._validation import make_seed
from gradraker.graph import GraphViews, known_values, layer_views
from gradraker.metrics import LeftOutError, measure_left_out_error
from gradraker.models.bank import GradrakerRegressor

Floats = NDArray[np.float64]
# With fewer known nodes no error is estimated: it would be noise.
_MIN_KNOWN_TO_HOLD_OUT = 10
_HELD_OUT_FRACTION = 0.2


@describe_fields
@dataclass(frozen=True, eq=False)
class BankPredictions:
    """Predictions of a bank for all nodes, returned by :func:`predict_with_bank`.

    Examples
    --------
    >>> from gradraker.workflow import predict_with_bank
    >>> road = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    >>> type(predict_with_bank({"road": road}, {"a": 1.0, "c": 9.0}, kernels=[1.0])).__name__
    'BankPredictions'
    """

    nodes: Annotated[NDArray[Any], "Names of the nodes, (n,)."]
    values: Annotated[Floats, "Known values, NaN where unknown, (n,)."]
    predictions: Annotated[Floats, "Predictions for all nodes, (n,)."]
    model: Annotated[GradrakerRegressor, "The bank, trained on known values less their mean."]
    offset: Annotated[float, "That mean."]
    held_out_error: Annotated[
        LeftOutError | None,
        "Errors on a fifth of the known nodes, held out once; None with fewer than 10 of them.",
    ]

    def list_columns(self) -> dict[str, NDArray[Any]]:
        """Return node, known or not, value and prediction as columns."""
        columns = {"node": self.nodes, "known": ~np.isnan(self.values)}
        return columns | {"value": self.values, "prediction": self.predictions}


def predict_with_bank(
    layers: Mapping[str, Any],
    values: Any,
    *,
    kernels: Any = "ranges",
    hops: int = 1,
    hop_weights: Literal["count", "binary", "random_walk"] = "count",
    unknown_nodes: Literal["error", "ignore"] = "error",
    vector_options: dict[str, Any] | None = None,
    n_frequencies: int = 200,
    learning_rate: float = 0.1,
    n_epochs: int = 3,
    random_state: int = 0,
) -> BankPredictions:
    """Predict unknown values by a bank of kernels over layers and hops of a graph.

    Parameters
    ----------
    layers : mapping from str to graph
        Name and graph of each layer; a single layer is a plain graph.
    values : mapping, Series, table, or array with NaN for unknown
        Known values; see :func:`gradraker.graph.known_values`.
    kernels : str or sequence
        As in :class:`GradrakerRegressor`; each makes one member per layer and number of hops.
    hops, hop_weights
        Views of 1, …, ``hops`` edges of each layer; see :func:`gradraker.graph.layer_views`.
    unknown_nodes : {"error", "ignore"}
        What to do with values of nodes that are in no layer.
    vector_options : dict, optional
        Further options of :func:`gradraker.graph.layer_views`.
    n_frequencies, learning_rate, n_epochs, random_state
        As in :class:`GradrakerRegressor`.

    Returns
    -------
    BankPredictions

    Examples
    --------
    >>> from gradraker.workflow import predict_with_bank
    >>> road = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "x")]
    >>> rail = [("a", "u"), ("b", "u"), ("c", "v"), ("d", "v"), ("e", "u")]
    >>> known = {"a": 1.0, "b": 1.0, "c": 9.0, "d": 9.0}
    >>> found = predict_with_bank({"road": road, "rail": rail}, known, kernels=["theory"])
    >>> bool(found.predictions[found.nodes == "e"] < 3.0)
    True
    """
    views = layer_views(layers, hops=hops, hop_weights=hop_weights, **(vector_options or {}))
    aligned = known_values(values, views.nodes, unknown_nodes=unknown_nodes)
    known = np.flatnonzero(~np.isnan(aligned))
    if known.size < 2:
        raise ValueError(
            f"{known.size} nodes have known values, but a bank needs at least two to learn from"
        )
    bank = GradrakerRegressor(
        kernels=kernels,
        views=views.views,
        n_frequencies=n_frequencies,
        learning_rate=learning_rate,
        n_epochs=n_epochs,
        random_state=random_state,
    )
    model, offset = _fit(bank, views, aligned, known)
    return BankPredictions(
        views.nodes,
        aligned,
        model.predict(views.rows) + offset,
        model,
        offset,
        _hold_out(bank, views, aligned, known),
    )


def _fit(
    bank: GradrakerRegressor, views: GraphViews, values: Floats, rows: NDArray[np.int64]
) -> tuple[GradrakerRegressor, float]:
    """Train a copy of a bank on some nodes, and return it with the mean of their values."""
    offset = float(values[rows].mean())
    copy = GradrakerRegressor(**bank.get_params())
    return copy.fit(
        views.rows[rows], values[rows] - offset, references=views.references.tolist()
    ), offset


def _hold_out(
    bank: GradrakerRegressor, views: GraphViews, values: Floats, known: NDArray[np.int64]
) -> LeftOutError | None:
    if known.size < _MIN_KNOWN_TO_HOLD_OUT:
        return None
    shuffled = np.random.default_rng([make_seed(bank.random_state), 3]).permutation(known)
    n_held_out = max(1, round(_HELD_OUT_FRACTION * known.size))
    held_out, others = shuffled[:n_held_out], shuffled[n_held_out:]
    try:
        model, offset = _fit(bank, views, values, others)
    except ValueError:  # the others have no two rows that differ
        return None
    predictions = model.predict(views.rows[held_out]) + offset
    means = np.full(held_out.size, offset)
    return measure_left_out_error(values[known], values[held_out], predictions, means)
