"""Algorithm 2 of the paper: a noise range measured by a simulation."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features import FrequencyTable, RowArrays, compute_fourier_features
from gradraker.kernels.ranges import compute_noise_ratio
from gradraker.linear.lms import draw_epoch_orders
from gradraker.linear.weights import contribution_weights

# Without tested nodes, known nodes play T + 1: a tenth of them is held out at a time, until so many
# have played. Holding out a fifth, or one tenth only, ends up farther from real tested nodes.
_HELD_OUT = 0.1
_ENOUGH = 50
# Tested nodes beyond these would move the median by less than its noise.
MOST_TESTED = 500

# How the noise ratios of several nodes become one: ``noise`` of ``sigma2_ranges``.
STATISTICS: dict[str, Callable[[NDArray[np.float64]], Any]] = {
    "refined": np.median,
    "minimum": np.max,
}


def measure_noise_ratios(
    rows: RowArrays,
    table: FrequencyTable,
    *,
    sigma2: float,
    learning_rate: float,
    n_epochs: int,
    rng: np.random.Generator,
    tested: RowArrays | None = None,
) -> NDArray[np.float64]:
    """|min_i F_{i,T+1}| / 2η for each of some rows that play the node T + 1.

    With ``tested`` rows this is algorithm 2 as written: all rows are trained, in the orders of
    ``fit``, and each tested row plays T + 1. Without them, known rows play it while they are
    held out. Values play no role: contribution weights depend on rows and their order only.
    A row all of whose weights are positive has no noise range, and gives 0.
    """
    scale = 1.0 / float(np.sqrt(sigma2))
    Z = compute_fourier_features(rows, table.prepare(rows.indices), scale)  # [n, 2D]
    if tested is not None:
        units = table.prepare(tested.indices)
        stars = compute_fourier_features(tested, units, scale, order=_draw_tested(tested, rng))
        orders = draw_epoch_orders(table.seed, Z.shape[0], n_epochs, shuffle=True)
        return _measure(Z, np.concatenate(orders), stars, learning_rate)
    found = [
        _measure(Z, order, Z[held_out], learning_rate)
        for held_out, order in _hold_out(Z.shape[0], n_epochs, rng)
    ]
    return np.concatenate(found)


def _draw_tested(tested: RowArrays, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of the tested rows, or of some of them where there are many."""
    n = tested.indptr.size - 1
    return np.arange(n) if n <= MOST_TESTED else rng.permutation(n)[:MOST_TESTED]


def _hold_out(
    n: int, n_epochs: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield held-out rows and an order of training on the others, until enough have played."""
    shuffled = rng.permutation(n)
    size = max(1, round(_HELD_OUT * n))
    for start in range(0, min(n, _ENOUGH), size):
        held_out = shuffled[start : start + size]
        others = np.delete(shuffled, np.s_[start : start + size])
        yield held_out, np.concatenate([rng.permutation(others) for _ in range(n_epochs)])


def _measure(
    Z: NDArray[np.float64],
    order: NDArray[np.int64],
    stars: NDArray[np.float64],
    learning_rate: float,
) -> NDArray[np.float64]:
    weights = contribution_weights(Z, order, stars, learning_rate)  # [m, T]
    return np.asarray(np.maximum(-weights.min(axis=1), 0.0) / (2.0 * learning_rate))


def summarise_noise_ratios(ratios: NDArray[np.float64], noise: str, n_frequencies: int) -> float:
    """One noise ratio for all nodes: the median of theirs, or the largest for ``"minimum"``.

    Without negative weights there is no noise range to measure, and the formula's is kept.
    """
    ratio = float(STATISTICS[noise](ratios))
    return ratio if ratio > 0.0 else compute_noise_ratio(n_frequencies)
