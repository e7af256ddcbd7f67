"""Known nodes predicted without their own values, and the error that estimates."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker._html import render_box, render_rows
from gradraker.metrics import gnmse

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class LeftOutError:
    """Errors of known nodes that were predicted without their own value.

    ``gnmse`` is taken on values that are scaled to [0, 1] by the range of the known ones, as in
    the paper; ``*_of_mean`` are the errors of predicting the mean of the other known values.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> model = NodeRegressor().fit(data, dict(zip(data.node_names[:30], data.values[:30])))
    >>> model.left_out_error_.rmse < model.left_out_error_.rmse_of_mean
    True
    """

    rmse: float
    rmse_of_mean: float
    gnmse: float
    gnmse_of_mean: float
    n_nodes: int

    def _repr_html_(self) -> str:
        rows = [
            ("RMSE", self.rmse, self.rmse_of_mean),
            ("GNMSE, values scaled to [0, 1]", self.gnmse, self.gnmse_of_mean),
        ]
        title = f"Errors of {self.n_nodes} known nodes that were left out"
        return render_box(title, render_rows(rows, ("", "Learner", "Mean")))

    def __str__(self) -> str:
        return (
            f"RMSE {self.rmse:.4g} ({self.rmse_of_mean:.4g} by the mean), "
            f"GNMSE {self.gnmse:.4g} ({self.gnmse_of_mean:.4g} by the mean)"
        )


@describe_fields
@dataclass(frozen=True, eq=False)
class LeftOut:
    """Known nodes that were predicted without their own value.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> model = NodeRegressor().fit(data, dict(zip(data.node_names[:30], data.values[:30])))
    >>> model.predict_left_out().predictions.shape
    (30,)
    """

    rows: Annotated[NDArray[np.int64], "Positions (m,) of the nodes in ``nodes_`` of the model."]
    values: Annotated[Vector, "Known values, (m,)."]
    predictions: Annotated[Vector, "Predictions made without the values, (m,)."]
    mean: Annotated[float, "Mean of the known values that the predictions come from."]
    error: Annotated[LeftOutError, "How far the predictions are off."]
    one_at_a_time: Annotated[
        bool, "Whether each node was left out alone (closed form), or all together."
    ]

    def _repr_html_(self) -> str:
        return self.error._repr_html_()


class LeftOutTargets(dict[Hashable, LeftOut]):
    """Known nodes that were predicted without their own values, by target."""

    @property
    def error(self) -> dict[Hashable, LeftOutError]:
        """How far the predictions are off, by target."""
        return {name: one.error for name, one in self.items()}


@dataclass(frozen=True)
class LeftOutAccuracy:
    """How known nodes were predicted without their own label.

    ``calibration_error`` is the expected calibration error: the mean distance between the
    probability of the predicted class and how often it is right, over ten bins of probability.

    Examples
    --------
    >>> from gradraker import NodeClassifier
    >>> from gradraker.datasets import make_block_graph
    >>> data = make_block_graph(60, n_blocks=2, random_state=0)
    >>> labels = dict(zip(data.node_names[:30], data.positions[:30, 0].tolist()))
    >>> model = NodeClassifier().fit(data, labels)
    >>> 0.5 < model.left_out_error_.accuracy <= 1.0
    True
    """

    accuracy: float
    accuracy_of_most_common: float
    log_loss: float
    calibration_error: float
    n_nodes: int

    def _repr_html_(self) -> str:
        rows = [
            ("Accuracy", self.accuracy, self.accuracy_of_most_common),
            ("Log loss, nats per node", self.log_loss, ""),
            ("Calibration error", self.calibration_error, ""),
        ]
        title = f"{self.n_nodes} known nodes that were left out"
        return render_box(title, render_rows(rows, ("", "Learner", "Most common class")))

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4g} ({self.accuracy_of_most_common:.4g} by the most common "
            f"class), calibration error {self.calibration_error:.3g}"
        )


@describe_fields
@dataclass(frozen=True, eq=False)
class LeftOutClasses:
    """Known nodes whose classes were predicted without their own label.

    Examples
    --------
    >>> from gradraker import NodeClassifier
    >>> from gradraker.datasets import make_block_graph
    >>> data = make_block_graph(60, n_blocks=2, random_state=0)
    >>> labels = dict(zip(data.node_names[:30], data.positions[:30, 0].tolist()))
    >>> model = NodeClassifier().fit(data, labels)
    >>> left_out = model.predict_left_out()
    >>> type(left_out).__name__
    'LeftOutClasses'
    """

    rows: Annotated[NDArray[np.int64], "Positions (m,) of the nodes in ``nodes_`` of the model."]
    codes: Annotated[NDArray[np.int64], "Known classes, as positions (m,) in ``classes``."]
    probabilities: Annotated[Vector, "Of the classes, (m, K), made without the own label."]
    predicted: Annotated[NDArray[np.int64], "Predicted classes, as positions (m,) in ``classes``."]
    classes: Annotated[NDArray[Any], "Labels, (K,)."]
    error: Annotated[LeftOutAccuracy, "How often the predictions are right."]

    def _repr_html_(self) -> str:
        return self.error._repr_html_()


def measure_left_out_error(
    known: Vector, values: Vector, predictions: Vector, means: Vector
) -> LeftOutError:
    """Compare predictions, and means as the simplest predictions, with values.

    Parameters
    ----------
    known : array of shape (N,)
        All known values: their range is the unit of GNMSE.
    values, predictions, means : arrays of shape (m,)
        Of the nodes that were left out.
    """
    low, high = float(known.min()), float(known.max())
    span = high - low if high > low else 1.0
    scaled = (values - low) / span
    rmse, scores = [], []
    for guesses in (predictions, means):
        rmse.append(float(np.sqrt(np.mean((values - guesses) ** 2))))
        is_defined = bool(np.any(scaled != 0.0)) and bool(np.isfinite(guesses).all())
        scores.append(gnmse(scaled, (guesses - low) / span) if is_defined else float("nan"))
    return LeftOutError(rmse[0], rmse[1], scores[0], scores[1], values.size)
