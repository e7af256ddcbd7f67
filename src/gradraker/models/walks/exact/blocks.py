"""What a node looks like: blocks of rows of a random walk, and a block of degrees.

A block gives each node a row: where walks of a reach end, scaled to length 1 (``hop1``, ``far``, …;
see :mod:`gradraker.features.walks`), its degrees (``degree``), or attributes. It has one Gaussian
kernel κ = exp(−d² / (2 w m)), where m is the median squared distance of its rows and w its width;
attributes have a linear one as well, without a width.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features.walks import compute_mean_row, compute_reach_rows, get_reach, propagate
from gradraker.models.walks.attributes.rows import AttributeRows
from gradraker.models.walks.description import Walks
from gradraker.models.walks.terms import ATTRIBUTE_BLOCKS, Kernel

# Nodes whose distances a median is taken over: 45 000 pairs.
_MEDIAN_NODES = 300
# Rows of the walk that are held at once.
_ROWS = 256
# Products, of known nodes with all, that are kept for each block: 160 MB.
_MOST_KEPT = 20_000_000
# A centred row that is shorter, in lengths of the mean row, is rounding errors.
_NOTHING = 1e-9


class ExactBlocks:
    """Squared distances between rows of blocks, in units of the block's median."""

    def __init__(
        self,
        walks: Walks,
        medians: dict[str, float] | None = None,
        attributes: AttributeRows | None = None,
    ) -> None:
        self.walks, self.attributes = walks, attributes
        self.medians: dict[str, float] = {} if medians is None else medians
        self._norms: dict[str, NDArray[np.float64]] = {}
        self._means: dict[str, NDArray[np.float64]] = {}
        self._squares: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._kept: dict[str, NDArray[np.float64]] = {}  # [n, kept]: products with kept nodes
        self._places = np.full(walks.n, -1)  # of nodes among the kept ones
        self._known = np.empty(0, dtype=np.int64)

    def keep_products(self, known: NDArray[np.int64]) -> None:
        """Walk from these nodes once per block, and keep the products with all nodes."""
        is_kept = np.array_equal(known, self._known)
        if known.size * self.walks.n <= _MOST_KEPT and not is_kept:
            self._known = known
            self._places[:] = -1
            self._places[known] = np.arange(known.size)
            self._kept.clear()

    def drop_others(self, blocks: Iterable[str]) -> None:
        """Free the products of all blocks but these."""
        kept = set(blocks)
        self._kept = {b: products for b, products in self._kept.items() if b in kept}
        self._squares.clear()

    def median(self, block: str) -> float:
        """Median squared distance of a block over pairs of nodes; 0 if all rows are equal."""
        if block not in self.medians:
            some = self.walks.order[:_MEDIAN_NODES]
            self.medians[block] = compute_median(self._compute_squared(block, some, some))
        return self.medians[block]

    def distances(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """d²/m between rows of a block, shape (len(first), len(second))."""
        median = self.median(block)
        if median == 0.0:
            return np.zeros((first.size, second.size))
        if first is not second:
            return np.asarray(self._compute_squared(block, first, second) / median)
        # Known nodes with themselves: a choice and its solution ask for the same.
        if block not in self._squares or not np.array_equal(self._squares[block][0], first):
            self._squares[block] = first, self._compute_squared(block, first, first) / median
        return self._squares[block][1]

    def compute_kernel(
        self, kernel: Kernel, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The kernel between nodes, (first, second)."""
        gaussian = tuple(term for term in kernel if term.width is not None)
        names = dict.fromkeys(term.block for term in gaussian)
        distances = {block: self.distances(block, first, second) for block in names}
        total = compute_kernel(distances, gaussian)
        for term in kernel:
            if term.width is None:
                rows = self._get_attributes().get_linear_rows(term.block)
                total = total + term.share * (rows[first] @ rows[second].T)
        return np.asarray(total, dtype=np.float64)

    def compute_diagonal(self, kernel: Kernel, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The kernel of nodes with themselves, (rows,): 1 but for linear terms."""
        total = np.zeros(rows.size)
        for term in kernel:
            own: Any = 1.0
            if term.width is None:
                own = self._get_attributes().get_linear_rows(term.block)[rows]
                own = np.einsum("ij,ij->i", own, own)
            total += term.share * own
        return total

    def _get_attributes(self) -> AttributeRows:
        if self.attributes is None:
            raise ValueError("blocks names attributes, but the model was given none")
        return self.attributes

    def _compute_squared(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if block in ATTRIBUTE_BLOCKS:
            rows = self._get_attributes().get_gaussian_rows(block)
            return compute_squared_differences(rows[first], rows[second])
        if block == "degree":
            return compute_squared_differences(
                self.walks.degrees[first], self.walks.degrees[second]
            )
        products = self._compute_products(block, first, second)
        norms = self._norms.setdefault(block, np.full(self.walks.n, np.nan))
        asked = np.concatenate([first, second])
        missing = np.unique(asked[np.isnan(norms[asked])])
        for start in range(0, missing.size, _ROWS):
            self._find_ends(block, missing[start : start + _ROWS])
        products *= -2.0 * _invert(norms[first])[:, np.newaxis]
        products *= _invert(norms[second])
        # Squared lengths are 1, or 0 for a row that is nothing but the mean.
        products += (norms[first] > 0.0)[:, np.newaxis]
        products += norms[second] > 0.0
        return np.maximum(products, 0.0, out=products)

    def _compute_products(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Inner products of rows, before they are scaled, (first, second)."""
        places = self._places[second]
        if second.size and places.min() >= 0:
            if block not in self._kept:
                everyone = np.arange(self.walks.n)
                self._kept[block] = self._walk_products(block, self._known, everyone).T
            return np.asarray(self._kept[block][np.ix_(first, places)])
        if first.size > second.size or (first.size and self._places[first].min() >= 0):
            return self._compute_products(block, second, first).T.copy()  # the fewer nodes walk
        return self._walk_products(block, first, second)

    def _walk_products(
        self, block: str, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        products = np.empty((first.size, second.size))
        matrices, reach = self.walks.matrices, get_reach(block)
        for start in range(0, first.size, _ROWS):
            some = first[start : start + _ROWS]
            ends = self._find_ends(block, some)  # [n, rows]
            meetings = propagate(matrices.get_step(reach), ends, reach)  # [n, rows]
            products[start : start + _ROWS] = meetings[second].T
            if reach.centred:
                products[start : start + _ROWS] -= (self._compute_mean(block) @ ends)[:, np.newaxis]
        return products

    def _compute_mean(self, block: str) -> NDArray[np.float64]:
        if block not in self._means:
            reach, walks = get_reach(block), self.walks
            self._means[block] = compute_mean_row(walks.matrices, reach, walks.n_old)
        return self._means[block]

    def _find_ends(self, block: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows of a block as columns, (n, rows), before they are scaled; notes their lengths."""
        reach = get_reach(block)
        ends = compute_reach_rows(self.walks.matrices, rows, reach)
        norms = self._norms.setdefault(block, np.full(self.walks.n, np.nan))
        least = 0.0
        if reach.centred:
            mean = self._compute_mean(block)
            ends -= mean[:, np.newaxis]
            least = _NOTHING * float(np.linalg.norm(mean))
        lengths = np.sqrt(np.einsum("ij,ij->j", ends, ends))
        norms[rows] = np.where(lengths > least, lengths, 0.0)
        return ends


def _invert(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/length, and 0 for 0."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def compute_squared_differences(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """‖a − b‖² for all pairs of rows."""
    squares = (first**2).sum(axis=1)[:, np.newaxis] + (second**2).sum(axis=1)
    squares -= 2.0 * first @ second.T
    return np.asarray(np.maximum(squares, 0.0))


def compute_median(squared: NDArray[np.float64]) -> float:
    """Median over pairs i < j of a square matrix, of the others where half of them are 0."""
    pairs = squared[np.triu_indices(squared.shape[0], 1)]
    positive = pairs[pairs > 1e-12]
    if positive.size == 0:
        return 0.0
    return float(np.median(pairs if 2 * positive.size > pairs.size else positive))


def compute_kernel(
    distances: dict[str, NDArray[np.float64]], kernel: Kernel
) -> NDArray[np.float64]:
    """Σ share · exp(−d² / (2 w m)) from d²/m of each block."""
    total: Any = 0.0
    for block, width, share in kernel:
        assert width is not None
        part = distances[block] * (-0.5 / width)
        np.exp(part, out=part)
        part *= share
        total = total + part
    return np.asarray(total)
