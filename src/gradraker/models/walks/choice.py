"""Blocks, widths and penalty, chosen on the known nodes in closed form: nothing is held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker._html import render_box, render_facts, render_rows
from gradraker._validation import to_json_number
from gradraker.features.blas import use_one_blas_thread
from gradraker.features.parallel import parallel_for
from gradraker.models.walks.blocks import Kernel, Term, check_block
from gradraker.models.walks.criteria import criterion_curve, criterion_of_mean, likelihood_part
from gradraker.models.walks.shares import found_shares

Matrix = NDArray[np.float64]

DEFAULT_BLOCKS = ("hop1", "hop2", "hop3", "degree")
UNDIRECTED_BLOCKS = (*DEFAULT_BLOCKS, "far", "community", "alternating")
DIRECTED_BLOCKS = (*UNDIRECTED_BLOCKS, "same_targets", "same_sources")
# Widths that blocks may have together, and those that each may have by itself.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
WIDTHS_OF_TERMS = (0.25, 1.0, 8.0)
# Penalties, in units of 1 − mean(K): how much a kernel varies at all.
ALPHAS = np.logspace(-4, 4, 17)
FINE_ALPHAS = np.logspace(-5, 4, 46)
# Nats by which freely chosen shares must beat the default blocks, and blocks the mean.
_NEEDED, _NEEDED_OVER_MEAN = 8.0, 3.0
_SHOWN = 6  # terms in words
_MOST_LISTED = 8  # candidates that a summary lists
# Known nodes from which on all of these nats are asked of blocks, and none.
_ENOUGH, _FEW = 30, 10


def _to_dicts(kernel: Kernel) -> list[dict[str, Any]]:
    terms = sorted(kernel, key=lambda term: -term.share)
    return [{"block": term.block, "width": term.width, "share": term.share} for term in terms]


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

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as a dict that JSON can hold, the largest shares first."""
        return {
            "kernel": _to_dicts(self.kernel),
            "alpha": to_json_number(self.alpha),
            "chosen_on": self.n_used,
            "n_tried": len(self.tried),
            "tried": [
                {"kernel": _to_dicts(one.kernel), "nats": to_json_number(-one.nats)}
                for one in self.tried[:_MOST_LISTED]
            ],
        }

    def _repr_html_(self) -> str:
        told = self.to_dict()
        rows = [(term["block"], term["width"], term["share"]) for term in told["kernel"]]
        table = render_rows(rows, ("Nodes are compared by", "Width", "Share"))
        facts = render_facts(
            [
                ("Penalty", float(self.alpha)),
                ("Candidates", len(self.tried)),
                ("Nodes", self.n_used),
            ]
        )
        return render_box("Choice" if rows else "Choice: the mean", table if rows else "", facts)

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
    """The terms, the largest share first, and of many the first few.

    Examples
    --------
    >>> from gradraker.models.walks.blocks import Term
    >>> from gradraker.models.walks.choice import kernel_in_words
    >>> kernel_in_words((Term("degree", 8.0, 0.25), Term("hop2", 1.0, 0.75)))
    '0.75 hop2 (width 1) + 0.25 degree (width 8)'
    """
    terms = sorted(kernel, key=lambda term: -term.share)
    words = [f"{t.share:.2g} {t.block} (width {t.width:g})" for t in terms[:_SHOWN]]
    more = len(terms) - _SHOWN
    return " + ".join([*words, f"{more} more"] if more > 0 else words)


def mean_of(blocks: Sequence[str], width: float) -> Kernel:
    """The mean of the kernels of some blocks at one width."""
    return tuple(Term(block, width, 1.0 / len(blocks)) for block in blocks)


def the_mean(n: int, tried: tuple[Tried, ...] = ()) -> Choice:
    """The mean of the known values, which is all that there is to say."""
    return Choice((), np.inf, tried, n)


class Sample(NamedTuple):
    """Known nodes to choose on: kernel matrices (N, N) by block and width, and values (N, K)."""

    kernel_matrix: Callable[[str, float], Matrix]
    Y: Matrix

    def matrix(self, kernel: Kernel) -> Matrix:
        """The matrix of a kernel."""
        total = np.zeros((len(self.Y), len(self.Y)))
        for block, width, share in kernel:
            total += share * self.kernel_matrix(block, width)
        return total


def choose_kernel(
    few: Sample,
    many: Sample,
    *,
    blocks: Sequence[str] | None,
    available: Sequence[str],
    width: float | None,
    alpha: float | None,
) -> Choice:
    """Choose what is not given: one width for all blocks on few nodes, shares on many.

    Parameters
    ----------
    few, many : Sample
        Some known nodes, and more of them or all.
    blocks, width, alpha
        What is given, or None.
    available : sequence of names
        Blocks to choose from.
    """
    default = blocks or [block for block in DEFAULT_BLOCKS if block in available] or available
    candidates = [mean_of(default, w) for w in (WIDTHS if width is None else (width,))]
    if len(candidates) > 1:
        costs, _ = _costs(few, candidates, alpha, ALPHAS)
        candidates = [candidates[int(costs.argmin())]]
    if blocks is None:
        widths = WIDTHS_OF_TERMS if width is None else (width,)
        candidates.append(_free(many, [(b, w) for b in available for w in widths]))
    costs, alphas = _costs(many, candidates, alpha, FINE_ALPHAS)
    best = len(costs) - 1 if costs[-1] < costs[0] - _NEEDED else 0
    of_mean = criterion_of_mean(many.Y)
    listed = [Tried(k, float(c - of_mean)) for k, c in zip(candidates, costs, strict=True)]
    tried = tuple(sorted(listed, key=lambda t: t.nats))
    # Few values cannot show much: that similar nodes have similar values is then assumed, unless
    # they speak against it.
    needed = _NEEDED_OVER_MEAN * min(1.0, (len(many.Y) - _FEW) / (_ENOUGH - _FEW))
    if alpha is None and costs[best] >= of_mean - needed:
        return the_mean(len(many.Y), tried)
    return Choice(candidates[best], float(alphas[best]), tried, len(many.Y))


def _free(sample: Sample, terms: Sequence[tuple[str, float]]) -> Kernel:
    """All terms with the shares that make the criterion smallest."""
    Ks = np.stack([sample.kernel_matrix(*term) for term in terms])  # [terms, N, N]
    with use_one_blas_thread():
        shares = found_shares(Ks, sample.Y, likelihood_part(len(sample.Y)))
    return tuple(Term(*term, float(s)) for term, s in zip(terms, shares, strict=True) if s > 0.0)


def _costs(
    sample: Sample, kernels: Sequence[Kernel], alpha: float | None, grid: Matrix
) -> tuple[Matrix, Matrix]:
    """The criterion of each kernel at its best penalty, and that penalty."""
    matrices = [sample.matrix(kernel) for kernel in kernels]
    costs, best = np.empty(len(kernels)), np.empty(len(kernels))

    def compute(start: int, stop: int) -> None:
        for i in range(start, stop):
            curve = criterion_curve(matrices[i], sample.Y, penalties(matrices[i], alpha, grid))
            j = int(curve.criterion.argmin())
            costs[i], best[i] = curve.criterion[j], curve.alphas[j]

    with use_one_blas_thread():  # but several decompositions at a time
        parallel_for(compute, len(kernels), 1)
    return costs, best


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
