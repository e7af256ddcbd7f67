"""Predictions of held-out rows at many variances, with one projection for all of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.fourier_lms import run_held_out_pass
from gradraker.features.parallel import parallel_for


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
