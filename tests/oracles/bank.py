"""A bank of kernels, one row and one member at a time, straight from its equations."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def weights(losses: list[Any], step: Any) -> NDArray[np.float64]:
    """w̄ₚ = exp(−λ Lₚ) / Σ_q exp(−λ L_q)."""
    powers = [math.exp(-step * (loss - min(losses))) for loss in losses]
    return np.array([power / sum(powers) for power in powers])


def raised(bound: Any, error: Any) -> Any:
    """B² after a step with the largest squared error ``error``: doubled at least if it rises."""
    if error <= bound:
        return bound
    return max(2.0 * bound, error)


def train(
    features: list[Any],
    y: NDArray[np.float64],
    order: NDArray[np.int64],
    learning_rate: float,
    *,
    weight_step: Any = "auto",
    regularization: float = 0.0,
) -> tuple[Any, ...]:
    """Train members with features Zₚ (n, 2D) on y (n,) or (n, K).

    Returns θ of each member, the members' losses, the bank's loss, and the weights that each step
    was predicted with.
    """
    y = np.asarray(y, dtype=np.float64)
    theta = [np.zeros((*y.shape[1:], Z.shape[1])) for Z in features]
    losses, bank_loss, bound, history = [0.0] * len(features), 0.0, 0.0, []
    for n in order:
        step = weight_step
        if weight_step == "auto":
            step = 1.0 / (2.0 * bound) if bound > 0.0 else 0.0
        w = weights(losses, step)
        history.append(w)
        predictions = [np.dot(t, Z[n]) for t, Z in zip(theta, features, strict=True)]
        bank_loss += np.sum((y[n] - sum(w * f for w, f in zip(w, predictions, strict=True))) ** 2)
        largest = 0.0
        for p, Z in enumerate(features):
            error = np.sum((y[n] - predictions[p]) ** 2)
            losses[p] += error + regularization * np.sum(theta[p] ** 2)
            largest = max(largest, error)
            gradient = -2.0 * np.multiply.outer(y[n] - predictions[p], Z[n])
            theta[p] = theta[p] - learning_rate * (gradient + 2.0 * regularization * theta[p])
        bound = raised(bound, largest)
    return np.array(theta), np.array(losses), bank_loss, np.array(history)
