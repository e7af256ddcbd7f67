"""What every solver hands out, and the exact solver: kernel ridge on the known nodes.

A solution stands on the known nodes and, through few numbers, on their values: new values of the
same nodes cost little. All predictions are Σ w_i y_i with Σ w_i = 1.

Q and g of :mod:`gradraker.linear.ridge` have two forms. On the CPU the inverse H⁻¹ of H = K + αI is
formed. On a GPU the inverse of its Cholesky factor is enough: half the work, and one matrix of the
known nodes instead of three.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import Engine, report_memory, split_range
from gradraker.features.walks import Walks
from gradraker.linear.factors import invert_factor, split_blocks
from gradraker.linear.ridge import (
    Dual,
    build_dual_smoother,
    build_mean_smoother,
    grow_dual_inverse,
    invert_dual,
)
from gradraker.models.walks.attributes.coefficients import (
    AttributeCoefficients,
    compute_coefficients,
)
from gradraker.models.walks.choice import Choice, get_kind
from gradraker.models.walks.exact.blocks import CHUNK, ExactBlocks
from gradraker.models.walks.intervals import ErrorSizes

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# What is added to the diagonal, over its mean, until rounding no longer makes H indefinite.
_FIRST_MORE, _MOST_MORE = 1e-14, 1e-6


class LeftOutNodes(NamedTuple):
    """Known nodes that were predicted without their own values."""

    positions: Rows  # [m], in the known nodes
    predictions: Matrix  # [m, K]
    spreads: Matrix  # [m]: sizes that their errors are expected to have, up to a common factor
    one_at_a_time: bool


class Parts(NamedTuple):
    """Predictions as sums over kinds of similarity, beside the mean."""

    names: tuple[str, ...]
    values: Matrix  # [n, kinds, K]


class Solution(Protocol):
    """A fitted model of the known nodes. ``at`` describes new nodes, which rows then number."""

    known: Rows
    Y: Matrix  # [N, K]
    error_sizes: dict[int, tuple[ErrorSizes, Matrix]]  # by target, of the present values

    def set_values(self, Y: Matrix) -> None:
        """Take other values (N, K) of the known nodes."""

    def grow(self, new: Rows, Y: Matrix) -> None:
        """Learn more nodes of the same graph; Y are the values of all, old ones first."""

    def predict(self, rows: Rows, at: Any = None) -> Matrix:
        """Predictions of some rows, (n, K)."""

    def estimate_spreads(self, rows: Rows, at: Any = None) -> Matrix:
        """Sizes that errors are expected to have, up to a common factor, (n,)."""

    def predict_parts(self, rows: Rows) -> Parts:
        """What each kind of similarity adds to the mean of the known values."""

    def compute_coefficients(self) -> AttributeCoefficients:
        """Coefficients of linear terms of attributes."""

    def compute_weights(self, rows: Rows) -> Matrix:
        """Weights of the known values in predictions, (n, N)."""

    def compute_left_out_weights(self, positions: Rows) -> Matrix:
        """Weights in the predictions of known nodes without their own values, (n, N)."""

    def predict_left_out(self) -> LeftOutNodes:
        """Predict known nodes without their own values."""


class OnEngine:
    """Base of solutions: too little memory of an engine is an error of ours, with the sizes."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, member in list(vars(cls).items()):
            if isinstance(member, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _report_memory(member))

    def _get_place(self) -> tuple[Engine, Walks]:
        """The engine, and the walks that it works on."""
        raise NotImplementedError


def _report_memory(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(solution: OnEngine, /, *args: Any, **kwargs: Any) -> Any:
        engine, walks = solution._get_place()
        with report_memory(engine, walks.n, walks.matrices.A.nnz):
            return method(solution, *args, **kwargs)

    return call


# -- the exact solver ------------------------------------------------------------------------------


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


# -- smoothers -------------------------------------------------------------------------------------


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
