"""What every solver hands out: predictions, weights, and known nodes predicted without themselves.

A solution stands on the known nodes and, through few numbers, on their values: new values of the
same nodes cost little. All predictions are Σ w_i y_i with Σ w_i = 1.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.attributes.coefficients import AttributeCoefficients
from gradraker.models.walks.intervals import ErrorSizes

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Rows whose kernel is held at once.
CHUNK = 512


class LeftOutNodes(NamedTuple):
    """Known nodes that were predicted without their own values."""

    positions: Rows  # [m], in the known nodes
    predictions: Matrix  # [m, K]
    spreads: Matrix  # [m]: sizes that their errors are expected to have, up to a common factor
    one_at_a_time: bool


class Parts(NamedTuple):
    """Predictions as sums over kinds of similarity, beside the mean."""

    names: tuple[str, ...]
    values: Matrix  # [n, kinds, K]


class Solution(Protocol):
    """A fitted model of the known nodes. ``at`` describes new nodes, which rows then number."""

    known: Rows
    Y: Matrix  # [N, K]
    error_sizes: dict[int, tuple[ErrorSizes, Matrix]]  # by target, of the present values

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""

    def predict(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""

    def estimate_spreads(self, rows: Rows, at: Any = None) -> Matrix:
        """Sizes that errors are expected to have, up to a common factor, (n,)."""

    def predict_parts(self, rows: Rows) -> Parts:
        """What each kind of similarity adds to the mean of the known values."""

    def compute_coefficients(self) -> AttributeCoefficients:
        """Coefficients of linear terms of attributes."""

    def compute_weights(self, rows: Rows) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""

    def compute_left_out_weights(self, positions: Rows) -> Matrix:
        """Weights in the predictions of known nodes without their own values, (n, N)."""

    def predict_left_out(self) -> LeftOutNodes:
        """Predict known nodes without their own values."""
