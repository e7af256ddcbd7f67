"""Walk kernels as operators: products with vectors, while the kernel itself is never formed.

With T a walk of one step, a chain of length m is the kernel N⁻¹ᐟ² Tᵐ (Tᵀ)ᵐ N⁻¹ᐟ², where N is the
diagonal of Tᵐ (Tᵀ)ᵐ: nodes are alike when walks of m steps from them end at the same nodes. A
product with vectors takes 2m sparse products. Chains of one walk go side by side, so that each
entry of T is read once for all of them. Inside, nodes that are linked are moved close together: a
product reads the rows of its neighbours, and those are then in the cache. With 112 columns that is
4 times as fast on a ring of 10⁵ shuffled nodes, 1.2 times on Facebook's 22 470 pages.
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from gradraker.features.engine import Engine, pad_columns
from gradraker.features.row_blocks import RowBlocks
from gradraker.features.walks import WalkMatrices
from gradraker.models.walks.operators.polynomials import expand_power

Matrix = NDArray[np.float64]


def scale_walk(matrices: WalkMatrices, sign: float = 1.0, *, is_lazy: bool = False) -> csr_array:
    """T = D_r⁻¹ᐟ² (±E + I) D_c⁻¹ᐟ² of the edges E of a direction; symmetric for both directions.

    A lazy walk has loops as heavy as all edges of a node, in place of I: at each step it stays with
    probability ½, so that it is as often at an odd distance as at an even one.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.walks import WalkMatrices
    >>> from gradraker.models.walks.operators.chains import scale_walk
    >>> scale_walk(WalkMatrices(csr_array([[0.0, 3.0], [0.0, 0.0]]))).toarray()
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    edges = matrices.get_edges(matrices.direction)
    loops = matrices.make_loops(edges)
    if is_lazy:
        loops = weigh_lazy_loops(loops, edges.sum(axis=1))
    T = csr_array(sign * edges + diags_array(loops))
    return scale_both(T, edges.sum(axis=1) + loops, edges.sum(axis=0) + loops)


def weigh_lazy_loops(loops: Matrix, sums: Matrix) -> Matrix:
    """Loops as heavy as the edges of a node; as they are where there are none."""
    return np.asarray(loops * np.where(sums > 0.0, sums, 1.0))


def build_meeting_walk(
    A: csr_array, direction: str, hidden: NDArray[np.bool_] | None = None
) -> csr_array:
    """D_r⁻¹ᐟ² E D_c⁻¹ᐟ² without loops: two nodes meet where both have an edge."""
    edges = WalkMatrices(A, hidden=hidden).get_edges(direction)
    return scale_both(edges, edges.sum(axis=1), edges.sum(axis=0))


def scale_both(T: csr_array, rows: Matrix, columns: Matrix) -> csr_array:
    """Divide rows and columns by the roots of these numbers; where one is 0, so is the result."""
    data = np.repeat(invert_root(rows), np.diff(T.indptr))
    data *= T.data
    data *= invert_root(columns)[T.indices]
    return csr_array((data, T.indices, T.indptr), shape=T.shape)


def invert_root(x: Matrix) -> Matrix:
    """x⁻¹ᐟ², 0 where x is not positive."""
    return np.divide(1.0, np.sqrt(np.maximum(x, 0.0)), out=np.zeros_like(x), where=x > 0.0)


def find_close_order(T: csr_array) -> NDArray[np.int64]:
    """Order nodes so that linked ones are close together (reverse Cuthill–McKee).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gradraker.models.walks.operators.chains import find_close_order
    >>> path = csr_array([[0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]])
    >>> find_close_order(path).tolist()
    [3, 1, 2, 0]
    """
    return np.asarray(reverse_cuthill_mckee(T, symmetric_mode=False), dtype=np.int64)


def apply_order(T: csr_array, order: NDArray[np.int64]) -> csr_array:
    """Rows and columns of T in this order."""
    return csr_array(T[order][:, order])


