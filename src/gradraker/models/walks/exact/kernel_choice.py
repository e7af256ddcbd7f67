"""Blocks, widths and penalty, chosen on the known nodes in closed form: nothing is held out."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features.blas import use_one_blas_thread
from gradraker.features.parallel import parallel_for
from gradraker.models.walks.choice import Choice, Tried, choose_mean
from gradraker.models.walks.exact.criteria import (
    compute_criterion_curve,
    compute_criterion_of_mean,
    get_likelihood_part,
)
from gradraker.models.walks.exact.shares import find_shares
from gradraker.models.walks.terms import Kernel, Term, share_equally

Matrix = NDArray[np.float64]
AttributeTerm = tuple[str, float | None]  # block and width; None: linear

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
# Nats by which attributes must beat walks: so many, and more with about 40 known nodes, whose
# values chance can follow with as many terms; fewer nodes cannot show more.
_NEEDED_OF_ATTRIBUTES, _NEEDED_OF_FEW, _SHOWN_BY_NODE = 8.0, 400.0, 0.5
# Known nodes from which on useless terms are dropped on a part of them.
_MANY_ENOUGH = 400
_RULE = (
    "equal shares, unless free ones are better by 8 nats (left-out error and likelihood, in closed "
    "form)"
)
# Known nodes from which on all of these nats are asked of blocks, and none.
_ENOUGH, _FEW = 30, 10


class Sample(NamedTuple):
    """Known nodes to choose on: kernel matrices (N, N) by block and width, and values (N, K)."""

    kernel_matrix: Callable[[str, float | None], Matrix]
    Y: Matrix
    roots: Matrix | None = None  # [N]: √w of sample weights w, if values are trusted unequally

    def compute_matrix(self, kernel: Kernel) -> Matrix:
        """The matrix of a kernel, weighed by the roots."""
        total = np.zeros((len(self.Y), len(self.Y)))
        for block, width, share in kernel:
            total += share * self.kernel_matrix(block, width)
        return self._weigh(total)

    def stack_matrices(self, terms: Sequence[AttributeTerm]) -> Matrix:
        """The matrices of terms by themselves, (terms, N, N), weighed by the roots."""
        return np.stack([self._weigh(self.kernel_matrix(*term)) for term in terms])

    def _weigh(self, K: Matrix) -> Matrix:
        return K if self.roots is None else K * np.outer(self.roots, self.roots)

    @property
    def targets(self) -> Matrix:
        """Values, weighed by the roots."""
        return self.Y if self.roots is None else self.Y * self.roots[:, np.newaxis]


def choose_kernel(
    few: Sample,
    many: Sample,
    *,
    blocks: Sequence[str] | None,
    available: Sequence[str],
    width: float | None,
    alpha: float | None,
    attributes: Sequence[AttributeTerm] = (),
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
    attributes : sequence of (block, width)
        Terms of attributes to choose from.
    """
    default = blocks or [block for block in DEFAULT_BLOCKS if block in available] or available
    candidates = [share_equally(default, w) for w in (WIDTHS if width is None else (width,))]
    if not default:  # nothing but attributes tells nodes apart
        candidates = [_share_terms(attributes)]
    if len(candidates) > 1:
        costs, _ = _compute_costs(few, candidates, alpha, ALPHAS)
        candidates = [candidates[int(costs.argmin())]]
    if blocks is None:
        widths = WIDTHS_OF_TERMS if width is None else (width,)
        walks: list[AttributeTerm] = [(b, w) for b in available for w in widths]
        if walks:
            candidates.append(share_freely(many, walks))
        if attributes:
            both = (*_scale_half(candidates[0]), *_scale_half(_share_terms(attributes)))
            candidates.append(both if default else candidates[0])
            candidates.append(share_freely(many, _drop_useless(few, [*walks, *attributes])))
    costs, alphas = _compute_costs(many, candidates, alpha, FINE_ALPHAS)
    best = 0
    n = len(many.Y)
    needed_more = min(_NEEDED_OF_ATTRIBUTES + _NEEDED_OF_FEW / n, _SHOWN_BY_NODE * n)
    for number in range(1, len(costs)):
        if costs[number] < costs[best] - (_NEEDED if number == 1 else needed_more):
            best = number
    of_mean = compute_criterion_of_mean(many.targets, many.roots)
    listed = [Tried(k, float(c - of_mean)) for k, c in zip(candidates, costs, strict=True)]
    tried = tuple(sorted(listed, key=lambda t: t.nats))
    # Few values cannot show much: that similar nodes have similar values is then assumed, unless
    # they speak against it.
    needed = _NEEDED_OVER_MEAN * min(1.0, (len(many.Y) - _FEW) / (_ENOUGH - _FEW))
    if alpha is None and costs[best] >= of_mean - needed:
        return choose_mean(len(many.Y), tried)
    return Choice(candidates[best], float(alphas[best]), tried, len(many.Y), rule=_RULE)


def _share_terms(terms: Sequence[AttributeTerm]) -> Kernel:
    """The mean of some terms; of Gaussian ones, those at the middle width."""
    widths = sorted({width for _, width in terms if width is not None})
    middle = (None, widths[len(widths) // 2]) if widths else (None,)
    kept = [(block, width) for block, width in terms if width in middle]
    return tuple(Term(block, width, 1.0 / len(kept)) for block, width in kept)


def _scale_half(kernel: Kernel) -> Kernel:
    return tuple(term._replace(share=0.5 * term.share) for term in kernel)


def _drop_useless(few: Sample, terms: Sequence[AttributeTerm]) -> list[AttributeTerm]:
    """The terms that free shares keep on few nodes: many nodes and many terms take long."""
    if len(few.Y) < _MANY_ENOUGH:
        return list(terms)
    return [(term.block, term.width) for term in share_freely(few, terms)]


def share_freely(sample: Sample, terms: Sequence[AttributeTerm]) -> Kernel:
    """All terms with the shares that make the criterion smallest."""
    Ks = sample.stack_matrices(terms)  # [terms, N, N]
    with use_one_blas_thread():
        shares = find_shares(Ks, sample.targets, get_likelihood_part(len(sample.Y)), sample.roots)
    return tuple(Term(*term, float(s)) for term, s in zip(terms, shares, strict=True) if s > 0.0)


def _compute_costs(
    sample: Sample, kernels: Sequence[Kernel], alpha: float | None, grid: Matrix
) -> tuple[Matrix, Matrix]:
    """The criterion of each kernel at its best penalty, and that penalty."""
    matrices = [sample.compute_matrix(kernel) for kernel in kernels]
    costs, best = np.empty(len(kernels)), np.empty(len(kernels))
    targets = sample.targets

    def compute(start: int, stop: int) -> None:
        for i in range(start, stop):
            penalties = list_penalties(matrices[i], alpha, grid)
            curve = compute_criterion_curve(matrices[i], targets, penalties, sample.roots)
            j = int(curve.criterion.argmin())
            costs[i], best[i] = curve.criterion[j], curve.alphas[j]

    with use_one_blas_thread():  # but several decompositions at a time
        parallel_for(compute, len(kernels), 1)
    return costs, best


def list_penalties(K: Matrix, alpha: float | None, grid: Matrix) -> Matrix:
    """The given penalty, or a grid of them in units of 1 − mean(K)."""
    if alpha is not None:
        return np.array([alpha])
    return grid * max(1.0 - float(K.mean()), 1e-12)
