"""Sequential training of a linear model on features: equations (2) to (4)."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.fourier_lms import run_held_out_pass, run_lms_pass
from gradraker.features import RowArrays, compute_fourier_features, iterate_feature_chunks
from gradraker.features.parallel import parallel_for

# Up to this size the features of all rows are kept between epochs.
_KEPT_BYTES = 256 << 20


def draw_epoch_orders(
    seed: int, n_rows: int, n_epochs: int, *, shuffle: bool
) -> list[NDArray[np.int64]]:
    """Draw the order in which ``fit`` visits the rows in each epoch."""
    rng = np.random.default_rng([seed, 1])
    in_order = np.arange(n_rows)
    return [rng.permutation(n_rows) if shuffle else in_order for _ in range(n_epochs)]


def train(
    rows: RowArrays,
    Y: NDArray[np.float64],
    theta: NDArray[np.float64],
    *,
    units: NDArray[np.float32],
    scale: float,
    learning_rate: float,
    orders: Iterable[NDArray[np.int64]],
    dtype: Any = np.float64,
) -> int:
    """Train ``theta`` in place, one row at a time, and return the number of steps.

    Each step is θ ← θ + 2η (y − θᵀz) z. The result depends on the sequence of rows only,
    not on how it is split into chunks or epochs.

    Parameters
    ----------
    rows : RowArrays
        Adjacency vectors of n nodes.
    Y : array of shape (n, K)
        Values.
    theta : array of shape (K, 2D)
        Parameters, changed in place.
    units : float32 array of shape (M, D)
        Unit frequencies.
    scale : float
        1/σ.
    learning_rate : float
        η.
    orders : iterable of int64 arrays
        Rows of each epoch, in the order of training.
    dtype : dtype
        Type of the features; sums are always float64.
    """
    orders = list(orders)
    n_features = theta.shape[1]
    n_steps = 0
    small = Y.shape[0] * n_features * np.dtype(dtype).itemsize <= _KEPT_BYTES
    if len(orders) > 1 and small:
        Z = compute_fourier_features(rows, units, scale, dtype=dtype)  # [n, 2D]
        for order in orders:
            run_lms_pass(Z, order, Y, 2.0 * learning_rate, theta)
            n_steps += order.size
        return n_steps
    for order in orders:
        for chunk, Z in iterate_feature_chunks(rows, units, scale, order=order, dtype=dtype):
            run_lms_pass(Z, np.arange(chunk.size), Y[chunk], 2.0 * learning_rate, theta)
            n_steps += chunk.size
    return n_steps


class Fold(NamedTuple):
    """Rows to train on, in the order of all epochs, and held-out rows to predict."""

    order: NDArray[np.int64]
    held_out: NDArray[np.int64]


def make_folds(n: int, *, n_folds: int, n_epochs: int, rng: np.random.Generator) -> list[Fold]:
    """Split n rows at random into ``n_folds`` held-out sets; the others train in random orders."""
    shuffled = rng.permutation(n)
    folds = []
    for held_out in np.array_split(shuffled, n_folds):
        others = np.setdiff1d(shuffled, held_out)
        order = np.concatenate([rng.permutation(others) for _ in range(n_epochs)])
        folds.append(Fold(order, held_out))
    return folds


def predict_held_out(
    P: NDArray[np.float64],
    Y: NDArray[np.float64],
    *,
    sigma2: Sequence[float] | NDArray[np.float64],
    folds: Sequence[Fold],
    learning_rate: float,
) -> NDArray[np.float64]:
    """Predict the held-out rows of all folds at each variance.

    Parameters
    ----------
    P : array of shape (n, D)
        Projections X Ξ on unit frequencies.
    Y : array of shape (n, K)
        Values; a fold does not use those of its held-out rows.
    sigma2 : sequence of S floats
        Variances.
    folds : sequence of Fold
        Models to train at each variance; a row is held out in at most one of them.
    learning_rate : float
        η.

    Returns
    -------
    ndarray of shape (S, n, K)
        NaN for rows that no fold holds out.
    """
    variances = np.asarray(sigma2, dtype=np.float64)
    orders, order_ends = _concatenate([fold.order for fold in folds])
    held_out, held_out_ends = _concatenate([fold.held_out for fold in folds])
    predictions = np.full((variances.size, *Y.shape), np.nan)  # [S, n, K]
    step = 2.0 * learning_rate

    def run(start: int, stop: int) -> None:
        for s in range(start, stop):
            scale = float(1.0 / np.sqrt(variances[s]))
            run_held_out_pass(
                P, scale, orders, order_ends, held_out, held_out_ends, Y, step, predictions[s]
            )

    parallel_for(run, variances.size, 1)
    return predictions


def _concatenate(parts: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.concatenate(parts).astype(np.int64), np.cumsum([part.size for part in parts])
