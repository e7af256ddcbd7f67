"""Predict the next values of series at the nodes of a graph, through a graph filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker.graph import adjacency_vectors, filtered_signals
from gradraker.metrics import gnmse
from gradraker.models.skg import SKGRegressor

Floats = NDArray[np.float64]
# Share of the times, at the end of the series, that is held out to measure errors.
_HELD_OUT_FRACTION = 0.2


@describe_fields
@dataclass(frozen=True, eq=False)
class SeriesPredictions:
    """The next value of each node, returned by :func:`predict_series`.

    Examples
    --------
    >>> from gradraker import SKGRegressor
    >>> from gradraker.datasets import load_temperature_normals
    >>> from gradraker.workflow import predict_series
    >>> data, series = load_temperature_normals()
    >>> learner = SKGRegressor(random_state=0)
    >>> predict_series(data, series, learner=learner, taps=2).predictions.shape
    (89,)
    """

    nodes: Annotated[NDArray[Any], "Names of the nodes, (n,)."]
    last: Annotated[Floats, "The last value of each series, (n,)."]
    predictions: Annotated[Floats, "The values ``horizon`` steps after the last ones, (n,)."]
    model: Annotated[SKGRegressor, "Trained on all times, on values less their mean."]
    n_times: Annotated[int, "Times of the series."]
    gnmse: Annotated[
        float | None,
        "Error at the last fifth of the times, of a model trained on the others; values are "
        "scaled to [0, 1]. None for short series.",
    ]
    gnmse_of_last: Annotated[float | None, "The same error if the last known value is predicted."]
    horizon: Annotated[int, "Steps from the last value to the prediction."] = 1

    def list_columns(self) -> dict[str, NDArray[Any]]:
        """Return node, last value and prediction as columns."""
        return {"node": self.nodes, "last": self.last, "prediction": self.predictions}


def predict_series(
    graph: Any,
    series: Any,
    *,
    horizon: int = 1,
    learner: SKGRegressor,
    shift: Any = "adjacency",
    graph_options: Mapping[str, Any] | None = None,
    **filter_options: Any,
) -> SeriesPredictions:
    """Predict the value of each node ``horizon`` steps after the end of its series.

    Parameters
    ----------
    graph, series
        As in :func:`gradraker.graph.filtered_signals`.
    horizon : int, default=1
        Steps to look ahead.
    learner : SKGRegressor
        Settings of the learner; it is not changed.
    shift : {"adjacency", "laplacian", "normalised", "mean"} or matrix of shape (n, n)
        As in ``filtered_signals``; "mean" is the mean over neighbours.
    graph_options : mapping, optional
        Options of :func:`gradraker.adjacency_vectors`, such as ``direction``.
    **filter_options
        ``taps``, ``delay``, ``unit_norm`` and ``padding`` of ``filtered_signals``.

    Returns
    -------
    SeriesPredictions

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker import SKGRegressor
    >>> from gradraker.workflow import predict_series
    >>> waves = np.sin(np.arange(40)[:, np.newaxis] / 3 + np.arange(3))
    >>> learner = SKGRegressor(n_epochs=10, random_state=0)
    >>> found = predict_series([("a", "b"), ("b", "c")], waves, learner=learner, taps=2)
    >>> found.predictions.shape, bool(found.gnmse < 1.0)
    ((3,), True)
    """
    options = dict(graph_options or {})
    if isinstance(shift, str) and shift == "mean":
        # Rows of a random walk add up to 1, and are not scaled further.
        options["hop_weights"], shift = "random_walk", "adjacency"
        filter_options = {"unit_norm": False} | filter_options
    if options:
        graph = adjacency_vectors(graph, **options)
    signals = filtered_signals(graph, series, shift=shift, **filter_options)
    X, y = signals.make_pairs(horizon=horizon)
    n = len(signals.nodes)
    n_pairs = X.shape[0] // n  # times with a value to learn
    if n_pairs < 1:
        raise ValueError(
            f"series has too few times for horizon={horizon} and these taps: no time is left to "
            "learn from"
        )
    model, offset = _fit(learner, X, y, signals.references)
    rows = signals.rows.reshape(-1, n, X.shape[1])[-1]  # [n, taps], the last time
    errors = _measure(learner, X, y, n, signals.references)
    return SeriesPredictions(
        np.asarray(signals.nodes),
        rows[:, 0].copy(),
        model.predict(rows) + offset,
        model,
        len(signals.series),
        *errors,
        horizon=horizon,
    )


def _fit(
    learner: SKGRegressor, X: Floats, y: Floats, references: Any
) -> tuple[SKGRegressor, float]:
    offset = float(y.mean())
    model = SKGRegressor(**learner.get_params())
    return model.fit(X, y - offset, references=references), offset


def _measure(
    learner: SKGRegressor, X: Floats, y: Floats, n: int, references: Any
) -> tuple[float | None, float | None]:
    """GNMSE at the last fifth of the times, of a model trained before and of the last value."""
    n_pairs = X.shape[0] // n
    n_held_out = round(_HELD_OUT_FRACTION * n_pairs)
    if n_held_out < 1 or n_pairs - n_held_out < 2:
        return None, None
    split = (n_pairs - n_held_out) * n
    try:
        model, offset = _fit(learner, X[:split], y[:split], references)
    except ValueError:  # rows that are all equal
        return None, None
    low, span = float(y.min()), float(np.ptp(y)) or 1.0
    true = (y[split:] - low) / span
    if not np.any(true):
        return None, None
    predictions = (model.predict(X[split:]) + offset - low) / span
    return gnmse(true, predictions), gnmse(true, (X[split:, 0] - low) / span)
