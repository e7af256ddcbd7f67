"""Blocks, widths and penalty, chosen on the known nodes in closed form: nothing is held out."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from gradraker.features.threads import over_rows
from gradraker.learners.nodes.blocks import Kernel, Term, check_block
from gradraker.learners.nodes.criteria import (
    criterion_curve,
    criterion_of_mean,
    likelihood_part,
)
from gradraker.learners.nodes.shares import found_shares

Matrix = NDArray[np.float64]

DEFAULT_BLOCKS = ("hop1", "hop2", "hop3", "degree")
UNDIRECTED_BLOCKS = (*DEFAULT_BLOCKS, "far", "alternating")
DIRECTED_BLOCKS = (*UNDIRECTED_BLOCKS, "same_targets", "same_sources")
# Widths that blocks may have together, and those that each may have by itself.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
WIDTHS_OF_TERMS = (0.25, 1.0, 8.0)
# Penalties, in units of 1 − mean(K): how much a kernel varies at all.
ALPHAS = np.logspace(-4, 4, 17)
FINE_ALPHAS = np.logspace(-5, 4, 46)
# Nats by which freely chosen shares must beat the default blocks, and blocks the mean.
_NEEDED, _NEEDED_OVER_MEAN = 8.0, 3.0
# Rows of matrices from which on products gain by a second thread.
_LARGE = 300


class Tried(NamedTuple):
    """A candidate: its kernel, and its criterion in nats relative to the mean's."""

    kernel: Kernel
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
        All candidates, the best first; empty where all was given.
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
        return tuple(dict.fromkeys(term.block for term in self.kernel))

    def __repr__(self) -> str:
        text = f"{kernel_in_words(self.kernel)}, alpha {self.alpha:.3g}"
        if not self.kernel:
            text = "the mean of the known values"
        if not self.tried:
            return f"Choice: {text}"
        lines = [
            f"Choice: {text}; of {len(self.tried)} kernels on {self.n_used} known nodes",
            "  nats better than the mean",
        ]
        lines += [f"  {-t.nats:8.1f}  {kernel_in_words(t.kernel)}" for t in self.tried]
        return "\n".join(lines)


def kernel_in_words(kernel: Kernel) -> str:
    """The terms, the largest share first.

    Examples
    --------
    >>> from gradraker.learners.nodes.blocks import Term
    >>> from gradraker.learners.nodes.choice import kernel_in_words
    >>> kernel_in_words((Term("degree", 8.0, 0.25), Term("hop2", 1.0, 0.75)))
    '0.75 hop2 (width 1) + 0.25 degree (width 8)'
    """
    terms = sorted(kernel, key=lambda term: -term.share)
    return " + ".join(f"{t.share:.2g} {t.block} (width {t.width:g})" for t in terms)


def mean_of(blocks: Sequence[str], width: float) -> Kernel:
    """The mean of the kernels of some blocks at one width."""
    return tuple(Term(block, width, 1.0 / len(blocks)) for block in blocks)


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
    matrices = _Matrices(kernel_matrix)
    default = blocks or [block for block in DEFAULT_BLOCKS if block in available] or available
    widths = WIDTHS if width is None else (width,)
    candidates = [mean_of(default, w) for w in widths]
    if blocks is None:
        terms = [(b, w) for b in available for w in (WIDTHS_OF_TERMS if width is None else widths)]
        Ks = np.stack([matrices[term] for term in terms])  # [terms, N, N]
        with _blas_threads(len(Y)):
            shares = found_shares(Ks, Y, likelihood_part(len(Y)))
        free = [Term(*term, float(s)) for term, s in zip(terms, shares, strict=True) if s > 0.0]
        candidates.append(tuple(free))
    costs, alphas = _costs(matrices, Y, candidates, alpha)
    best = int(np.argmin(costs[: len(widths)]))
    if blocks is None and costs[-1] < costs[best] - _NEEDED:
        best = len(costs) - 1
    of_mean = criterion_of_mean(Y)
    listed = [Tried(k, float(c - of_mean)) for k, c in zip(candidates, costs, strict=True)]
    tried = tuple(sorted(listed, key=lambda t: t.nats))
    if alpha is None and costs[best] >= of_mean - _NEEDED_OVER_MEAN:
        return the_mean(len(Y), tried)
    return Choice(candidates[best], float(alphas[best]), tried, len(Y))


class _Matrices(dict[tuple[str, float], Matrix]):
    """Kernel matrices by (block, width), each made once."""

    def __init__(self, make: Callable[[str, float], Matrix]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, term: tuple[str, float]) -> Matrix:
        self[term] = self._make(*term)
        return self[term]


def _costs(
    matrices: _Matrices, Y: Matrix, kernels: Sequence[Kernel], alpha: float | None
) -> tuple[Matrix, Matrix]:
    """The criterion of each kernel at its best penalty, and that penalty."""
    sums = [sum(t.share * matrices[t.block, t.width] for t in kernel) for kernel in kernels]
    costs, best = np.empty(len(kernels)), np.empty(len(kernels))

    def compute(start: int, stop: int) -> None:
        for i in range(start, stop):
            K = np.asarray(sums[i])
            curve = criterion_curve(K, Y, penalties(K, alpha, ALPHAS))
            j = int(curve.criterion.argmin())
            costs[i], best[i] = curve.criterion[j], curve.alphas[j]

    with _blas_threads(0):  # one thread a decomposition, several decompositions at a time
        over_rows(compute, len(kernels), 1)
    return costs, best


def _blas_threads(n: int) -> AbstractContextManager[Any]:
    """One BLAS thread for small matrices, whose threads wait more than they work."""
    if n > _LARGE:
        return nullcontext()
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # to find them takes some ten milliseconds


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
