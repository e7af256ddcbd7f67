"""Algorithm 2 of the paper: a noise range measured by a simulation."""

import numpy as np
from numpy.typing import NDArray

from gradraker.features import RowArrays, compute_fourier_features
from gradraker.kernels.ranges import compute_noise_ratio
from gradraker.linear.weights import contribution_weights

# Part of the rows that play the tested node T + 1, one after the other.
_HELD_OUT = 0.2


def measure_noise_ratios(
    rows: RowArrays,
    units: NDArray[np.float32],
    *,
    sigma2: float,
    learning_rate: float,
    n_epochs: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """|min_i F_{i,T+1}| / 2η for each of some held-out rows that play the node T + 1.

    The values of nodes play no role: contribution weights depend on rows and their order only.
    A row all of whose weights are positive has no noise range, and gives 0.
    """
    n = rows.indptr.size - 1
    shuffled = rng.permutation(n)
    n_tested = max(1, round(_HELD_OUT * n))
    tested, trained = shuffled[:n_tested], shuffled[n_tested:]
    Z = compute_fourier_features(rows, units, 1.0 / float(np.sqrt(sigma2)))  # [n, 2D]
    order = np.concatenate([rng.permutation(trained) for _ in range(n_epochs)])
    weights = contribution_weights(Z, order, Z[tested], learning_rate)  # [m, T]
    return np.asarray(np.maximum(-weights.min(axis=1), 0.0) / (2.0 * learning_rate))


def measure_noise_ratio(
    rows: RowArrays,
    units: NDArray[np.float32],
    *,
    sigma2: float,
    learning_rate: float,
    n_epochs: int,
    rng: np.random.Generator,
) -> float:
    """The noise ratio of algorithm 2: the median over held-out rows of their |min F| / 2η.

    The paper leaves open which node plays T + 1 while tested nodes are unknown. Here a fifth
    of the sampled rows is held out, and each plays it in turn; the median does not depend on how
    many there are, as the smallest of all would. Without negative weights there is no noise
    range to measure, and the formula's is kept.
    """
    ratio = float(
        np.median(
            measure_noise_ratios(
                rows,
                units,
                sigma2=sigma2,
                learning_rate=learning_rate,
                n_epochs=n_epochs,
                rng=rng,
            )
        )
    )
    return ratio if ratio > 0.0 else compute_noise_ratio(units.shape[1])
