"""What a node looks like: blocks of rows of a random walk, and a block of degrees.

A block gives each node a row: where walks of a reach end, scaled to length 1 (``hop1``, ``far``, …;
see :mod:`gradraker.features.walks`), its degrees (``degree``), a place such that squared distances
are commute times of walks (``commute``), or attributes. It has one Gaussian
kernel κ = exp(−d² / (2 w m)), where m is the median squared distance of its rows and w its width;
attributes have a linear one as well, without a width. ``local_attributes`` adds the d²/m of ``far``
and ``attributes``, which multiplies their kernels: attributes then count among nodes of one region.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import DeviceMemoryError
from gradraker.features.engine import (
    CpuEngine,
    Engine,
    parallel_for,
    split_range,
    use_one_blas_thread,
)
from gradraker.features.walks import Walker, Walks, compute_commutes, get_reach
from gradraker.linear.ridge import compute_criterion_curve, find_shares, get_likelihood_part
from gradraker.models.walks.attributes.rows import AttributeRows
from gradraker.models.walks.choice import ATTRIBUTE_BLOCKS, Kernel, Term

Ints = NDArray[np.int64]

Matrix = NDArray[np.float64]
AttributeTerm = tuple[str, float | None]  # block and width; None: linear
COMMUTE_BLOCK = "commute"
LOCAL_BLOCK, LOCAL_PARTS = "local_attributes", ("far", "attributes")
# Nodes whose distances a median is taken over: 45 000 pairs.
_MEDIAN_NODES = 300
# Rows whose kernel is held at once.
CHUNK = 512
# Rows of the walk that are held at once.
_ROWS = 256
# Products, of known nodes with all, that are kept for each block: 160 MB.
_MOST_KEPT = 20_000_000
# Matrices of the known nodes that a GPU holds at once.
_MATRICES = 3
# A centred row that is shorter, in lengths of the mean row, is rounding errors.
_NOTHING = 1e-9
# A mean of ones may differ from 1 by less than this.
ROUNDING = 1e-9
# Penalties, in units of 1 − mean(K): how much a kernel varies at all.
ALPHAS = np.logspace(-4, 4, 17)
FINE_ALPHAS = np.logspace(-5, 4, 46)


class ExactBlocks:
    """Squared distances between rows of blocks, in units of the block's median.

    Distances and kernels are arrays of the engine, of NumPy on the CPU; in double precision.
    """

    def __init__(
        self,
        walks: Walks,
        medians: dict[str, float] | None = None,
        attributes: AttributeRows | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.walks, self.attributes = walks, attributes
        self.engine: Any = CpuEngine() if engine is None else engine
        self._walker = Walker(walks.matrices, self.engine)
        self.medians: dict[str, float] = {} if medians is None else medians
        self._norms: dict[str, Matrix] = {}
        self._means: dict[str, Any] = {}
        self._squares: dict[str, tuple[Ints, Any]] = {}
        self._latest: tuple[Kernel, Ints, Any] | None = None
        self._kept: dict[str, Any] = {}  # [n, kept]: products with kept nodes
        self._places = np.full(walks.n, -1)  # of nodes among the kept ones
        self._known = np.empty(0, dtype=np.int64)
        self._commutes: Matrix | None = None  # [n, n]

    def keep_products(self, known: Ints) -> None:
        """Walk from these nodes once per block, and keep the products with all nodes."""
        is_kept = np.array_equal(known, self._known)
        if known.size * self.walks.n <= _MOST_KEPT and not is_kept:
            self._known = known
            self._places[:] = -1
            self._places[known] = np.arange(known.size)
            self._kept.clear()

    def drop_others(self, blocks: Iterable[str]) -> None:
        """Free the products of all blocks but these."""
        kept = {part for b in blocks for part in (LOCAL_PARTS if b == LOCAL_BLOCK else (b,))}
        self._kept = {b: products for b, products in self._kept.items() if b in kept}
        self._squares.clear()
        if COMMUTE_BLOCK not in kept:
            self._commutes = None

    def median(self, block: str) -> float:
        """Median squared distance of a block over pairs of nodes; 0 if all rows are equal."""
        if block not in self.medians:
            some = self.walks.order[:_MEDIAN_NODES]
            squared = self.engine.fetch(self._compute_squared(block, some, some))
            self.medians[block] = compute_median(squared)
        return self.medians[block]

    def distances(self, block: str, first: Ints, second: Ints) -> Any:
        """d²/m between rows of a block, shape (len(first), len(second))."""
        median = self.median(block)
        if median == 0.0:
            return self.engine.xp.zeros((first.size, second.size))
        if first is not second or not self._has_room(first.size):
            return self._divide(block, first, second, median)
        # Known nodes with themselves: a choice and its solution ask for the same.
        if block not in self._squares or not np.array_equal(self._squares[block][0], first):
            self._squares[block] = first, self._divide(block, first, first, median)
        return self._squares[block][1]

    def _divide(self, block: str, first: Ints, second: Ints, median: float) -> Any:
        squared = self._compute_squared(block, first, second)
        squared /= median
        return squared

    def _has_room(self, n: int) -> bool:
        """Whether distances of all blocks among n nodes may be kept."""
        return self.engine.name == "cpu" or n * n <= _MOST_KEPT

    def compute_kernel(self, kernel: Kernel, first: Ints, second: Ints) -> Any:
        """The kernel between nodes, (first, second)."""
        total = self.engine.xp.zeros((first.size, second.size))
        gaussian = [term for term in kernel if term.width is not None]
        for block in dict.fromkeys(term.block for term in gaussian):
            distances = self.distances(block, first, second)
            terms = [term for term in gaussian if term.block == block]
            # A second matrix of this size may be too much.
            for some in split_range(first.size, CHUNK):
                own = {block: distances[some]}
                for term in terms:
                    total[some] += compute_kernel(own, (term,), self.engine.xp)
        for term in kernel:
            if term.width is None:
                rows = self._get_attributes().get_linear_rows(term.block)
                total += term.share * (self._load(rows[first]) @ self._load(rows[second]).T)
        return total

    def compute_known_kernel(self, kernel: Kernel, known: Ints) -> Any:
        """The kernel among known nodes; on a GPU memory is checked first, and the last one kept."""
        if self.engine.name == "cpu":
            return self.compute_kernel(kernel, known, known)
        last = self._latest
        if last is None or last[0] != kernel or not np.array_equal(last[1], known):
            self._latest = last = None
            self._check_room(known.size)
            self._latest = last = kernel, known, self.compute_kernel(kernel, known, known)
        return last[2]

    def drop_known_kernel(self) -> None:
        """Free the kernel among known nodes that was kept."""
        self._latest = None

    def _check_room(self, n_known: int) -> None:
        needed = _MATRICES * 8 * n_known**2
        free, total = self.engine.measure_memory()
        if needed > free:
            n, n_entries = self.walks.n, self.walks.matrices.A.nnz
            raise DeviceMemoryError(
                self.engine.name, n, n_entries, free, total, n_known=n_known, needed=needed
            )

    def _load(self, X: NDArray[Any]) -> Any:
        return self.engine.load(X, np.float64)

    def compute_diagonal(self, kernel: Kernel, rows: Ints) -> Matrix:
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

    def _compute_squared(self, block: str, first: Ints, second: Ints) -> Any:
        if block == LOCAL_BLOCK:
            region, own = (self.distances(part, first, second) for part in LOCAL_PARTS)
            return region + own
        if block == COMMUTE_BLOCK:
            return self._load(self._compute_commute_times(first, second))
        if block == "degree" or block in ATTRIBUTE_BLOCKS:
            rows = self.walks.degrees
            if block != "degree":
                rows = self._get_attributes().get_gaussian_rows(block)
            own, others = self._load(rows[first]), self._load(rows[second])
            return compute_squared_differences(own, others, self.engine.xp)
        products = self._compute_products(block, first, second)
        norms = self._norms.setdefault(block, np.full(self.walks.n, np.nan))
        asked = np.concatenate([first, second])
        missing = np.unique(asked[np.isnan(norms[asked])])
        for start in range(0, missing.size, _ROWS):
            self._find_ends(block, missing[start : start + _ROWS])
        products *= self._load(-2.0 * _invert(norms[first])[:, np.newaxis])
        products *= self._load(_invert(norms[second]))
        # Squared lengths are 1, or 0 for a row that is nothing but the mean.
        products += self._load((norms[first] > 0.0)[:, np.newaxis])
        products += self._load(norms[second] > 0.0)
        return self.engine.xp.maximum(products, 0.0, out=products)

    def _compute_commute_times(self, first: Ints, second: Ints) -> Matrix:
        """Commute times, infinite between nodes that no walk connects."""
        if self._commutes is None:
            self._commutes = compute_commutes(self.walks.matrices)
        own, products = np.diag(self._commutes), self._commutes[np.ix_(first, second)]
        squared = np.maximum(own[first][:, np.newaxis] + own[second] - 2.0 * products, 0.0)
        apart = (products <= 0.0) & (first[:, np.newaxis] != second)
        return np.where(apart, np.inf, squared)

    def _compute_products(self, block: str, first: Ints, second: Ints) -> Any:
        """Inner products of rows, before they are scaled, (first, second)."""
        places = self._places[second]
        load_rows = self.engine.load_rows
        if second.size and places.min() >= 0:
            if block not in self._kept:
                everyone = np.arange(self.walks.n)
                self._kept[block] = self._walk_products(block, self._known, everyone).T
            return self._kept[block][load_rows(first[:, np.newaxis]), load_rows(places)]
        if first.size > second.size or (first.size and self._places[first].min() >= 0):
            return self._compute_products(block, second, first).T.copy()  # the fewer nodes walk
        return self._walk_products(block, first, second)

    def _walk_products(self, block: str, first: Ints, second: Ints) -> Any:
        products = self.engine.xp.empty((first.size, second.size))
        reach, others = get_reach(block), self.engine.load_rows(second)
        for start in range(0, first.size, _ROWS):
            some = first[start : start + _ROWS]
            ends = self._find_ends(block, some)  # [n, rows]
            meetings = self._walker.walk(reach, ends)  # [n, rows]
            products[start : start + _ROWS] = meetings[others].T
            if reach.centred:
                products[start : start + _ROWS] -= (self._compute_mean(block) @ ends)[:, None]
        return products

    def _compute_mean(self, block: str) -> Any:
        if block not in self._means:
            self._means[block] = self._walker.compute_mean_row(get_reach(block), self.walks.n_old)
        return self._means[block]

    def _find_ends(self, block: str, rows: Ints) -> Any:
        """Rows of a block as columns, (n, rows), before they are scaled; notes their lengths."""
        reach = get_reach(block)
        ends = self._walker.compute_rows(rows, reach)
        norms = self._norms.setdefault(block, np.full(self.walks.n, np.nan))
        least = 0.0
        if reach.centred:
            mean = self._compute_mean(block)
            ends -= mean[:, None]
            least = _NOTHING * float(self.engine.xp.linalg.norm(mean))
        lengths = np.sqrt(self.engine.fetch(self.engine.sum_products(ends, ends)))
        norms[rows] = np.where(lengths > least, lengths, 0.0)
        return ends


def _invert(lengths: Matrix) -> Matrix:
    """1/length, and 0 for 0."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


