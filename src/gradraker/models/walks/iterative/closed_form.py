"""Operators chosen in closed form, from dense kernels between known nodes.

Where few nodes are known, leaving out one after the other costs one decomposition for all
penalties, so that many mixes can be compared, and shares can be found by gradient steps.

Numbers are compared by the criterion of exact kernels (left-out error and likelihood, in nats),
which tells more of few nodes than errors alone; classes by the loss of left-out nodes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.linear.ridge import compute_criterion_of_mean
from gradraker.models.walks.choice import Kernel, Term
from gradraker.models.walks.exact.attribute_choice import average_kernels
from gradraker.models.walks.exact.blocks import (
    FINE_ALPHAS,
    AttributeTerm,
    Sample,
    compute_costs,
    share_freely,
)
from gradraker.models.walks.exact.kernel_choice import FEW, MANY
from gradraker.models.walks.iterative.left_out_predictors import (
    KnownKernels,
    LeaveOneOut,
    LeftOutPredictor,
    average_rows,
)
from gradraker.models.walks.iterative.search import Candidate, Search, Trial
from gradraker.models.walks.judges import is_better, judge_classes
from gradraker.models.walks.operators.chains import invert_root
from gradraker.models.walks.operators.mixes import (
    ALTERNATING,
    DIRECTION,
    LADDERS,
    LEANS,
    WIDTHS,
    Mix,
    list_mixes,
)
from gradraker.models.walks.operators.operators import Operators

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Mixes that are the best on few known nodes and go on to many.
_BEST = 3
# Nodes that a sample of more has at least, or there is none, and at most.
_FEWEST_SAMPLED, _MOST_SAMPLED = 100, 600
# Walks with shares of their own, beside degrees.
_WALKS = ("hop1", "hop4", "hop16", "hop64", "hop256")
# Further ones, by whether walks of 64 steps from different nodes have mixed, which the mean cosine
# of their rows says: the longest where it is small, centred ones where it is large.
_LONGEST, _CENTRED, _MIXING = ("hop999",), ("centred8", "centred16"), "hop64"
_HARDLY_MIXED, _FULLY_MIXED = 0.4, 0.8
# Nats by which shares of more kinds must be better, and any kernel than the mean, if there are so
# many values: fewer cannot show much.
_NEEDED_OF_MORE, _NEEDED_OVER_MEAN = 8.0, 3.0
_FEWEST = 10
_LAZY = "lazy"  # walks among the further kinds
# Walks that few known classes are predicted by, the first that there are, and the largest penalty
# of still fewer: it would leave the commonest class.
_ASSUMED, _TELLING, _MOST_ALPHA_OF_FEW = ("centred", "farther"), 20, 0.5
# Penalties below this are solved too loosely by products.
_LEAST_ALPHA = 0.01
_CLASS_ALPHAS = (0.01, 0.04, 0.1, 0.22, 0.5, 1.1, 2.5, 5.6, 12.5, 28.0, 60.0)


class KnownSample(NamedTuple):
    """Known nodes to choose on, in the order of names that the seed gives."""

    operators: Operators
    kernels: KnownKernels
    known: Rows  # [N]
    Y: Matrix  # [N, K]
    trust: Matrix | None  # [N]: sample weights

    @property
    def tells(self) -> bool:
        """Whether there are different values, among few nodes as well."""
        return self.known.size > 0 and bool(np.ptp(self.Y[:FEW], axis=0).max() > 0.0)

    def take(self, n: int) -> Sample:
        """The first nodes, with values that are centred and scaled."""
        Y = self.Y - self.Y.mean(axis=0)
        Y /= np.abs(Y).max()  # squares of very small values would be 0
        roots = None if self.trust is None else np.sqrt(self.trust[:n])
        return Sample(self.kernels, self.known[:n], (Y / np.sqrt(np.mean(Y**2)))[:n], roots)

    def compare(self, n: int, kernels: Sequence[Kernel], alphas: Sequence[float]) -> list[Trial]:
        """Kernels of classes at their best penalty, the best first, on the first nodes."""
        Y, trust = self.Y[:n], None if self.trust is None else self.trust[:n]
        judge = judge_classes(Y, average_rows(Y, trust), trust=trust)
        some = LeaveOneOut(self.operators, self.known[:n], Y, trust, self.kernels)
        return Search(some, judge).compare(kernels, alphas)


def take_sample(
    operators: Operators,
    predictor: LeftOutPredictor,
    known: Rows,
    Y: Matrix,
    trust: Matrix | None,
    most_entries: int,
) -> KnownSample:
    """All known nodes if they are left out one at a time, else some; none of too large a graph."""
    order = np.argsort(operators.walks.rank[known])
    kernels = predictor.kernels
    if kernels is None:
        most = most_entries // max(1, operators.walks.matrices.A.nnz)
        order = order[: min(_MOST_SAMPLED, most) if most >= _FEWEST_SAMPLED else 0]
        kernels = KnownKernels(operators, known[order])
    trusted = None if trust is None else trust[order]
    return KnownSample(operators, kernels, known[order], Y[order], trusted)


def propose_for_numbers(
    sample: KnownSample,
    *,
    is_directed: bool,
    alpha: float | None = None,
    has_few_classes: bool = False,
) -> tuple[Candidate, ...]:
    """Kernels with a penalty each, the best first by the criterion; none for the mean.

    Mixes are compared on few nodes, shares are found on many, the penalty on all. Few known classes
    are chosen so as well, whose losses would tell too little: half of their kernel are walks that
    reach far (centred ones where they take part), whatever the criterion says. Where no mix is
    better than the mean, all of it are: the mean is not taken.
    """
    if not sample.tells:
        return ()
    few, many = sample.take(FEW), sample.take(MANY)
    leans = list_leans(sample)
    mixes = [mix.to_kernel() for mix in list_mixes(leans)]
    costs, _ = _compute_costs(few, mixes, alpha)
    kernels = [mixes[i] for i in np.argsort(costs)[:_BEST]]
    terms = list_terms(leans)
    kernels.append(share_freely(many, terms))
    costs, alphas = _compute_costs(many, kernels, alpha)
    more = [*terms, *_list_more(is_directed)]
    if _is_worth_more(few, terms, more, alpha):
        kernels.append(share_freely(many, more))
        cost, own = _compute_costs(many, kernels[-1:], alpha)
        costs, alphas = np.append(costs, cost + _NEEDED_OF_MORE), np.append(alphas, own)
    order = np.argsort(costs, kind="stable")
    of_mean = compute_criterion_of_mean(many.targets, many.roots)
    if has_few_classes:
        assumed = next(lean for lean in _ASSUMED if lean in leans)
        is_told = bool(costs[order[0]] < of_mean - _NEEDED_OVER_MEAN)
        both = [kernels[order[0]], Mix(lean=assumed).to_kernel()]
        kernel = average_kernels(many, both, (float(is_told), 1.0))
        penalty = float(_compute_costs(many, [kernel], alpha)[1][0])
        if alpha is None and len(many.Y) < _TELLING:
            penalty = min(penalty, _MOST_ALPHA_OF_FEW)
        return ((kernel, (penalty,)),)
    if sample.known.size > MANY:
        everyone, first = sample.take(sample.known.size), [kernels[order[0]]]
        alphas[order[0]] = _compute_costs(everyone, first, alpha)[1][0]
    needed = _NEEDED_OVER_MEAN if len(many.Y) >= _FEWEST else -np.inf
    if alpha is None and costs[order[0]] >= of_mean - needed:
        return ()
    return tuple((kernels[i], (float(alphas[i]),)) for i in order)


def _compute_costs(
    sample: Sample, kernels: Sequence[Kernel], alpha: float | None
) -> tuple[Matrix, Matrix]:
    return compute_costs(sample, kernels, alpha, FINE_ALPHAS, _LEAST_ALPHA)


def _is_worth_more(
    few: Sample, terms: list[AttributeTerm], more: list[AttributeTerm], alpha: float | None
) -> bool:
    """Whether more kinds of similarity are clearly better on few nodes."""
    both = [share_freely(few, terms), share_freely(few, more)]
    costs, _ = _compute_costs(few, both, alpha)
    return bool(costs[1] < costs[0] - _NEEDED_OF_MORE)


def propose_for_classes(
    sample: KnownSample, *, is_directed: bool, alpha: float | None = None
) -> tuple[Candidate, ...]:
    """Kernels with a penalty each, the best first by the loss of left-out nodes.

    Mixes are compared on few nodes, and the best of them with free shares on all. More kinds of
    similarity take part if they are clearly better on few nodes.
    """
    if not sample.tells:
        return ()
    alphas = _CLASS_ALPHAS if alpha is None else (alpha,)
    leans = list_leans(sample)
    mixes = {mix.to_kernel(): mix for mix in list_mixes(leans)}
    trials = sample.compare(FEW, tuple(mixes), alphas)
    kernels = [trial.kernel for trial in trials[:_BEST]]
    kernels.append(share_freely(sample.take(MANY), list_terms(leans)))
    kinds = ("alternating", "direction") if is_directed else ("alternating",)
    best = mixes[kernels[0]]
    more = [best.set_share(kind, share).to_kernel() for kind in kinds for share in LADDERS[kind]]
    first = sample.compare(FEW, more, alphas)[0]
    if is_better(trials[0].losses, first.losses):
        kernels.append(first.kernel)
    trials = sample.compare(sample.known.size, kernels, alphas)
    return tuple((trial.kernel, (trial.alpha,)) for trial in trials)


def list_leans(sample: KnownSample) -> list[str]:
    """Leans of walks: centred ones where long walks have mixed, the longest where they have not."""
    # Walks of all leans that are taken in any case go together.
    sample.kernels.add_terms(tuple(Term(walk, None, 1.0) for walk in (*_WALKS, "hop8")))
    few, terms = sample.known[:FEW], (Term(_MIXING, None, 1.0),)
    K = sample.kernels.compute_kernel(terms, few, few)
    roots = invert_root(np.diag(K))  # norms are estimates, which would count twice
    mixed = float((roots[:, np.newaxis] * K * roots).mean())
    unused = {
        *(_LONGEST if mixed > _HARDLY_MIXED else ()),
        *(_CENTRED if mixed < _FULLY_MIXED else ()),
    }
    return [lean for lean, shares in LEANS.items() if unused.isdisjoint(shares)]


def list_terms(leans: Sequence[str]) -> list[AttributeTerm]:
    """Terms that have shares of their own: walks of these leans, and degrees."""
    used = set().union(*(LEANS[lean] for lean in leans))
    walks = (*_WALKS, *(walk for walk in (*_LONGEST, *_CENTRED) if walk in used))
    return [*((walk, None) for walk in walks), ("degree", WIDTHS["degree"])]


def _list_more(is_directed: bool) -> list[AttributeTerm]:
    names = (*LEANS[_LAZY], *ALTERNATING, *(DIRECTION if is_directed else ()))
    return [*((name, None) for name in names), ("community", WIDTHS["community"])]
