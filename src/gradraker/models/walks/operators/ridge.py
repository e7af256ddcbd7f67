"""Ridge on a kernel of operators, preconditioned by approximations in low rank."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import use_one_blas_thread
from gradraker.features.walks import draw_vectors
from gradraker.linear.conjugate_gradients import Solved, solve_by_products
from gradraker.linear.ridge import grow_dual_inverse
from gradraker.models.walks.choice import Kernel
from gradraker.models.walks.operators.mixes import Mix
from gradraker.models.walks.operators.operators import Operators, is_low_rank

Rows = NDArray[np.int64]
# Random vectors that the large eigenvalues of walks are found with: fewer for many edges, where
# their products would take longer than they save.
_FEWEST, _MOST, _ENTRIES = 16, 128, 50_000_000
# θ, beside the penalty, in smallest eigenvalues that were found.
_BULK = 0.5
# Nodes by which two masks may differ for the products of one to be made from those of the other.
_FEW_MOVED = 64
_SEED = 0x7072656F


class Group(NamedTuple):
    """Columns of a solve that have the same known nodes."""

    columns: slice
    mask: Any  # [n, 1]


class Preconditioner(Protocol):
    """An approximate inverse, which makes solves take fewer products."""

    def move(self, operators: Operators) -> None:
        """Go on with a graph that has grown."""

    def make(self, kernel: Kernel, groups: Sequence[Group], alphas: Any) -> Callable[[Any], Any]:
        """Return X → M⁻¹ X for columns in groups."""


class PlainPreconditioner:
    """None at all: for a graph on disk, whose products take longer than it would save."""

    def move(self, operators: Operators) -> None:
        """Go on with a graph that has grown."""

    def make(self, kernel: Kernel, groups: Sequence[Group], alphas: Any) -> Callable[[Any], Any]:
        """Return X → X."""
        return lambda X: X


class InversePreconditioner:
    """The inverse of the kernel matrix of the known nodes, which grows with them.

    In a graph that has changed since, it is not exact, and still near.
    """

    def __init__(
        self, operators: Operators, known: Rows, inverse: NDArray[np.float64], alpha: float
    ) -> None:
        self._operators, self._known, self._exact, self._alpha = operators, known, inverse, alpha
        self._rows = operators.engine.load_rows(known)
        self._inverse = operators.engine.load(inverse, operators.dtype)

    def move(self, operators: Operators) -> None:
        """Go on with a graph that has grown: the inverse is about nodes that it had before."""
        self._operators = operators

    def grow(self, kernel: Kernel, known: Rows) -> bool:
        """Take in the known nodes that came last; False if they are too many or others went."""
        new = known[self._known.size :]
        if new.size > _FEW_MOVED or not np.array_equal(known[: self._known.size], self._known):
            return False
        if new.size:
            operators = self._operators
            columns = operators.engine.fetch(operators.multiply(operators.make_units(new), kernel))
            rows = np.asarray(columns[known].T, dtype=np.float64)
            cross, own = np.hsplit(rows, [self._known.size])
            own = 0.5 * (own + own.T)
            self._exact = grow_dual_inverse(self._exact, cross, own, self._alpha, is_exact=False)
            self._inverse = self._operators.engine.load(self._exact, self._operators.dtype)
            self._known, self._rows = known, self._operators.engine.load_rows(known)
        return True

    def make(self, kernel: Kernel, groups: Sequence[Group], alphas: Any) -> Callable[[Any], Any]:
        """Return X → H⁻¹ X for the nodes of the inverse, X / (1 + α) for others."""

        def precondition(X: Any) -> Any:
            result = X / (alphas + alphas.dtype.type(1.0))
            result[self._rows] = self._inverse @ X[self._rows]
            return result

        return precondition


class ThinPreconditioner:
    """An approximation of kernels by thin matrices, which makes solves take fewer products.

    Walks have a few large eigenvalues and many small ones. The large ones come from random vectors
    (Nyström, after one product to turn them the right way), once for all mixes of walks.
    """

    def __init__(self, operators: Operators, known: Rows) -> None:
        self._operators = operators
        mask = np.zeros((operators.n, 1))
        mask[known] = 1.0
        affordable = _ENTRIES // max(1, operators.walks.matrices.A.nnz)
        rank = min(max(_FEWEST, min(_MOST, affordable)), known.size)
        rank = min(rank, operators.engine.count_columns(operators.n, operators.dtype, 8))
        xp, kernel = operators.engine.xp, Mix().to_kernel()
        loaded = operators.engine.load(mask, operators.dtype)
        start = draw_vectors(operators.walks.identities, rank, _SEED)
        turned = operators.multiply(operators.engine.load(start, operators.dtype) * loaded, kernel)
        Q, _ = xp.linalg.qr(turned * loaded)
        products = operators.multiply(xp.ascontiguousarray(Q), kernel)  # [n, rank]
        inner = Q.T @ products
        values, vectors = xp.linalg.eigh(0.5 * (inner + inner.T))
        kept = values > 1e-4 * values[-1]
        self._B = products @ (vectors[:, kept] / xp.sqrt(values[kept]))
        self._bulk = float(values[kept][0])
        self._last: tuple[Kernel, Any, Any] | None = None

    def move(self, operators: Operators) -> None:
        """Go on with a graph that has grown: new nodes are not in the approximation."""
        xp = operators.engine.xp
        n_new = operators.n - self._B.shape[0]
        self._B = xp.vstack([self._B, xp.zeros((n_new, self._B.shape[1]), dtype=self._B.dtype)])
        self._operators, self._last = operators, None

    def _compute_gram(self, kernel: Kernel, U: Any, mask: Any) -> Any:
        """UᵀU over the nodes of a mask; from the last one, where few nodes differ."""
        if self._last is not None and self._last[0] == kernel and len(self._last[1]) == len(mask):
            _, old, gram = self._last
            moved = self._operators.engine.xp.flatnonzero((mask != old)[:, 0])
            if moved.size <= _FEW_MOVED:
                rows = U[moved]
                gram = gram + (rows * (mask - old)[moved]).T @ rows
                self._last = kernel, mask, gram
                return gram
        rows = U[self._operators.engine.xp.flatnonzero(mask)]
        gram = rows.T @ rows
        self._last = kernel, mask, gram
        return gram

    def make(self, kernel: Kernel, groups: Sequence[Group], alphas: Any) -> Callable[[Any], Any]:
        """Return X → (UUᵀ + θI)⁻¹ X, where UUᵀ stands for large eigenvalues and θ for the rest."""
        operators = self._operators
        xp, dtype = operators.engine.xp, operators.dtype
        thin = [term for term in kernel if is_low_rank(term.block)]
        rest = max(0.0, 1.0 - sum(term.share for term in thin))
        parts = [dtype(term.share**0.5) * operators.get_features(term) for term in thin]
        U = xp.hstack([dtype(rest**0.5) * self._B, *parts])
        theta = alphas + dtype(_BULK * rest * self._bulk)
        decompositions = [xp.linalg.eigh(self._compute_gram(kernel, U, g.mask)) for g in groups]
        # Unknown nodes have no part in it.
        rows = xp.flatnonzero(sum(mask[:, 0] for _, mask in groups))
        U, masks = U[rows], [mask[rows] for _, mask in groups]

        def precondition(X: Any) -> Any:
            known = X[rows]
            inner = U.T @ known  # [r, columns]
            for (values, Q), (columns, _) in zip(decompositions, groups, strict=True):
                scale = xp.maximum(values, 0.0)[:, None] + theta[columns]
                inner[:, columns] = Q @ ((Q.T @ inner[:, columns]) / scale)
            thin = U @ inner
            for (columns, _), mask in zip(groups, masks, strict=True):
                thin[:, columns] *= mask
            result = xp.zeros_like(X)
            result[rows] = (known - thin) / theta
            return result

        return precondition


def make_preconditioner(operators: Operators, known: Rows) -> Preconditioner:
    """Make the preconditioner of kernels on a graph: none where it is on disk."""
    if operators.walks.matrices.folder is not None:
        return PlainPreconditioner()
    return ThinPreconditioner(operators, known)


def solve_ridge(
    operators: Operators,
    preconditioner: Preconditioner,
    kernel: Kernel,
    R: Any,
    groups: Sequence[Group],
    alphas: Any,
    *,
    tol: float,
    max_iterations: int = 200,
    floor: Any = 0.0,
    noise: Any = None,
) -> Solved:
    """Solve (K_kk + αI) c = r; see :func:`gradraker.linear.conjugate_gradients.solve_by_products`.

    Columns of ``R`` (n, columns) are in groups that have a mask each. With ``noise`` (n, 1), the
    penalty of a node is α times its noise; the preconditioner takes α as it is.
    """
    xp = operators.engine.xp
    mask = groups[0].mask
    if len(groups) > 1:
        mask = xp.empty_like(R)
        for columns, own in groups:
            mask[:, columns] = own
    alphas = operators.engine.load(np.asarray(alphas), operators.dtype)
    # Threads of BLAS would go on waiting for work after each thin product, in the way of walks.
    with use_one_blas_thread():
        return solve_by_products(
            lambda X: operators.multiply(X, kernel),
            R,
            mask,
            alphas if noise is None else noise * alphas,
            tol=tol,
            max_iterations=max_iterations,
            precondition=preconditioner.make(kernel, groups, alphas),
            floor=floor,
            engine=operators.engine,
        )
