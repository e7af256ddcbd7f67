"""SKG's update with averaging of the iterates, and its adjoint pass."""

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compiled

Floats = NDArray[np.float64]
# Sums may be reordered, so that they use vector instructions.
_REORDERED = {"reassoc", "contract"}


@compiled(fastmath=_REORDERED)
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@compiled
def averaged_lms_pass(
    Z: Floats,
    Y: Floats,
    step: float,
    theta: Floats,
    mean: Floats,
    n_seen: int,
    decay: float,
    errors: Floats,
) -> None:
    """θ ← θ + 2η (y − θᵀz) z for each row of Z (n, F) and Y (n, K), ``step`` = 2η.

    ``mean`` follows as θ̄ ← θ̄ + (decay + 1) / (t + decay) (θ − θ̄) at time t = n_seen + 1, …: recent
    iterates count more. Both have shape (K, F) and are changed in place; ``errors`` (n, K) gets
    y − θ̄ᵀz before the node is learned.
    """
    for i in range(Z.shape[0]):
        z = Z[i]
        rate = (decay + 1.0) / (n_seen + i + 1 + decay)
        for k in range(theta.shape[0]):
            errors[i, k] = Y[i, k] - _dot(mean[k], z)
            factor = step * (Y[i, k] - _dot(theta[k], z))
            for j in range(z.size):
                theta[k, j] += factor * z[j]
                mean[k, j] += rate * (theta[k, j] - mean[k, j])


@compiled
def averaged_adjoint_pass(
    Z: Floats, rows: NDArray[np.int64], step: float, share: Floats, star: Floats, weights: Floats
) -> None:
    """Weights of the values of all times in Σ_t share_t θ_tᵀ star, by one pass backwards.

    For t = T, …, 1: v ← v + share_t star, F_t = 2η z_tᵀv, v ← v − F_t z_t.
    """
    v = np.zeros(star.size)
    for t in range(rows.size - 1, -1, -1):
        z = Z[rows[t]]
        for j in range(v.size):
            v[j] += share[t] * star[j]
        weight = step * _dot(z, v)
        weights[t] = weight
        for j in range(v.size):
            v[j] -= weight * z[j]