def compute_squared_differences(first: Any, second: Any, xp: Any = np) -> Any:
    """‖a − b‖² for all pairs of rows."""
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1)
    squares -= 2.0 * first @ second.T
    return xp.maximum(squares, 0.0, out=squares)


def compute_median(squared: Matrix) -> float:
    """Median over pairs i < j of a square matrix, of the others where half of them are 0.

    Infinite distances do not count.
    """
    pairs = squared[np.triu_indices(squared.shape[0], 1)]
    pairs = pairs[np.isfinite(pairs)]
    positive = pairs[pairs > 1e-12]
    if positive.size == 0:
        return 0.0
    return float(np.median(pairs if 2 * positive.size > pairs.size else positive))


def compute_kernel(distances: dict[str, Any], kernel: Kernel, xp: Any = np) -> Any:
    """Σ share · exp(−d² / (2 w m)) from d²/m of each block."""
    total: Any = 0.0
    for block, width, share in kernel:
        assert width is not None
        part = distances[block] * (-0.5 / width)
        xp.exp(part, out=part)
        part *= share
        total = total + part
    return total


# -- kernels on known nodes ------------------------------------------------------------------------


class Sample(NamedTuple):
    """Known nodes to choose on, with values (N, K)."""

    blocks: Any  # computes kernels between nodes: ExactBlocks, or KnownKernels of operators
    rows: Ints  # [N]: the nodes
    Y: Matrix
    roots: Matrix | None = None  # [N]: √w of sample weights w, if values are trusted unequally

    def compute_matrix(self, kernel: Kernel) -> Matrix:
        """The matrix of a kernel, weighed by the roots."""
        total = np.zeros((len(self.Y), len(self.Y)))
        for block, width, share in kernel:
            total += share * self._compute_block(block, width)
        return self._weigh(total)

    def stack_matrices(self, terms: Sequence[AttributeTerm]) -> Matrix:
        """The matrices of terms by themselves, (terms, N, N), weighed by the roots."""
        return np.stack([self._weigh(self._compute_block(*term)) for term in terms])

    def _compute_block(self, block: str, width: float | None) -> Matrix:
        kernel = (Term(block, width, 1.0),)
        found = self.blocks.compute_kernel(kernel, self.rows, self.rows)
        return self.blocks.engine.fetch(found)  # type: ignore[no-any-return]

    def _weigh(self, K: Matrix) -> Matrix:
        return K if self.roots is None else K * np.outer(self.roots, self.roots)

    @property
    def targets(self) -> Matrix:
        """Values, weighed by the roots."""
        return self.Y if self.roots is None else self.Y * self.roots[:, np.newaxis]


