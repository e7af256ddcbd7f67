"""Try many variances on held-out nodes, with one projection for all of them."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.skg import held_out_pass
from gradraker.features.parallel import n_threads


class Fold(NamedTuple):
    """Rows to train on, in the order of all epochs, and rows to predict."""

    order: NDArray[np.int64]
    tested: NDArray[np.int64]


def make_folds(n: int, *, n_folds: int, n_epochs: int, rng: np.random.Generator) -> list[Fold]:
    """Cut n rows into ``n_folds`` tested sets at random; the rest trains in random orders."""
    shuffled = rng.permutation(n)
    folds = []
    for tested in np.array_split(shuffled, n_folds):
        others = np.setdiff1d(shuffled, tested)
        order = np.concatenate([rng.permutation(others) for _ in range(n_epochs)])
        folds.append(Fold(order, tested))
    return folds


def held_out_predictions(
    P: NDArray[np.float64],
    Y: NDArray[np.float64],
    *,
    sigma2: Sequence[float] | NDArray[np.float64],
    folds: Sequence[Fold],
    learning_rate: float,
) -> NDArray[np.float64]:
    """Predictions of the tested rows of all folds at each variance.

    Parameters
    ----------
    P : array of shape (n, D)
        Projections X Ξ on unit frequencies.
    Y : array of shape (n, K)
        Values; those of tested rows are not used.
    sigma2 : sequence of S floats
        Variances.
    folds : sequence of Fold
        Models to train at each variance; a row is tested in at most one of them.
    learning_rate : float
        η.

    Returns
    -------
    ndarray of shape (S, n, K)
        NaN for rows that no fold tests.
    """
    variances = np.asarray(sigma2, dtype=np.float64)
    orders, order_ends = _joined([fold.order for fold in folds])
    tested, tested_ends = _joined([fold.tested for fold in folds])
    predictions = np.full((variances.size, *Y.shape), np.nan)  # [S, n, K]
    step = 2.0 * learning_rate

    def run(s: int) -> None:
        scale = float(1.0 / np.sqrt(variances[s]))
        held_out_pass(P, scale, orders, order_ends, tested, tested_ends, Y, step, predictions[s])

    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(run, range(variances.size)))
    return predictions


def _joined(parts: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.concatenate(parts).astype(np.int64), np.cumsum([part.size for part in parts])
