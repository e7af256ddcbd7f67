"""The loop that weighs the members of a bank by their losses (the hedge rule)."""

import math

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compiled

Floats = NDArray[np.float64]


@compiled
def set_weights(losses: Floats, weight_step: float, weights: Floats) -> None:
    """``weights[p]`` = exp(−λ losses[p]) / Σ_q exp(−λ losses[q])."""
    smallest = losses.min()
    total = 0.0
    for p in range(losses.size):
        # Without the smallest loss, which cancels, the largest exponential is 1.
        weights[p] = math.exp(-weight_step * (losses[p] - smallest))
        total += weights[p]
    for p in range(losses.size):
        weights[p] /= total


@compiled
def safe_step(bound: float) -> float:
    """λ = 1/(2 B²); 0 before any error."""
    # Errors whose squares are smaller would give a step beyond the range of float64.
    return 0.5 / max(bound, 1e-300) if bound > 0.0 else 0.0


@compiled
def hedge_pass(
    predictions: Floats,
    norms: Floats,
    Y: Floats,
    weight_step: float,
    regularization: float,
    losses: Floats,
    totals: Floats,
    history: Floats,
) -> None:
    """Go through T steps: weigh the members, predict, and charge all with their losses.

    ``predictions`` (P, T, K) and ``norms`` (P, T) are the members', ``Y`` (T, K) the values.
    ``losses`` (P,) and ``totals`` (3,) are changed in place: sums of losses so far; the bank's own
    sum, the largest squared error of any member, and B², which no squared error exceeds and which
    at least doubles when it has to rise. With weight_step 0 λ is :func:`safe_step` of B².
    ``history`` (T, P), or (0, P), gets the weights used.
    """
    n_members, n_steps, n_targets = predictions.shape
    weights = np.empty(n_members)
    for t in range(n_steps):
        step = weight_step if weight_step > 0.0 else safe_step(totals[2])
        set_weights(losses, step, weights)
        for k in range(n_targets):
            combined = 0.0
            for p in range(n_members):
                combined += weights[p] * predictions[p, t, k]
            totals[0] += (Y[t, k] - combined) ** 2
        largest = 0.0
        for p in range(n_members):
            error = 0.0
            for k in range(n_targets):
                error += (Y[t, k] - predictions[p, t, k]) ** 2
            losses[p] += error + regularization * norms[p, t]
            largest = max(largest, error)
        totals[1] = max(totals[1], largest)
        if largest > totals[2]:
            totals[2] = max(largest, 2.0 * totals[2])
        if history.shape[0] > 0:
            history[t] = weights
