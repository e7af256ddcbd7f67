"""Blocks, width and penalty by closed-form leave-one-out on the known nodes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.learners.nodes.blocks import Kernel, check_block, equal_shares
from gradraker.learners.ridge import dual_inverse, dual_smoother

BLOCK_SETS: tuple[tuple[str, ...], ...] = (
    ("hop1", "hop2", "hop3", "degree"),
    ("hop1", "hop2", "hop3", "pagerank"),
    ("pagerank",),
    ("hop1", "hop2", "hop3"),
    ("degree",),
)
WIDTHS = (0.5, 1.0, 4.0)
ALPHAS = tuple(10.0 ** (k / 2) for k in range(-6, 3))  # 0.001 … 10


class Part(NamedTuple):
    """One ridge regression of an average: its kernel, its penalty α, its weight.

    An infinite α is the mean of the known values.
    """

    kernel: Kernel
    alpha: float
    weight: float

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks."""
        return tuple(term.block for term in self.kernel)


class Tried(NamedTuple):
    """A candidate and the root mean square of its leave-one-out errors."""

    blocks: tuple[str, ...]
    width: float
    alpha: float
    rmse: float


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What was chosen, and how the candidates fared.

    Attributes
    ----------
    parts : tuple of Part
        The ridge regressions whose weighted mean predicts.
    tried : tuple of Tried
        All candidates, the best first; empty where all parameters were given.
    n_used : int
        Known nodes that the choice was made on.
    """

    parts: tuple[Part, ...]
    tried: tuple[Tried, ...]
    n_used: int

    @property
    def best(self) -> Part:
        """The part with the largest weight."""
        return max(self.parts, key=lambda part: part.weight)

    def __repr__(self) -> str:
        if not self.tried:
            return f"Choice: {_words(self.best)} (given)"
        lines = [
            f"Choice: {_words(self.best)}, of {len(self.tried)} candidates by leave-one-out on "
            f"{self.n_used} known nodes"
        ]
        lines += [
            f"  {t.rmse:.4g}  {' + '.join(t.blocks) or 'mean'}"
            + (f", width {t.width:g}, alpha {t.alpha:.3g}" if t.blocks else "")
            for t in self.tried[:8]
        ]
        return "\n".join(lines)


def _words(part: Part) -> str:
    if not part.kernel:
        return "the mean of the known values"
    return f"{' + '.join(part.blocks)}, width {part.kernel[0].width:g}, alpha {part.alpha:.3g}"


def given(blocks: Sequence[str], width: float, alpha: float) -> Choice:
    """The choice where nothing is to choose."""
    return Choice((Part(equal_shares(blocks, width), alpha, 1.0),), (), 0)


def the_mean(n: int) -> Choice:
    """The mean of the known values: all that one or equal values can tell."""
    return Choice((Part((), np.inf, 1.0),), (), n)


def candidate_kernels(blocks: Any, width: Any) -> list[Kernel]:
    """Kernels to try, for blocks and width that are "auto" or given."""
    sets = BLOCK_SETS if isinstance(blocks, str) and blocks == "auto" else (tuple(blocks),)
    widths = WIDTHS if isinstance(width, str) else (float(width),)
    return [equal_shares(names, w) for names in sets for w in widths]


def choose(
    kernel_matrix: Callable[[Kernel], NDArray[np.float64]],
    Y: NDArray[np.float64],
    kernels: Sequence[Kernel],
    alpha: Any,
) -> Choice:
    """Choose the kernel and the penalty with the smallest leave-one-out error.

    Parameters
    ----------
    kernel_matrix : callable
        Kernel matrix (N, N) of the known nodes.
    Y : array of shape (N, K)
        Known values.
    kernels : sequence of Kernel
        Candidates.
    alpha : "auto" or float
        Penalty.
    """
    n = Y.shape[0]
    mean_errors = (Y - Y.mean(axis=0)) * (n / (n - 1.0))
    tried = [Tried((), np.inf, np.inf, _rms(mean_errors))]
    best, part = tried[0], Part((), np.inf, 1.0)
    start = len(ALPHAS) // 2
    for kernel in kernels:
        K = kernel_matrix(kernel)
        names, width = tuple(term.block for term in kernel), kernel[0].width
        at: dict[int, float] = {}

        def error(i: int, K: Any = K, at: dict[int, float] = at) -> float:
            if not 0 <= i < len(ALPHAS):
                return np.inf
            if i not in at:
                at[i] = _rms(dual_smoother(dual_inverse(K, ALPHAS[i])).left_out(Y))
            return at[i]

        if isinstance(alpha, str):
            start = _downhill(error, start)
            found = [Tried(names, width, ALPHAS[i], value) for i, value in at.items()]
        else:
            left_out = dual_smoother(dual_inverse(K, float(alpha))).left_out(Y)
            found = [Tried(names, width, float(alpha), _rms(left_out))]
        tried += found
        leader = min(found, key=lambda t: t.rmse)
        if leader.rmse < best.rmse:
            best, part = leader, Part(kernel, leader.alpha, 1.0)
    return Choice((part,), tuple(sorted(tried, key=lambda t: t.rmse)), n)


def _downhill(error: Callable[[int], float], start: int) -> int:
    """The nearest i whose error is not above that of its neighbours."""
    i = start
    while True:
        j = min((i, i - 1, i + 1), key=error)
        if j == i:
            return i
        i = j


def _rms(errors: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def checked_blocks(blocks: Any) -> Any:
    """Return "auto" or a tuple of block names."""
    if isinstance(blocks, str):
        return blocks if blocks == "auto" else (check_block(blocks),)
    names = tuple(check_block(block) for block in _listed(blocks))
    if not names or len(set(names)) != len(names):
        raise ValueError(f"blocks must be 'auto' or distinct names of blocks, got {blocks!r}")
    return names


def _listed(blocks: Any) -> Iterator[Any]:
    try:
        return iter(blocks)
    except TypeError:
        raise ValueError(f"blocks must be 'auto' or names of blocks, got {blocks!r}") from None
