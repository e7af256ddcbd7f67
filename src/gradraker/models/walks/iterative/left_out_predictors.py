"""Predictions of known nodes without their own values: what a choice among kernels stands on."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import CpuEngine, use_one_blas_thread
from gradraker.linear.ridge import invert_dual
from gradraker.models.walks.choice import Kernel
from gradraker.models.walks.operators.operators import Operators
from gradraker.models.walks.operators.ridge import (
    Group,
    InversePreconditioner,
    Preconditioner,
    make_preconditioner,
    solve_ridge,
)

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Relative residual of solves that only compare kernels, and their most products.
_LOOSE, _MOST_PRODUCTS = 2e-2, 40
_PARTS = 5
# Penalties up to which an inverse for each takes less time than a decomposition for all.
_FEW_PENALTIES = 4
# Held-out nodes that are enough to compare kernels.
_ENOUGH = 1000


class Assessment(NamedTuple):
    """Known nodes predicted without their own values: what a choice stands on."""

    positions: Rows  # [m], in the known nodes
    predictions: Matrix  # [m, K]
    one_at_a_time: bool


class KnownKernels:
    """Dense kernels of operators between some known nodes, each of them computed once."""

    engine = CpuEngine()  # that the matrices are on

    def __init__(self, operators: Operators, known: Rows) -> None:
        self._operators, self._known = operators, known
        self._places = np.full(operators.n, -1)
        self._places[known] = np.arange(known.size)
        self._matrices: dict[tuple[str, float | None], NDArray[Any]] = {}

    def compute_kernel(self, kernel: Kernel, first: Rows, second: Rows) -> Matrix:
        """The kernel between some of the nodes, (first, second)."""
        self.add_terms(kernel)
        total = np.zeros((first.size, second.size))
        places = np.ix_(self._places[first], self._places[second])
        for term in kernel:
            total += term.share * self._matrices[term.block, term.width][places]
        return total

    def add_terms(self, kernel: Kernel) -> None:
        """Compute the matrices of these terms, walks of all lengths together."""
        missing = [term for term in kernel if (term.block, term.width) not in self._matrices]
        found = self._operators.compute_rows_of_terms(self._known, missing, self._known)
        for term, matrix in zip(missing, found, strict=True):
            self._matrices[term.block, term.width] = 0.5 * (matrix + matrix.T)


class LeftOutPredictor(Protocol):
    """Predicts known nodes without their own values."""

    positions: Rows  # of these nodes in the known ones
    one_at_a_time: bool
    kernels: KnownKernels | None  # between all known nodes, if there are few

    def make_preconditioner(self, kernel: Kernel, alpha: float) -> Preconditioner:
        """What helps to solve for all known nodes."""

    def predict(self, kernel: Kernel, alphas: Sequence[float]) -> list[Matrix]:
        """Predictions (m, K) for each penalty."""


def average_rows(Y: Matrix, trust: Matrix | None) -> Matrix:
    """Mean of values (N, K), by sample weights (N,) if there are any."""
    return np.asarray(Y.mean(axis=0) if trust is None else trust @ Y / trust.sum())


def make_noise(operators: Operators, known: Rows, trust: Matrix | None) -> Any:
    """Noise of all nodes, (n, 1): 1 / sample weight of the known ones; None if all are equal."""
    if trust is None:
        return None
    noise = np.ones((operators.n, 1))
    noise[known, 0] = 1.0 / trust
    return operators.engine.load(noise, operators.dtype)


class LeaveOneOut:
    """Each known node without itself, in closed form, from dense kernels between known nodes.

    With H = K + αI, q = H⁻¹(y − ȳ) and h = H⁻¹1, the prediction of node i without its value is
    y_i − q_i/H⁻¹_ii + (ȳ₋ᵢ − ȳ) h_i/H⁻¹_ii, where ȳ₋ᵢ is the mean of the others.
    """

    one_at_a_time = True

    def __init__(
        self,
        operators: Operators,
        known: Rows,
        Y: Matrix,
        trust: Matrix | None = None,
        kernels: KnownKernels | None = None,
    ) -> None:
        self._operators, self._known, self._Y = operators, known, Y
        self._trust = np.ones(known.size) if trust is None else trust
        self._kernels = KnownKernels(operators, known) if kernels is None else kernels
        self.kernels: KnownKernels | None = self._kernels
        self.positions = np.arange(known.size)

    def predict(self, kernel: Kernel, alphas: Sequence[float]) -> list[Matrix]:
        """Predictions (N, K) for each penalty."""
        trust = self._trust
        K = self._kernels.compute_kernel(kernel, self._known, self._known)
        mean = average_rows(self._Y, trust)
        rest = (trust / (trust.sum() - trust))[:, np.newaxis]
        shift = (mean - self._Y) * rest  # [N, K]: mean of the others − mean
        right = np.column_stack([np.ones(len(K)), self._Y - mean])  # [N, 1 + K]
        found = []
        for solved, own in _solve_dual(K, trust, right, alphas):
            found.append(self._Y + (shift * solved[:, :1] - solved[:, 1:]) / own[:, np.newaxis])
        return found

    def make_preconditioner(self, kernel: Kernel, alpha: float) -> Preconditioner:
        """The inverse itself."""
        inverse = invert_dual(
            self._kernels.compute_kernel(kernel, self._known, self._known), alpha / self._trust
        )
        return InversePreconditioner(self._operators, self._known, inverse, alpha)


def _solve_dual(
    K: Matrix, trust: Matrix, right: Matrix, alphas: Sequence[float]
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield H⁻¹R and the diagonal of H⁻¹ for H = K + α/w of each penalty α."""
    if len(alphas) <= _FEW_PENALTIES:
        for alpha in alphas:
            inverse = invert_dual(K, alpha / trust)
            yield inverse @ right, np.diag(inverse)
        return
    roots = np.sqrt(trust)[:, np.newaxis]
    with use_one_blas_thread(len(K)):
        values, U = np.linalg.eigh(K * roots * roots.T)
        values, R = np.maximum(values, 0.0), U.T @ (roots * right)
        for alpha in alphas:
            inverse = 1.0 / (values + alpha)
            yield roots * (U @ (inverse[:, np.newaxis] * R)), trust * ((U * U) @ inverse)