def share_freely(sample: Sample, terms: Sequence[AttributeTerm]) -> Kernel:
    """All terms with the shares that make the criterion smallest."""
    Ks = sample.stack_matrices(terms)  # [terms, N, N]
    with use_one_blas_thread():
        shares = find_shares(Ks, sample.targets, get_likelihood_part(len(sample.Y)), sample.roots)
    return tuple(Term(*term, float(s)) for term, s in zip(terms, shares, strict=True) if s > 0.0)


def compute_costs(
    sample: Sample,
    kernels: Sequence[Kernel],
    alpha: float | None,
    grid: Matrix,
    least: float = 0.0,
) -> tuple[Matrix, Matrix]:
    """The criterion of each kernel at its best penalty from ``least`` on, and that penalty."""
    matrices = [sample.compute_matrix(kernel) for kernel in kernels]
    costs, best = np.empty(len(kernels)), np.empty(len(kernels))
    targets = sample.targets

    def compute(start: int, stop: int) -> None:
        for i in range(start, stop):
            penalties = list_penalties(matrices[i], alpha, grid, least)
            curve = compute_criterion_curve(matrices[i], targets, penalties, sample.roots)
            j = int(curve.criterion.argmin())
            costs[i], best[i] = curve.criterion[j], curve.alphas[j]

    with use_one_blas_thread():  # but several decompositions at a time
        parallel_for(compute, len(kernels), 1)
    return costs, best


def list_penalties(K: Matrix, alpha: float | None, grid: Matrix, least: float = 0.0) -> Matrix:
    """The given penalty, or a grid of them in units of 1 − mean(K), from ``least`` on.

    A linear kernel may have a mean beyond 1: then a tenth of its variation is the unit.
    """
    if alpha is not None:
        return np.array([alpha])
    unit = max(1.0 - float(K.mean()), 0.1 * measure_variation(K))
    return np.unique(np.maximum(grid * unit, least))


def measure_variation(K: Matrix) -> float:
    """How much a kernel varies at all: mean(diag K) − mean(K)."""
    own = float(np.trace(K)) / len(K)  # 1 but for linear terms
    if abs(own - 1.0) < ROUNDING:
        own = 1.0
    return max(own - float(K.mean()), 1e-12)
