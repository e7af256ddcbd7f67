"""Fitted smoothers: predictions, weights and leave-one-out residuals.

A solution stands on the known nodes and, through few numbers, on their values: new values of
the same nodes cost one product. All predictions are Σ w_i y_i with Σ w_i = 1.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.linear.ridge import (
    append_ones,
    build_dual_smoother,
    build_mean_smoother,
    compute_primal_leverages,
    grow_dual_inverse,
    grow_primal_inverse,
    invert_dual,
    invert_primal,
)
from gradraker.models.walks.blocks import ExactBlocks, RandomBlocks, kernel_of_distances
from gradraker.models.walks.choice import Choice

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Rows whose kernel or features are held at once.
CHUNK = 512
# Known nodes whose leave-one-out residuals make intervals and error estimates, for primal ridge.
MOST_LEFT_OUT = 2000


class Solution(Protocol):
    """What every solver hands out. ``at`` are blocks that hold the asked rows."""

    blocks: Any
    known: Rows
    Y: Matrix  # [N, K]
    left_out_rows: Rows  # positions in known of the nodes of ``residuals``
    residuals: Matrix  # [left out, K]: y_i − ŷ_{−i}(x_i)

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""

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
    """Kernel ridge on exact kernels, or on products of features where these are many."""

    def __init__(
        self, blocks: ExactBlocks | RandomBlocks, known: Rows, Y: Matrix, choice: Choice
    ) -> None:
        self.blocks, self.known, self.choice = blocks, known, choice
        self._inverse: Matrix | None = None
        if choice.kernel:
            self._inverse = invert_dual(self._kernel(known, known, blocks), choice.alpha)
        self._set_smoother()
        self.set_values(Y)

    def _set_smoother(self) -> None:
        inverse, n = self._inverse, self.known.size
        self._smoother = build_mean_smoother(n) if inverse is None else build_dual_smoother(inverse)
        self.left_out_rows = np.arange(n)

    def set_values(self, Y: Matrix) -> None:
        """Take the values (N, K) of the known nodes."""
        self.Y = Y
        # Q takes any centre to 0; values that are far from 0 would lose their digits there.
        centre = Y.mean(axis=0)
        centred = Y - centre
        self._intercept = centre + self._smoother.g @ centred
        self._coefficients = self._smoother.Q @ centred
        self.residuals = self._smoother.compute_left_out_residuals(centred)

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        if self._inverse is not None:
            cross = self._kernel(new, self.known, self.blocks)
            own = self._kernel(new, new, self.blocks)
            self._inverse = grow_dual_inverse(self._inverse, cross, own, self.choice.alpha)
        self.known = np.concatenate([self.known, new])
        self._set_smoother()
        self.set_values(Y)

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        found = np.tile(self._intercept, (rows.size, 1))
        if self._inverse is not None:
            for some, K in self._kernels(rows, at):
                found[some] += K @ self._coefficients
        return found

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        found = np.tile(self._smoother.g, (rows.size, 1))
        if self._inverse is not None:
            for some, K in self._kernels(rows, at):
                found[some] += K @ self._smoother.Q
        return found

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, ŷ(x) − ŷ_{−i}(x)) = s_i(x) e_i / (1 − S_ii)."""
        for some in chunks(rows.size):
            yield some, self.weights(rows[some], at) * self.residuals[:, 0]

    def _kernels(self, rows: Rows, at: Any) -> Iterator[tuple[slice, Matrix]]:
        blocks = self.blocks if at is None else at
        for some in chunks(rows.size):
            yield some, self._kernel(rows[some], self.known, blocks)

    def _kernel(self, first: Rows, second: Rows, blocks: ExactBlocks | RandomBlocks) -> Matrix:
        if isinstance(blocks, RandomBlocks):
            # New nodes are in blocks of their own, known ones in those of the model.
            assert isinstance(self.blocks, RandomBlocks)
            Z = blocks.features(self.choice.kernel, first)
            return np.asarray(Z @ self.blocks.features(self.choice.kernel, second).T)
        names = self.choice.blocks
        distances = {block: blocks.distances(block, first, second) for block in names}
        return kernel_of_distances(distances, self.choice.kernel)


