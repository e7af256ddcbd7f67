"""Contribution weights: a prediction of SKG as a weighted sum of the values it has seen."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.utils import check_array

from gradraker._compiled.skg import adjoint_pass
from gradraker.learners.parameters import check_learning_rate

# Steps a block: long enough for matrix products, short enough for the triangular solve.
_BLOCK = 128


def contribution_weights(
    Z: ArrayLike, order: ArrayLike, z_star: ArrayLike, learning_rate: float | ArrayLike
) -> NDArray[np.float64]:
    """Contribution weights F_{i,T+1} of the paper, equation (fijdef), without its O(T²).

    The prediction for a node with features z* after training on rows ``order`` of Z is
    Σ_t F_t y[order[t]] (claim 3). The weights come from one pass backwards in time: start with
    v = z*, and for t = T, …, 1 set F_t = 2η z_tᵀv and v ← v − F_t z_t. That takes O(TD)
    operations and O(T + D) memory for a tested node; many tested nodes go through blocks
    of matrix products.

    Parameters
    ----------
    Z : array-like of shape (n, 2D)
        Features of the observed nodes.
    order : array-like of T ints
        Rows of Z in the order of training, all epochs.
    z_star : array-like of shape (2D,) or (m, 2D)
        Features of one tested node or of m of them.
    learning_rate : float or array-like of T floats
        η in (0, 1), the same at all times or one for each.

    Returns
    -------
    ndarray of shape (T,) or (m, T)
        Weight of the value seen at each time.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.learners import contribution_weights
    >>> Z = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> contribution_weights(Z, [0, 1, 0], [1.0, 0.0], learning_rate=0.25)
    array([0.25, 0.  , 0.5 ])
    """
    features = _checked_features("Z", Z)
    stars = _checked_features("z_star", np.atleast_2d(z_star))
    if features.shape[1] != stars.shape[1]:
        raise ValueError(f"z_star has {stars.shape[1]} features, but Z has {features.shape[1]}")
    rows = checked_order(order, features.shape[0])
    steps = 2.0 * _checked_rates(learning_rate, rows.size)  # [T]
    weights = np.empty((stars.shape[0], rows.size))  # [m, T]
    if stars.shape[0] == 1:
        adjoint_pass(features, rows, steps, stars[0].copy(), weights[0])
    else:
        _blocked_adjoint(features, rows, steps, stars, weights)
    return weights[0] if np.ndim(z_star) == 1 else weights


def _blocked_adjoint(
    Z: NDArray[np.float64],
    order: NDArray[np.int64],
    steps: NDArray[np.float64],
    stars: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> None:
    """Blocks of steps as matrix products: (I + 2η·strict upper of Z_b Z_bᵀ) F_b = 2η Z_b V."""
    V = stars.T.copy(order="F")  # [2D, m]
    for stop in range(order.size, 0, -_BLOCK):
        start = max(0, stop - _BLOCK)
        Z_block = Z[order[start:stop]]  # [b, 2D]
        step = steps[start:stop, np.newaxis]  # [b, 1]
        system = np.triu(step * (Z_block @ Z_block.T), 1)  # [b, b]
        F = solve_triangular(
            system, step * (Z_block @ V), unit_diagonal=True, check_finite=False
        )  # [b, m]
        V -= Z_block.T @ F
        weights[:, start:stop] = F.T


def _checked_features(name: str, Z: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(check_array(Z, dtype=np.float64, input_name=name))


def checked_order(order: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Return row numbers in the order of training, or say what is wrong with them."""
    rows = np.asarray(order)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"order must be a list of row numbers, got an array of type {rows.dtype} "
            f"and shape {rows.shape}"
        )
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise ValueError(
            f"order must hold row numbers from 0 to {n_rows - 1}, "
            f"got numbers from {rows.min()} to {rows.max()}"
        )
    return rows.astype(np.int64)


def _checked_rates(learning_rate: float | ArrayLike, n_steps: int) -> NDArray[np.float64]:
    if np.ndim(learning_rate) == 0:
        return np.full(n_steps, check_learning_rate(learning_rate))
    rates = np.asarray(learning_rate, dtype=np.float64)
    if rates.shape != (n_steps,) or not np.all((rates > 0.0) & (rates < 1.0)):
        raise ValueError(
            f"learning_rate must be a number in (0, 1) or {n_steps} of them, one for each time, "
            f"got an array of shape {rates.shape}"
        )
    return rates
