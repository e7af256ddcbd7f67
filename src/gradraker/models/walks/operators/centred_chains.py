"""Chains over a walk without what all of its walks have in common.

Where walks mix within few steps (most social graphs), walks from all nodes end at nearly the same
nodes, in proportion to the roots of their edges, and what tells groups of nodes apart is a very
small rest. A centred walk is that rest: T − uvᵀ with u = √d_r/‖√d_r‖ and v = √d_c/‖√d_c‖, the sums
of the rows and columns of the walk before it is scaled, in the largest component of the graph and 0
elsewhere: walks in other components end where no others do. T has u and v as singular vectors to
its largest singular value, 1; over edges of both directions u = v, and (T − uuᵀ)ᵐ = Tᵐ − uuᵀ.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gradraker.features.engine import Engine
from gradraker.features.row_blocks import RowBlocks
from gradraker.features.walks import WalkMatrices
from gradraker.models.walks.operators.chains import StepwiseChains

Matrix = NDArray[np.float64]
# Lengths of rows, in those of rows that are not centred, up to which nothing is left of them, and
# the same of squares after one step, which are differences, in units of rounding.
_NOTHING, _NOTHING_AFTER_ONE = 1e-12, 16.0


def measure_common(matrices: WalkMatrices, T: csr_array) -> tuple[Matrix, Matrix]:
    """The vectors u and v (n, 1) of the walk T with loops.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import WalkMatrices
    >>> from gradraker.models.walks.operators.centred_chains import measure_common
    >>> from gradraker.models.walks.operators.chains import scale_walk
    >>> matrices = WalkMatrices(csr_array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> u, v = measure_common(matrices, scale_walk(matrices))
    >>> (u**2).ravel().round(2).tolist(), (v**2).ravel().round(2).tolist()
    ([0.5, 0.5, 0.0], [0.5, 0.5, 0.0])
    """
    edges = matrices.get_edges(matrices.direction)
    loops = matrices.make_loops(edges)
    _, components = connected_components(T, directed=False)
    is_largest = components == np.bincount(components).argmax()
    sums = [(np.asarray(edges.sum(axis=axis)) + loops) * is_largest for axis in (1, 0)]
    u, v = (np.sqrt(some / some.sum())[:, np.newaxis] for some in sums)
    return u, v


class CentredChains(StepwiseChains):
    """Chains over T − uvᵀ, step by step: each step takes off what the others left of uvᵀ.

    Over a symmetric walk in the precision of the products: what is left fades alike at all nodes.
    """

    def __init__(
        self,
        T: csr_array,
        engine: Engine,
        dtype: Any,
        matrices: WalkMatrices,
        *,
        is_symmetric: bool = False,
    ) -> None:
        self._is_symmetric = is_symmetric
        super().__init__(T, engine, dtype, dtype if is_symmetric else np.float64)
        common = measure_common(matrices, T)
        self._squares = common[0][:, 0] ** 2  # of rows that are not centred, of long walks
        self._u, self._v = (self._move_in(engine.load(x, self._dtype)) for x in common)

    def _load_back(self, T: csr_array) -> Any:
        return self._forward if self._is_symmetric else super()._load_back(T)

    def _step_forward(self, X: Any, k: int, out: Any) -> None:
        super()._step_forward(X, k, out)
        out[:, :k] -= self._u * (self._v.T @ X[:, :k])

    def _step_back(self, X: Any, k: int, out: Any) -> None:
        super()._step_back(X, k, out)
        out[:, :k] -= self._v * (self._u.T @ X[:, :k])

    def _set_root(self, length: int, squares: Matrix) -> None:
        super()._set_root(length, np.where(squares > _NOTHING**2 * self._squares, squares, 0.0))

    def _set_first_root(self) -> None:
        # ‖t − u_i v‖² = ‖t‖² − 2 u_i tᵀv + u_i², and tᵀv = u_i.
        squares = RowBlocks(self._T).sum_squares() - self._squares
        rounding = np.finfo(self._T.dtype).eps * self._squares
        self._set_root(1, np.where(squares > _NOTHING_AFTER_ONE * rounding, squares, 0.0))

    def sketch_rows(self, lengths: Sequence[int], probes: Matrix) -> dict[int, Matrix]:
        """Rows after the first step times probes."""
        found = super().sketch_rows(lengths, probes)
        v = self._engine.fetch(self._move_out(self._v))
        return {length: ends - v @ (v.T @ ends) for length, ends in found.items()}

    def multiply(
        self, X: Any, lengths: Sequence[int], *, after_step: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length, the shortest first, and the chain's product with X."""
        v = self._move_out(self._v) if after_step else None
        for length, product in super().multiply(X, lengths, after_step=after_step):
            # A new node takes its first step by t − (tᵀv)vᵀ.
            yield length, product if v is None else product - v @ (v.T @ product)

    def multiply_units(
        self, units: Any, rows: NDArray[np.int64], lengths: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length and the chain's product with the unit vectors of these rows.

        Over a symmetric walk, there and back are one walk, which chains of all lengths share.
        """
        if not self._is_symmetric:
            yield from super().multiply_units(units, rows, lengths)
            return
        loaded = self._engine.load_rows(rows)
        for steps, ends in self._walk(units, 2 * max(lengths)):
            if steps % 2 == 0 and steps // 2 in lengths:
                root = self._roots[steps // 2]
                product = root * ends * root[loaded].T
                yield steps // 2, product.astype(self._precision)
