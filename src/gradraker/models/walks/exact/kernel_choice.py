"""Blocks, widths and penalty, chosen on the known nodes in closed form: nothing is held out."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features.parallel import parallel_for, use_one_blas_thread
from gradraker.linear.ridge import (
    compute_criterion_curve,
    compute_criterion_of_mean,
    find_shares,
    get_likelihood_part,
)
from gradraker.models.walks.choice import Choice, Tried, choose_mean
from gradraker.models.walks.terms import Kernel, Term, share_equally

Matrix = NDArray[np.float64]
AttributeTerm = tuple[str, float | None]  # block and width; None: linear

DEFAULT_BLOCKS = ("hop1", "hop2", "hop3", "degree")
UNDIRECTED_BLOCKS = (*DEFAULT_BLOCKS, "far", "community", "alternating")
DIRECTED_BLOCKS = (*UNDIRECTED_BLOCKS, "same_targets", "same_sources")
# Widths that blocks may have together, and those that each may have by itself.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
WIDTHS_OF_TERMS = (0.25, 1.0, 8.0)
# A mean of ones may differ from 1 by less than this.
_ROUNDING = 1e-9
# Penalties, in units of 1 − mean(K): how much a kernel varies at all.
ALPHAS = np.logspace(-4, 4, 17)
FINE_ALPHAS = np.logspace(-5, 4, 46)
# Nats by which freely chosen shares must beat the default blocks, and blocks the mean.
_NEEDED, _NEEDED_OVER_MEAN = 8.0, 3.0
# The same over an average with attributes, and more, over the number of known nodes: chance can
# follow few values with as many terms, and the fewest as closely as one likes.
_NEEDED_OVER_AVERAGE, _NEEDED_OF_FEW, _FEWEST_FREE = 3.0, 300.0, 20
# Part of all weights below which a kernel is left out of an average.
_LEAST_WEIGHT = 0.01
# The weights of the mean, and of walks among kernels, in an average before values are seen.
_PRIOR_OF_MEAN, _PRIOR_OF_WALKS = 1.0 / 3.0, 0.5
# Penalties to average over, in units of a kernel's variation; those below a hundredth count less.
_AVERAGED_ALPHAS = np.logspace(-4, 2, 25)
_PRIOR_OF_ALPHAS = np.sqrt(np.minimum(1.0, _AVERAGED_ALPHAS / 0.01))
# Left-out errors and likelihood tell partly the same: so much of their sum counts.
_COUNTED = 0.75
# Known nodes from which on useless terms are dropped on a part of them.
_MANY_ENOUGH = 400
_RULE = (
    "equal shares, unless free ones are better by 8 nats (left-out error and likelihood, in closed "
    "form)"
)
_RULE_OF_ATTRIBUTES = (
    "kernels of walks and attributes and the mean, averaged by how likely they make the values, "
    "unless free shares are better by {:.0f} nats (left-out error and likelihood, in closed form)"
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
    local: Sequence[AttributeTerm] = (),
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
    local : sequence of (block, width)
        More of them, which only free shares may take.
    """
    default = blocks or [block for block in DEFAULT_BLOCKS if block in available] or available
    by_width = [share_equally(default, w) for w in (WIDTHS if width is None else (width,))]
    if not default:  # nothing but attributes tells nodes apart
        by_width = []
    candidates = by_width
    if len(candidates) > 1:
        costs, _ = _compute_costs(few, candidates, alpha, ALPHAS)
        candidates = [candidates[int(costs.argmin())]]
    widths = WIDTHS_OF_TERMS if width is None else (width,)
    walks: list[AttributeTerm] = [(b, w) for b in available for w in widths]
    if blocks is None and walks:
        candidates = [*candidates, share_freely(many, walks)]
    costs, alphas = _compute_costs(many, candidates, alpha, FINE_ALPHAS)
    best, rule = 1 if len(costs) > 1 and costs[1] < costs[0] - _NEEDED else 0, _RULE
    if blocks is None and attributes:
        can_be_free = len(many.Y) >= _FEWEST_FREE
        plain = candidates[best : best + 1] if can_be_free else [*by_width, *candidates[1:]]
        handicap = np.zeros(len(plain))
        handicap[len(by_width) :] = _NEEDED
        average, penalty = _average_with_attributes(many, plain, handicap, attributes, alpha)
        best, added = len(candidates), [average]
        if can_be_free:
            added.append(share_freely(many, _drop_useless(few, [*walks, *attributes, *local])))
        more, more_alphas = _compute_costs(many, added, alpha, FINE_ALPHAS)
        candidates, costs = [*candidates, *added], np.append(costs, more)
        alphas = np.append(alphas, [penalty, *more_alphas[1:]])
        needed = _NEEDED_OVER_AVERAGE + _NEEDED_OF_FEW / len(many.Y)
        if len(added) > 1 and more[1] < costs[:-1].min() - needed:
            best += 1
        rule = _RULE_OF_ATTRIBUTES.format(needed)
    of_mean = compute_criterion_of_mean(many.targets, many.roots)
    listed = [Tried(k, float(c - of_mean)) for k, c in zip(candidates, costs, strict=True)]
    tried = tuple(sorted(listed, key=lambda t: t.nats))
    # Few values cannot show much: that similar nodes have similar values is then assumed, unless
    # they speak against it.
    needed = _NEEDED_OVER_MEAN * min(1.0, (len(many.Y) - _FEW) / (_ENOUGH - _FEW))
    if alpha is None and costs[best] >= of_mean - needed:
        return choose_mean(len(many.Y), tried)
    return Choice(candidates[best], float(alphas[best]), tried, len(many.Y), rule=rule)


