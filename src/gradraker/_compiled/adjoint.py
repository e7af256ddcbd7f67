"""Passes backwards in time, which give contribution weights."""

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Sums may be reordered, so that they use vector instructions.
_REORDERED = {"reassoc", "contract", "nsz"}


@compile_loop(fastmath=_REORDERED)
def _sum_products(a: Floats, b: Floats) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@compile_loop
def run_adjoint_pass(Z: Floats, order: Integers, steps: Floats, v: Floats, weights: Floats) -> None:
    """Contribution weights of one predicted node: F_t = 2ηₜ zₜᵀv, v ← v − F_t zₜ, for t = T … 1.

    ``steps`` (T,) holds 2η, ``v`` is z of the predicted node and is overwritten, ``weights`` (T,)
    gets F_{t,T+1}.
    """
    for t in range(order.size - 1, -1, -1):
        z = Z[order[t]]
        weight = steps[t] * _sum_products(z, v)
        weights[t] = weight
        for j in range(v.size):
            v[j] -= weight * z[j]


@compile_loop
def run_kernel_adjoint_pass(
    K: Floats, order: Integers, step: float, k_star: Floats, weights: Floats
) -> None:
    """The same with the exact kernel: F_t = 2η (κ(a_t, a*) − Σ_{s > t} κ(a_t, a_s) F_s).

    ``K`` (n, n) is the kernel of the known nodes, ``k_star`` (n,) that with the predicted node.
    """
    later = np.zeros(K.shape[0])  # sum of the weights that each node has so far
    for t in range(order.size - 1, -1, -1):
        i = order[t]
        weights[t] = step * (k_star[i] - _sum_products(K[i], later))
        later[i] += weights[t]
