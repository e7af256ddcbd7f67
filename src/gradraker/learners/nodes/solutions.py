"""Fitted smoothers: predictions, weights and leave-one-out residuals of parts and their mean.

A solution stands on the known nodes and, through a few numbers, on their values: new values
of the same nodes cost one product. All predictions are Σ w_i y_i with Σ w_i = 1.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.learners.nodes.blocks import (
    ExactBlocks,
    RandomBlocks,
    kernel_of_distances,
)
from gradraker.learners.nodes.choice import Choice, Part
from gradraker.learners.ridge import (
    Dual,
    add_moments,
    dual_inverse,
    dual_smoother,
    grown_dual_inverse,
    grown_primal_inverse,
    mean_smoother,
    no_moments,
    primal_inverse,
    primal_leverages,
    with_one,
)

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Rows whose kernel or features are held at once.
CHUNK = 512
# Known nodes whose leave-one-out residuals make intervals and error estimates, for primal ridge.
MOST_LEFT_OUT = 2000


class Solution(Protocol):
    """What every solver hands out. ``at`` are blocks that hold the asked rows."""

    known: Rows
    left_out_rows: Rows  # positions in known of the nodes of ``residuals``
    residuals: Matrix  # [left out, K]

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, ŷ(x) − ŷ_{−i}(x)), the latter of shape (rows, left out), first target."""


def chunks(n: int) -> Iterator[slice]:
    """Slices of at most CHUNK that make up [0, n)."""
    for start in range(0, n, CHUNK):
        yield slice(start, min(start + CHUNK, n))