class Chains(Protocol):
    """Chains of several lengths over one walk."""

    def set_norms(self, lengths: Sequence[int], probes: Matrix) -> None:
        """Compute the norms of chains: exact for length 1, else means over random probes (n, p)."""

    def multiply(
        self, X: Any, lengths: Sequence[int], *, after_step: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length and the chain's product with X (n, k).

        With ``after_step`` the products lack the first step and the norm of the row: a node that
        no walk comes back to, with the row t of T, has t times the product.
        """

    def multiply_sum(self, X: Any, shares: dict[int, float]) -> Any:
        """The sum of the chains' products with X (n, k), each times the share of its length."""

    def multiply_units(
        self, units: Any, rows: NDArray[np.int64], lengths: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length and the chain's product with the unit vectors (n, k) of these rows."""

    def project_rows(self, length: int, probes: Matrix) -> Matrix:
        """Rows of the walk of this length times probes (n, p), not scaled by its norms."""

    def sketch_rows(self, lengths: Sequence[int], probes: Matrix) -> dict[int, Matrix]:
        """Rows after the first step times probes: t times it estimates the norm of a new row."""


def make_chains(T: csr_array, engine: Engine, dtype: Any, *, is_symmetric: bool = False) -> Chains:
    """Chains over T: by Chebyshev series where it is symmetric, else step by step.

    With ``is_symmetric`` the walk is known to be so; it takes long to find out.
    """
    is_symmetric = is_symmetric or abs(T - T.T).sum() <= 1e-12 * T.shape[0]
    return (SymmetricChains if is_symmetric else StepwiseChains)(T, engine, dtype)


class _NormedChains:
    """Norms of chains, as roots N⁻¹ᐟ² (n, 1) on the engine.

    Buffers of products have their nodes in the order in which ``_forward`` is; all that comes in
    and goes out is in the order of the graph. Engines whose products hardly gain from close nodes
    keep that order.
    """

    def __init__(self, T: csr_array, engine: Engine, dtype: Any) -> None:
        self._T, self._engine, self._dtype = T, engine, dtype
        self._close = find_close_order(T) if engine.wants_close_nodes else None
        if self._close is not None:
            self._order = engine.load_rows(self._close)
            self._place = engine.load_rows(np.argsort(self._close))
        self._forward = engine.load_sparse(self._take_order(T), dtype)
        self._roots: dict[int, Any] = {}

    def _take_order(self, T: csr_array) -> csr_array:
        return T if self._close is None else apply_order(T, self._close)

    def _move_in(self, X: Any) -> Any:
        """Copy X (n, k) into the order of the buffers."""
        return X.copy() if self._close is None else self._engine.xp.take(X, self._order, axis=0)

    def _move_out(self, X: Any) -> Any:
        """Copy X (n, k) into the order of the graph."""
        return X.copy() if self._close is None else self._engine.xp.take(X, self._place, axis=0)

    def _set_root(self, length: int, squares: Matrix) -> None:
        root = invert_root(np.asarray(squares, dtype=np.float64))
        self._roots[length] = self._engine.load(root[:, np.newaxis], self._dtype)

    def _set_first_root(self) -> None:
        self._set_root(1, RowBlocks(self._T).sum_squares())

    def _load_columns(self, probes: Matrix, n_buffers: int) -> Iterator[Any]:
        """Yield probes on the engine, as many columns at a time as its memory has room for."""
        some = self._engine.count_columns(len(probes), self._dtype, n_buffers)
        for start in range(0, probes.shape[1], some):
            yield self._engine.load(probes[:, start : start + some], self._dtype)

    def _make_buffer(self, n_columns: int) -> Any:
        return self._engine.xp.zeros((self._T.shape[0], pad_columns(n_columns)), dtype=self._dtype)


class SymmetricChains(_NormedChains):
    """Chains over a symmetric walk, by Chebyshev series of its powers."""

    def __init__(self, T: csr_array, engine: Engine, dtype: Any) -> None:
        super().__init__(T, engine, dtype)
        self._stacked: dict[tuple[int, ...], Any] = {}

    def set_norms(self, lengths: Sequence[int], probes: Matrix) -> None:
        """Compute the norms of chains: exact for length 1, else means over random probes."""
        missing = set(lengths) - set(self._roots)
        if 1 in missing:
            self._set_first_root()
        longer = sorted(missing - {1})
        series = [expand_power(length).row for length in longer]
        squares = np.zeros((len(longer), len(probes)))
        for X in self._load_columns(probes, 3 + len(longer)) if longer else ():
            for number, ends in enumerate(self._expand_shared(X, series)):
                squares[number] += self._engine.fetch((ends * ends).sum(axis=1))
        for number, length in enumerate(longer):
            self._set_root(length, squares[number] / probes.shape[1])

    def project_rows(self, length: int, probes: Matrix) -> Matrix:
        """Rows of the walk of this length times probes."""
        some = self._load_columns(probes, 4)
        parts = (self._expand_shared(X, [expand_power(length).row]) for X in some)
        return np.hstack([self._engine.fetch(ends) for (ends,) in parts])

    def sketch_rows(self, lengths: Sequence[int], probes: Matrix) -> dict[int, Matrix]:
        """Rows after the first step times probes."""
        X = self._engine.load(probes, self._dtype)
        expanded = self._expand_shared(X, [expand_power(m).row_after_step for m in lengths])
        return {m: self._engine.fetch(ends) for m, ends in zip(lengths, expanded, strict=True)}

    def multiply(
        self, X: Any, lengths: Sequence[int], *, after_step: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length, the shortest first, and the chain's product with X."""
        order = sorted(lengths, reverse=True)
        powers = [expand_power(length) for length in order]
        series = [power.kernel_after_step if after_step else power.kernel for power in powers]
        sums = self._expand_apart(X, self._stack_roots(order), series)
        for number, length in reversed(list(enumerate(order))):
            product = self._move_out(sums[:, number])
            yield length, product if after_step else self._roots[length] * product

    def multiply_units(
        self, units: Any, rows: NDArray[np.int64], lengths: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length and the chain's product with the unit vectors of these rows.

        The norm of a unit vector is one number, so that chains of all lengths share their products.
        """
        series, loaded = [expand_power(m).kernel for m in lengths], self._engine.load_rows(rows)
        expanded = self._expand_shared(units, series)
        for length, product in zip(lengths, expanded, strict=True):
            root = self._roots[length]
            yield length, root * product * root[loaded].T

    def multiply_sum(self, X: Any, shares: dict[int, float]) -> Any:
        """The sum of the chains' products with X (n, k), each times the share of its length."""
        order = sorted(shares, reverse=True)
        roots = self._stack_roots(order)
        sums = self._expand_apart(X, roots, [expand_power(length).kernel for length in order])
        parts = self._engine.load(np.array([shares[length] for length in order]), self._dtype)
        return self._move_out(self._engine.xp.einsum("nck,nc->nk", sums, roots * parts))

    def _stack_roots(self, lengths: Sequence[int]) -> Any:
        """Roots of the norms of chains, (n, chains), with nodes in the order of the buffers."""
        key = tuple(lengths)
        if key not in self._stacked:
            roots = self._engine.xp.hstack([self._roots[length] for length in key])
            self._stacked[key] = self._move_in(roots)
        return self._stacked[key]

    def _expand_shared(self, X: Any, series: Sequence[Matrix]) -> Iterator[Any]:
        """Yield Σ_j c_j T_j(T) X for each series c: one start, many sums."""
        k = X.shape[1]
        start = self._make_buffer(k)
        start[:, :k] = self._move_in(X)
        weights = np.zeros((max(map(len, series)), len(series), start.shape[1]), self._dtype)
        for number, own in enumerate(series):
            weights[: len(own), number] = own[:, np.newaxis]
        for ends in self._sum_series(start, weights, [k] * len(weights)):
            yield self._move_out(ends[:, :k])

    def _expand_apart(self, X: Any, roots: Any, series: Sequence[Matrix]) -> Any:
        """Σ_j c_j T_j(T) (root · X) for each series c and its root, (n, chains, k).

        Each has columns of its own. The longest series comes first, so that the columns of those
        that are done are the last ones.
        """
        k, (n, n_chains) = X.shape[1], roots.shape
        start = self._make_buffer(k * n_chains)
        own = start[:, : k * n_chains].reshape(n, n_chains, k)
        self._engine.xp.multiply(roots[:, :, None], self._move_in(X)[:, None, :], out=own)
        weights = np.zeros((len(series[0]), 1, start.shape[1]), self._dtype)
        for number, numbers in enumerate(series):
            columns = slice(number * k, (number + 1) * k)
            weights[: len(numbers), 0, columns] = numbers[:, np.newaxis]
        widths = [k * sum(len(c) > degree for c in series) for degree in range(len(series[0]))]
        return self._sum_series(start, weights, widths)[0][:, : k * n_chains].reshape(own.shape)

    def _sum_series(self, start: Any, weights: NDArray[Any], widths: Sequence[int]) -> Any:
        """Sums (s, n, columns) over degrees j of weights[j] (s, columns) times T_j(T) start.

        Of degree j, the first ``widths[j]`` columns are needed.
        """
        sums = self._engine.load(weights[0], self._dtype)[:, None, :] * start
        now, older = start, self._engine.xp.zeros_like(start)
        is_added = [row.any() for row in weights]  # every other degree: powers are even or odd
        for degree in range(1, len(weights)):
            # T_{j+1} = 2 T T_j − T_{j−1}, written over T_{j−1}; the first step is T T_0.
            factors = (2.0, -1.0) if degree > 1 else (1.0, 0.0)
            more = (weights[degree], sums) if is_added[degree] else ()
            self._engine.multiply(self._forward, now, widths[degree], older, *factors, *more)
            now, older = older, now
        return sums


class StepwiseChains(_NormedChains):
    """Chains over any walk, step by step.

    Steps are in double precision unless it is said otherwise: along a direction, long walks fade by
    many orders of magnitude, and their squared norms would be 0 in single precision.
    """

    def __init__(
        self, T: csr_array, engine: Engine, dtype: Any, step_dtype: Any = np.float64
    ) -> None:
        super().__init__(T, engine, step_dtype)
        self._back = self._load_back(T)
        self._precision = dtype  # of the products

    def _load_back(self, T: csr_array) -> Any:
        return self._engine.load_sparse(csr_array(self._take_order(T).T), self._dtype)

    def set_norms(self, lengths: Sequence[int], probes: Matrix) -> None:
        """Compute the norms of chains: exact for length 1, else means over random probes."""
        missing = set(lengths) - set(self._roots)
        if 1 in missing:
            self._set_first_root()
        if missing - {1}:
            for length, ends in self._walk(probes, max(missing)):
                if length in missing - {1}:
                    self._set_root(length, self._engine.fetch((ends * ends).mean(axis=1)))

    def project_rows(self, length: int, probes: Matrix) -> Matrix:
        """Rows of the walk of this length times probes."""
        return self._fetch_walks(probes, {length})[length]

    def sketch_rows(self, lengths: Sequence[int], probes: Matrix) -> dict[int, Matrix]:
        """Rows after the first step times probes."""
        found = self._fetch_walks(probes, {length - 1 for length in lengths})
        return {length: found[length - 1] for length in lengths}

    def _fetch_walks(self, X: Matrix, lengths: Set[int]) -> dict[int, Matrix]:
        """Tᵐ X for these m; those between are not kept."""
        found = {0: np.array(X, dtype=self._dtype)}
        for m, ends in self._walk(X, max(lengths)):
            if m in lengths:
                found[m] = self._engine.fetch(ends)
        return found

    def _walk(self, X: Matrix, length: int) -> Iterator[tuple[int, Any]]:
        """Yield (m, Tᵐ X) for m from 1 to ``length``."""
        ends = self._move_in(self._engine.load(X, self._dtype))
        other = self._engine.xp.empty_like(ends)
        for m in range(1, length + 1):
            self._step_forward(ends, ends.shape[1], other)
            ends, other = other, ends
            yield m, self._move_out(ends)

    def _step_forward(self, X: Any, k: int, out: Any) -> None:
        """T X of the first k columns."""
        self._engine.multiply(self._forward, X, k, out)

    def _step_back(self, X: Any, k: int, out: Any) -> None:
        """Tᵀ X of the first k columns."""
        self._engine.multiply(self._back, X, k, out)

    def multiply_units(
        self, units: Any, rows: NDArray[np.int64], lengths: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length and the chain's product with the unit vectors of these rows."""
        return self.multiply(units, lengths)

    def multiply_sum(self, X: Any, shares: dict[int, float]) -> Any:
        """The sum of the chains' products with X (n, k), each times the share of its length."""
        total = self._engine.xp.zeros_like(X)
        for length, product in self.multiply(X, tuple(shares)):
            total += self._precision(shares[length]) * product
        return total

    def multiply(
        self, X: Any, lengths: Sequence[int], *, after_step: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield each length, the shortest first, and the chain's product with X."""
        k, order = X.shape[1], sorted(lengths, reverse=True)
        now, other = self._make_buffer(k * len(order)), self._make_buffer(k * len(order))
        n_chains = 0
        for remaining in range(order[0], 0, -1):  # chains join so that all turn at the same time
            while n_chains < len(order) and order[n_chains] == remaining:
                own = slice(n_chains * k, (n_chains + 1) * k)
                now[:, own] = self._move_in(self._roots[remaining] * X)
                n_chains += 1
            self._step_back(now, n_chains * k, other)
            now, other = other, now
        for done in range(1, order[0] + 1):
            length, own = order[n_chains - 1], slice((n_chains - 1) * k, n_chains * k)
            if after_step and done == length:
                yield length, self._move_out(now[:, own])
            self._step_forward(now, n_chains * k, other)
            now, other = other, now
            if done == length:
                n_chains -= 1
                if not after_step:
                    product = self._roots[length] * self._move_out(now[:, own])
                    yield length, product.astype(self._precision)
