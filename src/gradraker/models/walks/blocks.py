"""What a node looks like: blocks of rows of a random walk, and a block of degrees.

A block gives each node a row: where walks of a reach end, scaled to length 1 (``hop1``, ``far``, …;
see :mod:`gradraker.features.walks`), or its degrees (``degree``). It has one Gaussian kernel
κ = exp(−d² / (2 w m)), where m is the median squared distance of its rows and w its width. A
*kernel* is a weighted sum of blocks: terms (block, width, share), whose shares sum to 1.

:class:`ExactBlocks` has the distances themselves, :class:`RandomBlocks` random features of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._compiled.fourier_lms import compute_scaled_features
from gradraker.features.identities import identify_references
from gradraker.features.parallel import parallel_for
from gradraker.features.walks import (
    REACHES,
    WalkMatrices,
    compute_degree_columns,
    compute_mean_row,
    compute_reach_rows,
    compute_squared_norms,
    draw_vectors,
    get_reach,
    propagate,
)
from gradraker.graph.names import Names

# Nodes whose distances a median is taken over: 45 000 pairs.
_MEDIAN_NODES = 300
# Rows of the walk that are held at once.
_ROWS = 256
_FEATURES_A_BLOCK = 50_000
# A centred row that is shorter, in lengths of the mean row, is rounding errors.
_NOTHING = 1e-9
# Blocks have random vectors of their own, so that their errors do not add up.
_FOUR = np.arange(4, dtype=np.uint64)  # the columns of degrees
_ORDER_SEED, _BLOCK_SEED = 0x6F72646572, 0x626C6F636B


class Term(NamedTuple):
    """A block in a kernel: its width w and its share of the sum."""

    block: str
    width: float
    share: float


Kernel = tuple[Term, ...]


def check_block(block: Any) -> str:
    """Return the name of a block, or say which there are.

    Examples
    --------
    >>> from gradraker.models.walks.blocks import check_block
    >>> check_block("hop0")
    Traceback (most recent call last):
    ValueError: blocks must be 'degree', 'community', ..., 'same_sources' or 'hop1', 'hop2', …, got
    'hop0'
    """
    if isinstance(block, str) and (block == "degree" or block in REACHES):
        return block
    names = ", ".join(map(repr, ("degree", *REACHES[: REACHES.index("hop1")])))
    raise ValueError(f"blocks must be {names} or 'hop1', 'hop2', …, got {block!r}")


@dataclass(frozen=True, eq=False)
class Walks:
    """A graph as its random walk: what blocks are made of."""

    matrices: WalkMatrices
    degrees: NDArray[np.float64]  # [n, 4], standardised
    identities: NDArray[np.uint64]  # [n]
    seed: int
    n_old: int  # the first nodes, which means are taken over

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.matrices.n

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The nodes in a random order that depends on the seed and their names only."""
        keys = draw_vectors(self.identities, 1, self.seed ^ _ORDER_SEED)[:, 0]
        return np.lexsort((self.identities, keys))

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Place of each node in :attr:`order`."""
        rank = np.empty(self.n, dtype=np.int64)
        rank[self.order] = np.arange(self.n)
        return rank


def walks_of(
    A: csr_array,
    nodes: Names,
    *,
    direction: str,
    seed: int,
    hidden: NDArray[np.bool_] | None = None,
    n_old: int | None = None,
) -> Walks:
    """The walks of a graph whose row n holds the edges out of n.

    Nobody sees hidden nodes. Means are taken over the first ``n_old`` nodes.
    """
    n_old = len(nodes) if n_old is None else n_old
    columns = compute_degree_columns(A, direction=direction, hidden=hidden)
    old = columns[:n_old]
    spread = old.std(axis=0)
    varies = spread > 1e-12 * (1.0 + np.abs(old).max(axis=0))
    scale = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
    return Walks(
        WalkMatrices(A, direction=direction, hidden=hidden),
        (columns - old.mean(axis=0)) * scale,
        identify_references(nodes if nodes.dtype == np.int64 else nodes.tolist()),
        seed,
        n_old,
    )


class ExactBlocks:
    """Squared distances between rows of blocks, in units of the block's median."""

    def __init__(self, walks: Walks, medians: dict[str, float] | None = None) -> None:
        self.walks = walks
        self.medians: dict[str, float] = {} if medians is None else medians
        self._norms: dict[str, NDArray[np.float64]] = {}
        self._means: dict[str, NDArray[np.float64]] = {}
        self._squares: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def median(self, block: str) -> float:
        """Median squared distance of a block over pairs of nodes; 0 if all rows are equal."""
        if block not in self.medians:
            some = self.walks.order[:_MEDIAN_NODES]
            self.medians[block] = median_of(self._squared(block, some, some))
        return self.medians[block]

    def distances(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """d²/m between rows of a block, shape (len(first), len(second))."""
        median = self.median(block)
        if median == 0.0:
            return np.zeros((first.size, second.size))
        if first is not second:
            return np.asarray(self._squared(block, first, second) / median)
        # Known nodes with themselves: a choice and its solution ask for the same.
        if block not in self._squares or not np.array_equal(self._squares[block][0], first):
            self._squares[block] = first, self._squared(block, first, first) / median
        return self._squares[block][1]

    def _squared(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if block == "degree":
            return squared_differences(self.walks.degrees[first], self.walks.degrees[second])
        if first.size > second.size:  # the fewer nodes walk
            return self._squared(block, second, first).T
        products = np.empty((first.size, second.size))
        matrices, reach = self.walks.matrices, get_reach(block)
        for start in range(0, first.size, _ROWS):
            some = first[start : start + _ROWS]
            ends = self._ends(block, some)  # [n, rows]
            meetings = propagate(matrices.get_step(reach), ends, reach)  # [n, rows]
            products[start : start + _ROWS] = meetings[second].T
            if reach.centred:
                products[start : start + _ROWS] -= (self._mean(block) @ ends)[:, np.newaxis]
        norms = self._norms[block]
        missing = np.unique(second[np.isnan(norms[second])])
        for start in range(0, missing.size, _ROWS):
            self._ends(block, missing[start : start + _ROWS])
        products *= -2.0 * _inverse(norms[first])[:, np.newaxis]
        products *= _inverse(norms[second])
        # Squared lengths are 1, or 0 for a row that is nothing but the mean.
        products += (norms[first] > 0.0)[:, np.newaxis]
        products += norms[second] > 0.0
        return np.maximum(products, 0.0, out=products)

    def _mean(self, block: str) -> NDArray[np.float64]:
        if block not in self._means:
            reach, walks = get_reach(block), self.walks
            self._means[block] = compute_mean_row(walks.matrices, reach, walks.n_old)
        return self._means[block]

    def _ends(self, block: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows of a block as columns, (n, rows), before they are scaled; notes their lengths."""
        reach = get_reach(block)
        ends = compute_reach_rows(self.walks.matrices, rows, reach)
        norms = self._norms.setdefault(block, np.full(self.walks.n, np.nan))
        least = 0.0
        if reach.centred:
            mean = self._mean(block)
            ends -= mean[:, np.newaxis]
            least = _NOTHING * float(np.linalg.norm(mean))
        lengths = np.sqrt(np.einsum("ij,ij->j", ends, ends))
        norms[rows] = np.where(lengths > least, lengths, 0.0)
        return ends


def _inverse(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/length, and 0 for 0."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def squared_differences(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """‖a − b‖² for all pairs of rows."""
    squares = (first**2).sum(axis=1)[:, np.newaxis] + (second**2).sum(axis=1)
    squares -= 2.0 * first @ second.T
    return np.asarray(np.maximum(squares, 0.0))


def median_of(squared: NDArray[np.float64]) -> float:
    """Median over pairs i < j of a square matrix, of the others where half of them are 0."""
    pairs = squared[np.triu_indices(squared.shape[0], 1)]
    positive = pairs[pairs > 1e-12]
    if positive.size == 0:
        return 0.0
    return float(np.median(pairs if 2 * positive.size > pairs.size else positive))


def kernel_of_distances(
    distances: dict[str, NDArray[np.float64]], kernel: Kernel
) -> NDArray[np.float64]:
    """Σ share · exp(−d² / (2 w m)) from d²/m of each block."""
    total: Any = 0.0
    for block, width, share in kernel:
        part = distances[block] * (-0.5 / width)
        np.exp(part, out=part)
        part *= share
        total = total + part
    return np.asarray(total)


class RandomBlocks:
    """Random features of blocks: D sines and D cosines each, whose products estimate kernels."""

    def __init__(self, walks: Walks, n_frequencies: int) -> None:
        self.walks = walks
        self.n_frequencies = n_frequencies
        self.medians: dict[str, float] = {}
        self._projections: dict[str, NDArray[np.float64]] = {}
        self._estimated: dict[str, bool] = {}  # whether lengths of rows are
        self._means: dict[str, NDArray[np.float64]] = {}
        self.kept_moments: tuple[Any, ...] | None = None

    def projections(self, block: str) -> NDArray[np.float64]:
        """Rows of a block times unit frequencies, (n, D)."""
        if block not in self._projections:
            self._projections[block] = self._projected(block)
        return self._projections[block]

    def _projected(self, block: str) -> NDArray[np.float64]:
        walks, D = self.walks, self.n_frequencies
        seed = _block_seed(walks.seed, block)
        if block == "degree":
            return np.asarray(walks.degrees @ draw_vectors(_FOUR, D, seed))
        reach = get_reach(block)
        units = draw_vectors(walks.identities, D, seed)
        V = propagate(walks.matrices.get_step(reach), units, reach)
        norms2 = compute_squared_norms(walks.matrices, reach)
        self._estimated[block] = norms2 is None
        if reach.centred:
            self._means[block] = V[: walks.n_old].mean(axis=0)
        return self._to_length_1(block, V, norms2)

    def _to_length_1(
        self, block: str, V: NDArray[np.float64], norms2: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Projections (n, D) of rows scaled to length 1; ``norms2`` are their squared lengths."""
        least = 0.0
        if block in self._means:
            mean = self._means[block]
            V -= mean
            least = _NOTHING * float(np.linalg.norm(mean)) / np.sqrt(mean.size)
        lengths = np.sqrt(_mean_squares(V) if norms2 is None else norms2)
        V *= _inverse(np.where(lengths > least, lengths, 0.0))[:, np.newaxis]
        return V

    def beside(self, walks: Walks, rows: NDArray[np.int64]) -> "RandomBlocks":
        """The blocks of some nodes of walks with more nodes; the old ones keep their medians."""
        other = RandomBlocks(walks, self.n_frequencies)
        other.medians = self.medians
        for block in self._projections:
            seed = _block_seed(walks.seed, block)
            if block == "degree":
                V = walks.degrees[rows] @ draw_vectors(_FOUR, self.n_frequencies, seed)
            else:
                ends = compute_reach_rows(walks.matrices, rows, get_reach(block))  # [n, rows]
                used = np.flatnonzero(ends.any(axis=1))
                units = draw_vectors(walks.identities[used], self.n_frequencies, seed)
                V = ends[used].T @ units  # [rows, D]
                norms2 = None if self._estimated[block] else np.einsum("ij,ij->j", ends, ends)
                V = self._to_length_1(block, V, norms2)
            other._projections[block] = V
        return other

    def forget_others(self, blocks: Iterable[str]) -> None:
        """Free the projections of all blocks but these."""
        kept = set(blocks)
        self._projections = {b: V for b, V in self._projections.items() if b in kept}

    def median(self, block: str) -> float:
        """Median squared distance of a block, estimated from projections of pairs of nodes."""
        if block not in self.medians:
            V = self.projections(block)[self.walks.order[:_MEDIAN_NODES]]
            self.medians[block] = median_of(squared_differences(V, V) / self.n_frequencies)
        return self.medians[block]

    def features(self, kernel: Kernel, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Features of some rows, shape (len(rows), 2 D × blocks); products estimate the kernel."""
        width = 2 * self.n_frequencies
        Z = np.empty((rows.size, width * len(kernel)))  # [rows, 2D × blocks]
        for i, (block, w, share) in enumerate(kernel):
            median = self.median(block)
            V = self.projections(block)
            scale = 0.0 if median == 0.0 else float(1.0 / np.sqrt(w * median))
            columns = slice(i * width, (i + 1) * width)

            def compute(
                start: int, stop: int, V: Any = V, scale: float = scale, at: slice = columns
            ) -> None:
                compute_scaled_features(V[rows[start:stop]], scale, Z[start:stop, at])

            parallel_for(compute, rows.size, 1 + _FEATURES_A_BLOCK // width)
            Z[:, columns] *= np.sqrt(share)
        return Z


def _mean_squares(V: NDArray[np.float64]) -> NDArray[np.float64]:
    """‖Vₙ‖²/D, whose mean is the squared length of row n."""
    return np.asarray(np.einsum("ij,ij->i", V, V) / V.shape[1])


def _block_seed(seed: int, block: str) -> int:
    number = int.from_bytes(blake2b(block.encode(), digest_size=8).digest(), "little")
    return (seed ^ _BLOCK_SEED ^ number) % (1 << 64)
