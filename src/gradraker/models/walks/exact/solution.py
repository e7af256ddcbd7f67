"""Kernel ridge on exact kernels, by an inverse of the kernel matrix of the known nodes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import Engine
from gradraker.features.parallel import split_range
from gradraker.linear.ridge import build_mean_smoother
from gradraker.models.walks.attributes.coefficients import (
    AttributeCoefficients,
    compute_coefficients,
)
from gradraker.models.walks.choice import Choice
from gradraker.models.walks.description import Walks
from gradraker.models.walks.exact.blocks import ExactBlocks
from gradraker.models.walks.exact.smoothers import DenseSmoother, Smoother, make_smoother
from gradraker.models.walks.intervals import ErrorSizes
from gradraker.models.walks.solution import CHUNK, LeftOutNodes, OnEngine, Parts
from gradraker.models.walks.terms import get_kind

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]


class KernelSolution(OnEngine):
    """Kernel ridge with an unpenalised mean; see :mod:`gradraker.linear.ridge`."""

    def __init__(
        self,
        blocks: ExactBlocks,
        known: Rows,
        Y: Matrix,
        choice: Choice,
        trust: Matrix | None = None,
    ) -> None:
        """``trust`` (N,) are sample weights w: the noise of a value is α/w."""
        self.blocks, self.known, self.choice = blocks, known, choice
        self._trust = trust
        self._set_smoother()
        self.set_values(Y)

    def _get_place(self) -> tuple[Engine, Walks]:
        return self.blocks.engine, self.blocks.walks

    def _set_smoother(self) -> None:
        choice, trust = self.choice, self._trust
        self._smoother: Smoother
        if not choice.kernel:
            self._smoother = DenseSmoother(None, build_mean_smoother(self.known.size, trust))
            return
        K = self.blocks.compute_known_kernel(choice.kernel, self.known)
        noise = choice.alpha if trust is None else choice.alpha / trust
        self._smoother = make_smoother(self.blocks.engine, K, noise)

    def set_values(self, Y: Matrix) -> None:
        """Take the values (N, K) of the known nodes."""
        self.Y = Y
        self.error_sizes: dict[int, tuple[ErrorSizes, Matrix]] = {}
        # Q takes any centre to 0; values that are far from 0 would lose their digits there.
        self._centre = Y.mean(axis=0)
        centred = Y - self._centre
        self._intercept = self._centre + self._smoother.g @ centred
        self._coefficients = self._smoother.multiply(centred)
        own, nan = self._smoother.own[:, np.newaxis], np.full(Y.shape, np.nan)  # NaN for N = 1
        self._residuals = np.divide(self._coefficients, own, out=nan, where=own > 0.0)
        self._loaded = self.blocks.engine.load(self._coefficients, np.float64)

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""
        old, self.known = self.known, np.concatenate([self.known, new])
        if self.choice.kernel:
            cross = self.blocks.compute_kernel(self.choice.kernel, new, old)
            own = self.blocks.compute_kernel(self.choice.kernel, new, new)
            self._smoother = self._smoother.grow(cross, own, self.choice.alpha)
        else:
            self._set_smoother()
        self.set_values(Y)

    def predict(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""
        found = np.tile(self._intercept, (rows.size, 1))
        for some, K in self._list_kernels(rows, at):
            found[some] += self.blocks.engine.fetch(K @ self._loaded)
        return found

    def estimate_spreads(self, rows: Rows, at: Any = None) -> Matrix:
        """Standard deviations of the Gaussian process of the kernel, (n,).

        The variance is κ + α − kᵀH⁻¹k + (1 − hᵀk)²/c, with h = H⁻¹1 and c = 1ᵀh; κ, a node's
        kernel with itself, is 1 but for linear terms.
        """
        if not self.choice.kernel:
            return np.ones(rows.size)
        blocks = self.blocks if at is None else at
        found = blocks.compute_diagonal(self.choice.kernel, rows)
        for some, K in self._list_kernels(rows, at):
            found[some] += self._smoother.estimate_variances(K, self.choice.alpha)
        return np.sqrt(np.maximum(found, self.choice.alpha))

    def predict_parts(self, rows: Rows) -> Parts:
        """What each kind of similarity adds to the mean of the known values.

        The intercept's distance from that mean is a part of its own.
        """
        kinds = tuple(dict.fromkeys(get_kind(term.block) for term in self.choice.kernel))
        values = np.zeros((rows.size, len(kinds) + 1, self.Y.shape[1]))
        for number, kind in enumerate(kinds):
            terms = tuple(t for t in self.choice.kernel if get_kind(t.block) == kind)
            for some in split_range(rows.size, CHUNK):
                K = self.blocks.compute_kernel(terms, rows[some], self.known)
                values[some, number] = self.blocks.engine.fetch(K @ self._loaded)
        values[:, -1] = self._intercept - self._centre
        return Parts((*kinds, "intercept"), values)

    def compute_coefficients(self) -> AttributeCoefficients:
        """Coefficients of linear terms of attributes."""
        attributes = self.blocks.attributes
        return compute_coefficients(attributes, self.choice.kernel, self.known, self._coefficients)

    def compute_weights(self, rows: Rows) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""
        found = np.tile(self._smoother.g, (rows.size, 1))
        for some, K in self._list_kernels(rows, None):
            found[some] += self._smoother.weigh(K)
        return found

    def compute_left_out_weights(self, positions: Rows) -> Matrix:
        """A node's left-out weights are those of its prediction, without its own, over the rest."""
        weights = self.compute_weights(self.known[positions])  # [n, N]
        at = np.arange(positions.size), positions
        weights /= (1.0 - weights[at])[:, np.newaxis]
        weights[at] = 0.0
        return weights

    def predict_left_out(self) -> LeftOutNodes:
        """Predict all known nodes without their own values, in closed form."""
        own = self._smoother.own
        spreads = np.sqrt(np.divide(1.0, own, out=np.ones_like(own), where=own > 0.0))
        if not self.choice.kernel:
            spreads = np.ones_like(own)
        return LeftOutNodes(np.arange(self.known.size), self.Y - self._residuals, spreads, True)

    def _list_kernels(self, rows: Rows, at: Any) -> Iterator[tuple[slice, Any]]:
        if not self.choice.kernel:
            return
        blocks = self.blocks if at is None else at
        for some in split_range(rows.size, CHUNK):
            yield some, blocks.compute_kernel(self.choice.kernel, rows[some], self.known)
