"""Measures of how good predictions are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from gradraker._html import render_box, render_rows

Vector = NDArray[np.float64]


def gnmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Generalization normalized mean squared error, ‖y − ŷ‖² / ‖y‖².

    The paper scales values to [0, 1] before it computes GNMSE; this function
    does not scale. Predicting 0 everywhere gives 1.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, targets)
        Values of the unknown nodes, not all 0.
    y_pred : array-like of the same shape
        Predictions.

    Returns
    -------
    float
        0 for a perfect prediction; lower is better.

    Examples
    --------
    >>> from gradraker import gnmse
    >>> gnmse([1.0, 2.0], [1.0, 1.0])
    0.2
    """
    true = np.asarray(check_array(y_true, ensure_2d=False, dtype=np.float64, input_name="y_true"))
    pred = np.asarray(check_array(y_pred, ensure_2d=False, dtype=np.float64, input_name="y_pred"))
    check_consistent_length(true, pred)
    if true.shape != pred.shape:
        raise ValueError(f"y_pred has shape {pred.shape}, but y_true has shape {true.shape}")
    if not true.any():
        raise ValueError("y_true is 0 everywhere, so GNMSE would divide by 0")
    # A common power of 2 changes nothing, and keeps the squares in the range of float64.
    exponent = np.frexp(np.max(np.abs(true)))[1]
    true, pred = np.ldexp(true, -exponent), np.ldexp(pred, -exponent)
    return float(np.sum((true - pred) ** 2) / np.sum(true**2))


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


def measure_left_out_error(
    known: Vector, values: Vector, predictions: Vector, means: Vector
) -> LeftOutError:
    """Measure the errors of predictions, and of means as a baseline.

    Parameters
    ----------
    known : array of shape (N,)
        All known values: their range is the unit of GNMSE.
    values, predictions, means : arrays of shape (m,)
        Values, predictions and baseline of the nodes that were left out.
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
