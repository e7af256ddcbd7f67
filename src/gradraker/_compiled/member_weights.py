"""Loops of the hedge rule: the weights of the members of a bank follow from their losses."""

import math

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop

Floats = NDArray[np.float64]


@compile_loop
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


@compile_loop
def compute_safe_step(bound: float) -> float:
    """λ = 1/(2 B²); 0 before any error."""
    # The square of a smaller error would give a step beyond the range of float64.
    return 0.5 / max(bound, 1e-300) if bound > 0.0 else 0.0


@compile_loop
def run_hedge_pass(
    predictions: Floats,
    norms: Floats,
    Y: Floats,
    weight_step: float,
    regularization: float,
    losses: Floats,
    totals: Floats,
    history: Floats,
) -> None:
    """Run T steps: weigh the members, predict, and add up the losses of all.

    ``predictions`` (P, T, K) and ``norms`` (P, T) are the members', ``Y`` (T, K) the values.
    ``losses`` (P,) and ``totals`` (3,) are changed in place: the losses of each member; the loss
    of the bank, the largest squared error of a member, and B², an upper bound of the squared
    errors that at least doubles when it rises. With weight_step 0 λ is
    :func:`compute_safe_step` of B². ``history`` (T, P), or (0, P), gets the member weights used.
    """
    n_members, n_steps, n_targets = predictions.shape
    weights = np.empty(n_members)
    for t in range(n_steps):
        step = weight_step if weight_step > 0.0 else compute_safe_step(totals[2])
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
