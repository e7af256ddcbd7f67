"""SKG from equations (1) to (4) of the paper, one row at a time, and the closed-form kernels."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def features(X: NDArray[Any], frequencies: NDArray[np.float64]) -> Any:
    """Equation (1): z = [sin ξ₁ᵀa, …, sin ξ_Dᵀa, cos ξ₁ᵀa, …, cos ξ_Dᵀa] / √D for each row a.

    Everything is computed in long double, so that the oracle is the more accurate side.
    """
    X = np.asarray(X, dtype=np.longdouble)
    xi = np.asarray(frequencies, dtype=np.longdouble)  # [M, D]
    D = xi.shape[1]
    Z = np.empty((len(X), 2 * D), dtype=np.longdouble)
    for n, a in enumerate(X):
        for k in range(D):
            angle = np.sum(xi[:, k] * a)
            Z[n, k] = np.sin(angle)
            Z[n, D + k] = np.cos(angle)
    return (Z / np.sqrt(np.longdouble(D))).astype(np.float64)


def predict(Z: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation (2): f = θᵀz for each row z; theta is (2D,) or (K, 2D)."""
    return np.array([np.dot(theta, z) for z in Z])


def train(
    Z: NDArray[np.float64],
    y: NDArray[Any],
    order: Any,
    learning_rate: float,
    theta: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Equations (3) and (4): θ ← θ − η ∇L with ∇L = −2 (y − f) z, from θ₀ = 0, row by row."""
    y = np.asarray(y, dtype=np.float64)
    theta = np.zeros((*y.shape[1:], Z.shape[1])) if theta is None else np.array(theta)
    for n in order:
        f = np.dot(theta, Z[n])
        gradient = -2.0 * np.multiply.outer(y[n] - f, Z[n])
        theta = theta - learning_rate * gradient
    return theta


def orders(seed: int, n: int, n_epochs: int, *, shuffle: bool) -> NDArray[np.int64]:
    """Rows in the order in which ``fit`` visits them: a documented function of the seed."""
    rng = np.random.default_rng([seed, 1])
    epochs = [rng.permutation(n) if shuffle else np.arange(n) for _ in range(n_epochs)]
    return np.concatenate(epochs)


def gaussian(a: NDArray[np.float64], b: NDArray[np.float64], sigma2: float) -> float:
    """exp(−‖a − b‖² / 2σ²)."""
    return math.exp(-sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) / (2 * sigma2))


def laplacian(a: Any, b: Any, sigma2: Any) -> Any:
    """exp(−‖a − b‖₁ / σ)."""
    return math.exp(-sum(abs(p - q) for p, q in zip(a, b, strict=True)) / math.sqrt(sigma2))


def cauchy(a: Any, b: Any, sigma2: Any) -> Any:
    """∏ 1 / (1 + (a − b)² / σ²)."""
    return math.prod(1 / (1 + (p - q) ** 2 / sigma2) for p, q in zip(a, b, strict=True))


KERNELS = {"gaussian": gaussian, "laplacian": laplacian, "cauchy": cauchy}
