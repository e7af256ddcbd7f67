"""Measures of how good predictions are."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length


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