def _average_with_attributes(
    sample: Sample,
    walks: Sequence[Kernel],
    handicap: Matrix,
    terms: Sequence[AttributeTerm],
    alpha: float | None,
) -> tuple[Kernel, float]:
    """Kernels of walks, of attributes and of both, at all penalties, and the mean, averaged.

    Each counts by how likely it makes the values, exp(−0.75 · criterion); kernels of walks may have
    a handicap, in nats. Penalties are averaged in logarithms, and the mean counts as the largest of
    them: few values leave some of each kernel and a large penalty, many leave one kernel. Before
    values are seen, walks have half of the weight of all kernels; linear attributes, attributes,
    and both with walks share the other half.
    """
    own = [term for term in terms if term[0] == "attributes"]
    linear = [term for term in own if term[1] is None]
    alone = list(dict.fromkeys(_share_terms(some) for some in (linear, own, terms) if some))
    both: list[Kernel] = []
    if walks:
        costs = _compute_costs(sample, walks, alpha, FINE_ALPHAS)[0] + handicap
        best = walks[int(costs.argmin())]
        both = [average_kernels(sample, [best, k], [0.5, 0.5]) for k in alone]
    groups = [group for group in (alone[:1], alone[1:], both) if group]
    kernels = [*walks, *(kernel for group in groups for kernel in group)]
    part = (1.0 - _PRIOR_OF_WALKS if walks else 1.0) / len(groups)
    prior = np.array(
        [_PRIOR_OF_WALKS / len(walks) for _ in walks]
        + [part / len(group) for group in groups for _ in group]
    )
    curves = _compute_curves(sample, kernels, alpha)  # [kernels, penalties]
    curves[: len(walks)] += handicap[:, np.newaxis]
    of_mean = compute_criterion_of_mean(sample.targets, sample.roots)
    least = min(of_mean, float(curves.min()))
    weights = prior[:, np.newaxis] * np.exp(_COUNTED * (least - curves))
    if alpha is not None:
        return average_kernels(sample, kernels, weights[:, 0]), alpha
    weights *= (1.0 - _PRIOR_OF_MEAN) * _PRIOR_OF_ALPHAS / _PRIOR_OF_ALPHAS.sum()
    mean = _PRIOR_OF_MEAN * float(np.exp(_COUNTED * (least - of_mean)))
    logs = np.log(_AVERAGED_ALPHAS)
    log_alpha = (float(np.sum(weights @ logs)) + mean * logs[-1]) / (float(weights.sum()) + mean)
    signals = (weights / (1.0 + _AVERAGED_ALPHAS)).sum(axis=1)  # [kernels]: without noise
    average = average_kernels(sample, kernels, signals)
    return average, measure_variation(sample.compute_matrix(average)) * float(np.exp(log_alpha))


def _compute_curves(sample: Sample, kernels: Sequence[Kernel], alpha: float | None) -> Matrix:
    """The criterion of each kernel at each penalty, (kernels, penalties)."""
    curves = []
    for kernel in kernels:
        K = sample.compute_matrix(kernel)
        penalties = np.array([alpha]) if alpha else measure_variation(K) * _AVERAGED_ALPHAS
        with use_one_blas_thread(len(K)):
            curve = compute_criterion_curve(K, sample.targets, penalties, sample.roots)
        curves.append(curve.criterion)
    return np.array(curves)


def average_kernels(
    sample: Sample, kernels: Sequence[Kernel], weights: Sequence[float] | Matrix
) -> Kernel:
    """A sum of kernels that are scaled to vary equally on the sample; small weights are left out.

    A wide Gaussian kernel hardly varies, and would be lost in a sum of kernels as they are.
    """
    least = _LEAST_WEIGHT * float(np.sum(weights))
    shares: dict[AttributeTerm, float] = {}
    for kernel, weight in zip(kernels, weights, strict=True):
        variation = measure_variation(sample.compute_matrix(kernel))
        if weight > least and variation > _ROUNDING:
            for block, width, share in kernel:
                old = shares.get((block, width), 0.0)
                shares[block, width] = old + float(weight) * share / variation
    total = sum(shares.values())
    if not total:  # no kernel tells these nodes apart
        return kernels[0]
    return tuple(Term(*term, share / total) for term, share in shares.items())


def _share_terms(terms: Sequence[AttributeTerm]) -> Kernel:
    """The mean of some terms; of Gaussian ones, those at the middle width."""
    widths = sorted({width for _, width in terms if width is not None})
    middle = (None, widths[len(widths) // 2]) if widths else (None,)
    kept = [(block, width) for block, width in terms if width in middle]
    return tuple(Term(block, width, 1.0 / len(kept)) for block, width in kept)


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
    """The given penalty, or a grid of them in units of 1 − mean(K).

    A linear kernel may have a mean beyond 1: then a tenth of its variation is the unit.
    """
    if alpha is not None:
        return np.array([alpha])
    return grid * max(1.0 - float(K.mean()), 0.1 * measure_variation(K))


def measure_variation(K: Matrix) -> float:
    """How much a kernel varies at all: mean(diag K) − mean(K)."""
    own = float(np.trace(K)) / len(K)  # 1 but for linear terms
    if abs(own - 1.0) < _ROUNDING:
        own = 1.0
    return max(own - float(K.mean()), 1e-12)