class KernelSolution:
    """Kernel ridge on exact kernels."""

    def __init__(self, blocks: ExactBlocks, known: Rows, Y: Matrix, choice: Choice) -> None:
        self.blocks, self.known, self.parts = blocks, known, choice.parts
        distances = self._distances(known, known, blocks)
        self._inverses = [
            None if not part.kernel else _inverse(distances, part) for part in self.parts
        ]
        self.set_values(Y)

    def set_values(self, Y: Matrix) -> None:
        """Take the values (N, K) of the known nodes."""
        self.Y = Y
        self._smoothers = [
            mean_smoother(len(Y)) if inverse is None else dual_smoother(inverse)
            for inverse in self._inverses
        ]
        self._coefficients = [smoother.Q @ Y for smoother in self._smoothers]
        self._left_out = [smoother.left_out(Y) for smoother in self._smoothers]
        self.left_out_rows = np.arange(len(Y))
        self.residuals = sum(
            part.weight * errors for part, errors in zip(self.parts, self._left_out, strict=True)
        )

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        cross = self._distances(new, self.known, self.blocks)
        own = self._distances(new, new, self.blocks)
        self._inverses = [
            None
            if inverse is None
            else grown_dual_inverse(
                inverse,
                kernel_of_distances(cross, part.kernel),
                kernel_of_distances(own, part.kernel),
                part.alpha,
            )
            for inverse, part in zip(self._inverses, self.parts, strict=True)
        ]
        self.known = np.concatenate([self.known, new])
        self.set_values(Y)

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        found = np.zeros((rows.size, self.Y.shape[1]))
        for some, kernels in self._kernels(rows, at):
            for part, K, smoother, coefficients in zip(
                self.parts, kernels, self._smoothers, self._coefficients, strict=True
            ):
                found[some] += part.weight * (smoother.g @ self.Y)
                if K is not None:
                    found[some] += part.weight * (K @ coefficients)
        return found

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        found = np.zeros((rows.size, self.known.size))
        for some, kernels in self._kernels(rows, at):
            for part, K, smoother in zip(self.parts, kernels, self._smoothers, strict=True):
                found[some] += part.weight * _weights(K, smoother)
        return found

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, ŷ(x) − ŷ_{−i}(x)) = s_i(x) e_i / (1 − S_ii), summed over parts."""
        for some, kernels in self._kernels(rows, at):
            shift = np.zeros((some.stop - some.start, self.known.size))
            for part, K, smoother, errors in zip(
                self.parts, kernels, self._smoothers, self._left_out, strict=True
            ):
                shift += part.weight * _weights(K, smoother) * errors[:, 0]
            yield some, shift

    def _kernels(self, rows: Rows, at: Any) -> Iterator[tuple[slice, list[Matrix | None]]]:
        blocks = self.blocks if at is None else at
        for some in chunks(rows.size):
            distances = self._distances(rows[some], self.known, blocks)
            yield (
                some,
                [
                    kernel_of_distances(distances, part.kernel) if part.kernel else None
                    for part in self.parts
                ],
            )

    def _distances(self, first: Rows, second: Rows, blocks: ExactBlocks) -> dict[str, Matrix]:
        names = {block for part in self.parts for block in part.blocks}
        return {block: blocks.distances(block, first, second) for block in sorted(names)}


def _inverse(distances: dict[str, Matrix], part: Part) -> Matrix:
    return dual_inverse(kernel_of_distances(distances, part.kernel), part.alpha)


def _weights(K: Matrix | None, smoother: Dual) -> Matrix:
    return smoother.g if K is None else K @ smoother.Q + smoother.g


class RidgeSolution:
    """Ridge on random features."""

    def __init__(self, blocks: RandomBlocks, known: Rows, Y: Matrix, choice: Choice) -> None:
        self.blocks, self.known, self.parts = blocks, known, choice.parts
        self._inverses: list[Matrix] = []
        self._products: list[Matrix] = []
        for part in self.parts:
            n_features = 2 * blocks.n_frequencies * len(part.kernel)
            moments = no_moments(n_features, Y.shape[1])
            for some in chunks(known.size):
                add_moments(moments, self._features(part, known[some], blocks), Y[some])
            self._inverses.append(primal_inverse(moments.gram, part.alpha))
            self._products.append(moments.products)
        self.Y = Y
        self._solve()

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""
        changed = np.flatnonzero(np.any(Y != self.Y, axis=1))
        for part, products in zip(self.parts, self._products, strict=True):
            for some in chunks(changed.size):
                at = changed[some]
                products += self._features(part, self.known[at], self.blocks).T @ (
                    Y[at] - self.Y[at]
                )
        self.Y = Y
        self._solve()

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        n_old = self.known.size
        self.set_values(Y[:n_old])
        for i, part in enumerate(self.parts):
            for some in chunks(new.size):
                Z1 = self._features(part, new[some], self.blocks)
                self._inverses[i] = grown_primal_inverse(self._inverses[i], Z1)
                self._products[i] += Z1.T @ Y[n_old:][some]
        self.known, self.Y = np.concatenate([self.known, new]), Y
        self._solve()

    def _solve(self) -> None:
        self._theta = [
            inverse @ products
            for inverse, products in zip(self._inverses, self._products, strict=True)
        ]
        # The same nodes whatever the order in which they came.
        rank = np.empty(self.blocks.walks.n, dtype=np.int64)
        rank[self.blocks.walks.order] = np.arange(self.blocks.walks.n)
        self.left_out_rows = np.argsort(rank[self.known])[:MOST_LEFT_OUT]
        rows = self.left_out_rows
        self._left_out = []
        for part, inverse, theta in zip(self.parts, self._inverses, self._theta, strict=True):
            errors = np.full((rows.size, self.Y.shape[1]), np.nan)  # NaN for N = 1
            for some in chunks(rows.size):
                Z1 = self._features(part, self.known[rows[some]], self.blocks)
                rest = 1.0 - primal_leverages(inverse, Z1)[:, np.newaxis]
                np.divide(
                    self.Y[rows[some]] - Z1 @ theta, rest, out=errors[some], where=rest > 0.0
                )
            self._left_out.append(errors)
        self.residuals = sum(
            part.weight * errors for part, errors in zip(self.parts, self._left_out, strict=True)
        )

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        blocks = self.blocks if at is None else at
        found = np.zeros((rows.size, self.Y.shape[1]))
        for some in chunks(rows.size):
            for part, theta in zip(self.parts, self._theta, strict=True):
                found[some] += part.weight * (self._features(part, rows[some], blocks) @ theta)
        return found

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        found = np.empty((rows.size, self.known.size))
        for some, part_weights in self._part_weights(rows, np.arange(self.known.size), at):
            found[some] = sum(
                part.weight * weights
                for part, weights in zip(self.parts, part_weights, strict=True)
            )
        return found

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, ŷ(x) − ŷ_{−i}(x)) = s_i(x) e_i / (1 − S_ii), summed over parts."""
        for some, part_weights in self._part_weights(rows, self.left_out_rows, at):
            yield (
                some,
                sum(
                    part.weight * weights * errors[:, 0]
                    for part, weights, errors in zip(
                        self.parts, part_weights, self._left_out, strict=True
                    )
                ),
            )

    def _part_weights(
        self, rows: Rows, of: Rows, at: Any
    ) -> Iterator[tuple[slice, list[Matrix]]]:
        blocks = self.blocks if at is None else at
        for some in chunks(rows.size):
            found = []
            for part, inverse in zip(self.parts, self._inverses, strict=True):
                left = self._features(part, rows[some], blocks) @ inverse  # [rows, F + 1]
                weights = np.empty((left.shape[0], of.size))
                for others in chunks(of.size):
                    Z1 = self._features(part, self.known[of[others]], self.blocks)
                    weights[:, others] = left @ Z1.T
                found.append(weights)
            yield some, found

    def _features(self, part: Part, rows: Rows, blocks: RandomBlocks) -> Matrix:
        if not part.kernel:
            return np.ones((rows.size, 1))
        return with_one(blocks.features(part.kernel, rows))