class HeldOut:
    """Parts of the known nodes, each predicted from the others, by products."""

    one_at_a_time = False
    kernels: KnownKernels | None = None

    def __init__(
        self, operators: Operators, known: Rows, Y: Matrix, trust: Matrix | None = None
    ) -> None:
        self._operators, self._known, self._Y = operators, known, Y
        self._trust = trust
        order = np.argsort(operators.walks.rank[known])
        size = -(-known.size // _PARTS)
        n_parts = min(_PARTS, -(-_ENOUGH // size))
        self._parts = [order[i * size : (i + 1) * size] for i in range(n_parts)]
        self.positions = np.concatenate(self._parts)
        self._preconditioner = make_preconditioner(operators, known)

    def make_preconditioner(self, kernel: Kernel, alpha: float) -> Preconditioner:
        """The same for all kernels and penalties."""
        return self._preconditioner

    def predict(self, kernel: Kernel, alphas: Sequence[float]) -> list[Matrix]:
        """Predictions (m, K) for each penalty."""
        engine, dtype, K = self._operators.engine, self._operators.dtype, self._Y.shape[1]
        width = K * len(alphas)
        R = np.zeros((self._operators.n, width * len(self._parts)), dtype=dtype)
        groups, means = [], []
        for columns, rest in self._list_columns(width):
            mean = average_rows(self._Y[rest], None if self._trust is None else self._trust[rest])
            means.append(mean)
            R[self._known[rest], columns] = np.tile(self._Y[rest] - mean, len(alphas))
            mask = np.zeros((self._operators.n, 1), dtype=dtype)
            mask[self._known[rest]] = 1.0
            groups.append(Group(columns, engine.load(mask, dtype)))
        solved = solve_ridge(
            self._operators,
            self._preconditioner,
            kernel,
            engine.load(R, dtype),
            groups,
            np.tile(np.repeat(alphas, K), len(self._parts)),
            tol=_LOOSE,
            max_iterations=_MOST_PRODUCTS,
            noise=make_noise(self._operators, self._known, self._trust),
        )
        F = engine.fetch(solved.products)
        found = np.empty((len(alphas), self.positions.size, K))
        start = 0
        for part, mean, (columns, _) in zip(self._parts, means, groups, strict=True):
            own = F[self._known[part], columns].reshape(part.size, len(alphas), K)
            found[:, start : start + part.size] = own.transpose(1, 0, 2) + mean
            start += part.size
        return list(found)

    def _list_columns(self, width: int) -> Iterator[tuple[slice, Rows]]:
        """Yield the columns of each part and the positions of the other known nodes."""
        for number, part in enumerate(self._parts):
            rest = np.ones(self._known.size, dtype=np.bool_)
            rest[part] = False
            yield slice(number * width, (number + 1) * width), np.flatnonzero(rest)
