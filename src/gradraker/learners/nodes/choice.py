"""Blocks, widths and penalty, chosen on the known nodes in closed form: nothing is held out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from gradraker.features.threads import over_rows
from gradraker.learners.nodes.blocks import Kernel, Term, check_block
from gradraker.learners.nodes.criteria import criterion_curve, criterion_of_mean

Matrix = NDArray[np.float64]
# Widths per block and all its pairs: one that is chosen freely starts at 1.
Widths = dict[str, float]

DEFAULT_BLOCKS = ("hop1", "hop2", "hop3", "degree")
UNDIRECTED_BLOCKS = (*DEFAULT_BLOCKS, "far", "alternating")
DIRECTED_BLOCKS = (*UNDIRECTED_BLOCKS, "same_targets", "same_sources")
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# Penalties, in units of 1 − mean(K): how much a kernel varies at all.
ALPHAS = np.logspace(-4, 4, 17)
FINE_ALPHAS = np.logspace(-5, 4, 46)
# Nats by which freely chosen blocks must beat the default ones, and blocks the mean.
_NEEDED, _NEEDED_OVER_MEAN = 8.0, 3.0


class Tried(NamedTuple):
    """A candidate: its widths by block, and its criterion in nats relative to the mean's."""

    widths: tuple[tuple[str, float], ...]
    nats: float


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What was chosen, and how the candidates fared.

    Attributes
    ----------
    kernel : tuple of Term
        Terms (block, width, share) of the kernel; none for the mean of the known values.
    alpha : float
        Penalty; infinite for the mean.
    tried : tuple of Tried
        All candidates, the best first; empty where blocks and width were given.
    n_used : int
        Known nodes that blocks and widths were chosen on.
    """

    kernel: Kernel
    alpha: float
    tried: tuple[Tried, ...]
    n_used: int

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks."""
        return tuple(term.block for term in self.kernel)

    def __repr__(self) -> str:
        if not self.kernel:
            text = "the mean of the known values"
        else:
            text = f"{_words((t.block, t.width) for t in self.kernel)}, alpha {self.alpha:.3g}"
        if not self.tried:
            return f"Choice: {text}"
        lines = [
            f"Choice: {text}; best of {len(self.tried)} kernels on {self.n_used} known nodes",
            "  nats better than the mean",
        ]
        lines += [f"  {-t.nats:8.1f}  {_words(t.widths)}" for t in self.tried[:5]]
        return "\n".join(lines)


def _words(widths: Iterable[tuple[str, float]]) -> str:
    return " + ".join(f"{block} (width {width:g})" for block, width in widths)


def mean_of(widths: Widths) -> Kernel:
    """The mean of the kernels of blocks."""
    return tuple(Term(block, width, 1.0 / len(widths)) for block, width in sorted(widths.items()))


def the_mean(n: int, tried: tuple[Tried, ...] = ()) -> Choice:
    """The mean of the known values, which is all that there is to say."""
    return Choice((), np.inf, tried, n)


def choose_kernel(
    kernel_matrix: Callable[[str, float], Matrix],
    Y: Matrix,
    *,
    blocks: Sequence[str] | None,
    available: Sequence[str],
    width: float | None,
    alpha: float | None,
) -> Choice:
    """Choose what is not given; the penalty is for the nodes of Y, a fine one is chosen later.

    Parameters
    ----------
    kernel_matrix : callable
        (block, width) → kernel matrix (N, N) of known nodes.
    Y : array of shape (N, K)
        Their values.
    blocks, width, alpha
        What is given, or None.
    available : sequence of names
        Blocks to choose from.
    """
    search = _Search(kernel_matrix, Y, alpha)
    widths = WIDTHS if width is None else (width,)
    first = 1.0 if width is None else width
    if blocks is not None:
        best = search.common_width(dict.fromkeys(blocks, first), widths)
    else:
        default = [block for block in DEFAULT_BLOCKS if block in available] or list(available)
        best = search.common_width(dict.fromkeys(default, first), widths)
        free = search.free(available, widths, first)
        if search.cost(free) < search.cost(best) - _NEEDED:
            best = search.own_widths(free) if width is None and len(free) > 1 else free
    of_mean = criterion_of_mean(Y)
    tried = search.tried(of_mean)
    if alpha is None and search.cost(best) >= of_mean - _NEEDED_OVER_MEAN:
        return the_mean(len(Y), tried)
    return Choice(mean_of(best), search.alpha(best), tried, len(Y))