class RidgeSolution:
    """Ridge on random features."""

    def __init__(self, blocks: RandomBlocks, known: Rows, Y: Matrix, choice: Choice) -> None:
        self.blocks, self.known, self.choice = blocks, known, choice
        self._centre = Y.mean(axis=0)  # values that are far from 0 would lose digits
        gram, self._products = moments(blocks, known, Y - self._centre, choice)
        self._inverse = invert_primal(gram, choice.alpha)
        self.Y = Y
        self._solve()

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""
        self._exchange(Y)
        self._solve()

    def _exchange(self, Y: Matrix) -> None:
        changed = np.flatnonzero(np.any(Y != self.Y, axis=1))
        for some in chunks(changed.size):
            at = changed[some]
            self._products += self._features(self.known[at]).T @ (Y[at] - self.Y[at])
        self.Y = Y

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        n_old = self.known.size
        self._exchange(Y[:n_old])
        for some in chunks(new.size):
            Z1 = self._features(new[some])
            self._inverse = grow_primal_inverse(self._inverse, Z1)
            self._products += Z1.T @ (Y[n_old:][some] - self._centre)
        self.known, self.Y = np.concatenate([self.known, new]), Y
        self._solve()

    def _solve(self) -> None:
        self._theta = self._inverse @ self._products
        self.left_out_rows = some_of(self.blocks, self.known)
        rows = self.known[self.left_out_rows]
        errors = np.full((rows.size, self.Y.shape[1]), np.nan)  # NaN for N = 1
        for some in chunks(rows.size):
            Z1 = self._features(rows[some])
            rest = 1.0 - compute_primal_leverages(self._inverse, Z1)[:, np.newaxis]
            residuals = self.Y[self.left_out_rows[some]] - self._centre - Z1 @ self._theta
            np.divide(residuals, rest, out=errors[some], where=rest > 0.0)
        self.residuals = errors

    def predictions(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        found = np.empty((rows.size, self.Y.shape[1]))
        for some in chunks(rows.size):
            found[some] = self._centre + self._features(rows[some], at) @ self._theta
        return found

    def weights(self, rows: Rows, at: Any = None) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        found = np.empty((rows.size, self.known.size))
        for some in chunks(rows.size):
            found[some] = self._weights(rows[some], np.arange(self.known.size), at)
        return found

    def shifts(self, rows: Rows, at: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Yield (rows, ŷ(x) − ŷ_{−i}(x)) = s_i(x) e_i / (1 − S_ii)."""
        for some in chunks(rows.size):
            yield (
                some,
                self._weights(rows[some], self.left_out_rows, at) * self.residuals[:, 0],
            )

    def _weights(self, rows: Rows, of: Rows, at: Any) -> Matrix:
        left = self._features(rows, at) @ self._inverse  # [rows, F + 1]
        weights = np.empty((rows.size, of.size))
        for others in chunks(of.size):
            weights[:, others] = left @ self._features(self.known[of[others]]).T
        return weights

    def _features(self, rows: Rows, at: Any = None) -> Matrix:
        return features_with_one(self.blocks if at is None else at, rows, self.choice)


def moments(blocks: RandomBlocks, known: Rows, Y: Matrix, choice: Choice) -> tuple[Matrix, Matrix]:
    """Σ ž žᵀ (F + 1, F + 1) and Σ ž yᵀ (F + 1, K), from a chunk of features at a time.

    What is made for the choice of a penalty is kept for the solution that follows it.
    """
    kept, blocks.kept_moments = blocks.kept_moments, None
    if kept is not None and kept[0] == choice.kernel and np.array_equal(kept[1], known):
        return kept[2], kept[3]
    size = 1 + 2 * blocks.n_frequencies * len(choice.kernel)
    gram, products = np.zeros((size, size)), np.zeros((size, Y.shape[1]))
    for some in chunks(known.size):
        Z1 = features_with_one(blocks, known[some], choice)
        gram += Z1.T @ Z1
        products += Z1.T @ Y[some]
    return gram, products


def features_with_one(blocks: RandomBlocks, rows: Rows, choice: Choice) -> Matrix:
    """Features ž = [z, 1] of some rows; the mean has no z."""
    if not choice.kernel:
        return np.ones((rows.size, 1))
    return append_ones(blocks.features(choice.kernel, rows))


def some_of(blocks: ExactBlocks | RandomBlocks, known: Rows, most: int = MOST_LEFT_OUT) -> Rows:
    """Positions of at most so many known nodes, the same whatever the order of the nodes."""
    return np.argsort(blocks.walks.rank[known])[:most]
