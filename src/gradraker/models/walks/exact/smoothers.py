"""Kernel ridge among known nodes: Q and g of :mod:`gradraker.linear.ridge`, in two forms.

On the CPU the inverse H⁻¹ of H = K + αI is formed. On a GPU the inverse of its Cholesky factor is
enough: half the work, and one matrix of the known nodes instead of three.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import Engine
from gradraker.linear.factors import invert_factor, split_blocks
from gradraker.linear.ridge import Dual, build_dual_smoother, grow_dual_inverse, invert_dual

Matrix = NDArray[np.float64]
# What is added to the diagonal, over its mean, until rounding no longer makes H indefinite.
_FIRST_MORE, _MOST_MORE = 1e-14, 1e-6


class Smoother(Protocol):
    """Predictions are k @ (Q @ y) + g @ y; kernels k are arrays of the engine."""

    g: Matrix  # [N]
    own: Matrix  # [N]: the diagonal of Q

    def multiply(self, Y: Matrix) -> Matrix:
        """Q Y for values (N, K)."""

    def weigh(self, K: Any) -> Matrix:
        """K Q for kernels (rows, N)."""

    def estimate_variances(self, K: Any, alpha: float) -> Matrix:
        """α − kᵀH⁻¹k + (1 − hᵀk)²/c of kernels (rows, N), with h = H⁻¹1 and c = 1ᵀh."""

    def grow(self, cross: Any, own: Any, alpha: float) -> "Smoother":
        """The smoother with k more nodes; their kernels are (k, N) with the others, (k, k) own."""


class DenseSmoother:
    """The smoother of an inverse H⁻¹, or of the mean without one; arrays of NumPy."""

    def __init__(self, inverse: Matrix | None, dual: Dual | None = None) -> None:
        if dual is None:
            assert inverse is not None
            dual = build_dual_smoother(inverse)
        self._inverse, self._dual = inverse, dual
        self.g, self.own = dual.g, np.diag(dual.Q)

    def multiply(self, Y: Matrix) -> Matrix:
        """Q Y."""
        return self._dual.Q @ Y

    def weigh(self, K: Matrix) -> Matrix:
        """K Q."""
        return K @ self._dual.Q

    def estimate_variances(self, K: Matrix, alpha: float) -> Matrix:
        """Variances of nodes with these kernels."""
        assert self._inverse is not None
        h = self._inverse.sum(axis=0)
        explained = np.einsum("ij,ij->i", K @ self._inverse, K)
        return np.asarray(alpha - explained + (1.0 - K @ h) ** 2 / h.sum())

    def grow(self, cross: Matrix, own: Matrix, alpha: float) -> "DenseSmoother":
        """The smoother with more nodes."""
        if self._inverse is None:
            raise ValueError("a smoother of the mean does not grow")
        return DenseSmoother(grow_dual_inverse(self._inverse, cross, own, alpha))


class FactorSmoother:
    """The smoother of L⁻¹ (N, N), an array of the engine, where H = LLᵀ."""

    def __init__(self, engine: Engine, inverse: Any) -> None:
        self._engine, self._inverse = engine, inverse
        n = inverse.shape[0]
        self._h = self._invert(engine.xp.ones((n, 1)))  # [N, 1]
        h = engine.fetch(self._h)[:, 0]
        self._c = float(h.sum())
        self.g = h / self._c
        self.own = engine.fetch(engine.sum_products(inverse, inverse)) - h * self.g

    def _invert(self, X: Any) -> Any:
        """H⁻¹ X, some rows of L⁻¹ at a time."""
        total = self._engine.xp.zeros_like(X)
        for rows in split_blocks(X.shape[0]):
            some = self._inverse[rows]
            total += some.T @ (some @ X)
        return total

    def multiply(self, Y: Matrix) -> Matrix:
        """Q Y."""
        found = self._engine.fetch(self._invert(self._engine.load(Y, np.float64)))
        return np.asarray(found - np.outer(self.g, found.sum(axis=0)))

    def weigh(self, K: Any) -> Matrix:
        """K Q."""
        weights = self._engine.fetch(self._invert(K.T)).T  # [rows, N]
        return np.asarray(weights - np.outer(self._engine.fetch(K @ self._h)[:, 0], self.g))

    def estimate_variances(self, K: Any, alpha: float) -> Matrix:
        """Variances of nodes with these kernels."""
        explained = np.zeros(K.shape[0])
        for rows in split_blocks(K.shape[1]):
            halves = self._inverse[rows] @ K.T  # [b, rows]
            explained += self._engine.fetch(self._engine.sum_products(halves, halves))
        left = 1.0 - self._engine.fetch(K @ self._h)[:, 0]
        return np.asarray(alpha - explained + left**2 / self._c)

    def grow(self, cross: Any, own: Any, alpha: float) -> "FactorSmoother":
        """The smoother with more nodes: rows are appended to L⁻¹."""
        n, k = self._inverse.shape[0], own.shape[0]
        halves = self._inverse @ cross.T  # [N, k]
        rest = own - halves.T @ halves
        _add_noise(rest, alpha)
        invert_factor(self._engine, rest)
        grown = self._engine.xp.zeros((n + k, n + k))
        grown[:n, :n] = self._inverse
        grown[n:, n:] = rest
        grown[n:, :n] = -(rest @ halves.T) @ self._inverse
        return FactorSmoother(self._engine, grown)


def make_smoother(engine: Engine, K: Any, noise: float | Matrix) -> Smoother:
    """The smoother of a kernel matrix (N, N) of the engine and α, or an α for each node (N,)."""
    if engine.name == "cpu":
        return DenseSmoother(invert_dual(K, noise))
    more = 0.0
    while True:
        H = K.copy()
        _add_noise(H, engine.load(np.full(len(H), noise) + more, np.float64))
        try:
            invert_factor(engine, H)
        except np.linalg.LinAlgError:  # rounding: the penalty is tiny next to the kernel
            if more >= _MOST_MORE:
                raise
            more = max(_FIRST_MORE, 10.0 * more)
        else:
            return FactorSmoother(engine, H)


def _add_noise(H: Any, noise: Any) -> None:
    H.reshape(-1)[:: H.shape[0] + 1] += noise