class _Search:
    """Costs of kernels, each computed once; several at a time on a few threads."""

    def __init__(
        self, kernel_matrix: Callable[[str, float], Matrix], Y: Matrix, alpha: float | None
    ) -> None:
        self._kernel_matrix, self._Y, self._alpha = kernel_matrix, Y, alpha
        self._matrices: dict[tuple[str, float], Matrix] = {}
        self._found: dict[tuple[tuple[str, float], ...], tuple[float, float]] = {}

    def cost(self, widths: Widths) -> float:
        """The criterion at the best penalty."""
        self._evaluate([widths])
        return self._found[_key(widths)][0]

    def alpha(self, widths: Widths) -> float:
        """The best penalty."""
        self._evaluate([widths])
        return self._found[_key(widths)][1]

    def best(self, candidates: Sequence[Widths]) -> Widths:
        """The candidate with the smallest criterion."""
        self._evaluate(candidates)
        return min(candidates, key=self.cost)

    def tried(self, of_mean: float) -> tuple[Tried, ...]:
        """All candidates, the best first."""
        found = [Tried(key, cost - of_mean) for key, (cost, _) in self._found.items()]
        return tuple(sorted(found, key=lambda tried: (tried.nats, tried.widths)))

    def _evaluate(self, candidates: Sequence[Widths]) -> None:
        keys = list(dict.fromkeys(_key(widths) for widths in candidates))
        new = [key for key in keys if key not in self._found]
        if not new:
            return
        for term in {term for key in new for term in key if term not in self._matrices}:
            self._matrices[term] = self._kernel_matrix(*term)

        def compute(start: int, stop: int) -> None:
            for key in new[start:stop]:
                K = sum(self._matrices[term] for term in key) / len(key)
                alphas = penalties(np.asarray(K), self._alpha, ALPHAS)
                curve = criterion_curve(np.asarray(K), self._Y, alphas)
                i = int(curve.criterion.argmin())
                self._found[key] = float(curve.criterion[i]), float(alphas[i])

        # One thread a decomposition: threads within one of 500 nodes wait more than they work.
        with _libraries().limit(limits=1, user_api="blas"):
            over_rows(compute, len(new), 1)

    def common_width(self, widths: Widths, grid: Sequence[float]) -> Widths:
        """The best width for all blocks, climbing from the present one both ways."""
        best = widths
        start = grid.index(next(iter(widths.values())))
        for step in (1, -1):
            i = start + step
            while 0 <= i < len(grid):
                candidate = dict.fromkeys(widths, grid[i])
                if self.cost(candidate) < self.cost(best):
                    best = candidate
                elif abs(i - start) >= 2:
                    break
                i += step
        return best

    def free(self, available: Sequence[str], grid: Sequence[float], first: float) -> Widths:
        """From the best block, or all of them: add or drop one while it helps, then the width."""
        candidates = [{block: first} for block in available]
        best = self.best([*candidates, dict.fromkeys(available, first)])
        for _ in range(2):
            best = self.common_width(self._subset(best, available), grid)
        return best

    def _subset(self, widths: Widths, available: Sequence[str]) -> Widths:
        while True:
            width = next(iter(widths.values()))
            moves = [{**widths, block: width} for block in available if block not in widths]
            if len(widths) > 1:
                moves += [{b: w for b, w in widths.items() if b != out} for out in widths]
            if not moves:
                return widths
            best = self.best(moves)
            if self.cost(best) >= self.cost(widths):
                return widths
            widths = best

    def own_widths(self, widths: Widths) -> Widths:
        """A quarter or four times the width of each block in turn, where it helps."""
        for block, width in list(widths.items()):
            others = [w for w in (width / 4.0, width * 4.0) if WIDTHS[0] <= w <= WIDTHS[-1]]
            widths = self.best([widths, *({**widths, block: w} for w in others)])
        return widths


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # to find them takes some ten milliseconds


def _key(widths: Widths) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(widths.items()))


def penalties(K: Matrix, alpha: float | None, grid: Matrix) -> Matrix:
    """The given penalty, or a grid of them in units of 1 − mean(K)."""
    if alpha is not None:
        return np.array([alpha])
    return grid * max(1.0 - float(K.mean()), 1e-12)


def checked_blocks(blocks: Any) -> tuple[str, ...] | None:
    """Return a tuple of block names, or None for "auto"."""
    if isinstance(blocks, str):
        return None if blocks == "auto" else (check_block(blocks),)
    try:
        names = tuple(check_block(block) for block in blocks)
    except TypeError:
        raise ValueError(f"blocks must be 'auto' or names of blocks, got {blocks!r}") from None
    if not names or len(set(names)) != len(names):
        raise ValueError(f"blocks must be 'auto' or distinct names of blocks, got {blocks!r}")
    return names
