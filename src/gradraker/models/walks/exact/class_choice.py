"""Attributes and walks for classes: mixes of few numbers, compared by known nodes left out.

Squared errors of one-hot classes choose poorly when few labels are known: the penalty comes out too
small, and free shares follow chance. So mixes are made beforehand, and compared by the loss of
:func:`gradraker.models.walks.judges.judge_classes`; free shares are one more candidate.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import use_one_blas_thread
from gradraker.models.walks.choice import Choice, Kernel, Term, Tried, choose_mean
from gradraker.models.walks.exact.attribute_choice import average_kernels
from gradraker.models.walks.exact.blocks import (
    AttributeTerm,
    Sample,
    list_penalties,
    measure_variation,
    share_freely,
)
from gradraker.models.walks.judges import is_better, judge_classes

Matrix = NDArray[np.float64]
# Shares of own attributes, neighbours' attributes and walks.
_MIXES = (
    (0.1, 0.9, 0.0),
    (0.05, 0.65, 0.3),
    (0.05, 0.35, 0.6),
    (0.5, 0.5, 0.0),
    (0.4, 0.3, 0.3),
    (0.6, 0.0, 0.4),
    (1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0),
)
_ALPHAS = np.logspace(-4, 2, 19)
_OFFSETS = (1.0, 0.5, 0.0)
# Standard errors by which a mix with attributes must be better than walks alone.
_NEEDED = 0.5
_RULE = "the mix of attributes and walks with the smallest loss of known nodes left out"
# Labels per class below which mixes are averaged, and the weight of walks before labels are seen.
_FEW_LABELS, _PRIOR_OF_WALKS = 6, 0.4
_RULE_OF_FEW = "mixes of attributes and walks, averaged by losses of known nodes left out"


class _Scored(NamedTuple):
    """A kernel at its best penalty."""

    kernel: Kernel
    alpha: float
    losses: Matrix  # [N]

    @property
    def loss(self) -> float:
        return float(self.losses.mean())


def choose_for_classes(
    sample: Sample,
    walks: Choice,
    terms: Sequence[AttributeTerm],
    *,
    has_words: bool,
    alpha: float | None,
) -> Choice:
    """Choose a mix and a penalty by the loss of left-out nodes.

    Parameters
    ----------
    sample : Sample
        Known nodes, with values (N, K) that were one-hot before they were centred.
    walks : Choice
        What was chosen without attributes.
    terms : sequence of (block, width)
        Terms of attributes.
    has_words : bool
        Whether attributes are words: their neighbours' are averaged over a region.
    alpha : float, optional
        A penalty that is given.
    """
    codes = sample.Y.argmax(axis=1)
    Y = np.zeros_like(sample.Y)
    Y[np.arange(codes.size), codes] = 1.0
    far = "neighbour_attributes" if has_words else None
    plain_terms = _take_middle(terms)
    own = _share([t for t in plain_terms if t[0] == "attributes"])
    others = [t for t in plain_terms if t[0] != "attributes"]
    around = _share([t for t in others if far is None or t[0] == far])
    kernels = [mix for shares in _MIXES if (mix := _mix(shares, (own, around, walks.kernel)))]
    if not has_words:  # few labels may not tell curves apart
        linear = _share([t for t in terms if t == ("attributes", None)])
        kernels += [linear, _mix((0.6, 0.0, 0.4), (linear, (), walks.kernel))]
    by_penalty = [_score(sample, k, Y, alpha) for k in dict.fromkeys(kernels) if k]
    scored = [min(listed, key=lambda one: one.loss) for listed in by_penalty]
    of_mean = float(judge_classes(Y, Y.mean(axis=0), (1.0,))(_leave_out_mean(Y))[0].mean())
    if len(Y) < _FEW_LABELS * Y.shape[1]:
        return _average_mixes(sample, by_penalty, walks.kernel, of_mean)
    best = min(scored, key=lambda one: one.loss)
    free = share_freely(sample, [*terms, *((t.block, t.width) for t in walks.kernel)])
    scored.append(min(_score(sample, free, Y, alpha), key=lambda one: one.loss))
    if is_better(best.losses, scored[-1].losses):
        best = scored[-1]
    plain = next((one for one in scored if one.kernel == walks.kernel), None)
    if plain is not None and not is_better(plain.losses, best.losses, needed=_NEEDED):
        best = plain
    tried = _list_tried(scored, of_mean)
    if alpha is None and best.loss >= of_mean:
        return choose_mean(len(Y), tried)
    return Choice(best.kernel, best.alpha, tried, len(Y), rule=_RULE)


def _average_mixes(
    sample: Sample, by_penalty: Sequence[Sequence[_Scored]], walks: Kernel, of_mean: float
) -> Choice:
    """Average mixes and penalties by their losses: few labels cannot tell which is the best.

    A mix at a penalty counts by exp(−sum of losses / 2), as a loss is of two parts. Before labels
    are seen, walks have a part of the weight, and the other mixes and all penalties count alike.
    """
    n = len(sample.Y)
    kernels = [listed[0].kernel for listed in by_penalty]
    losses = np.array([[one.loss for one in listed] for listed in by_penalty])
    prior = np.array([kernel == walks for kernel in kernels], dtype=np.float64)
    prior = _PRIOR_OF_WALKS * prior + (1.0 - _PRIOR_OF_WALKS) * (1.0 - prior) / len(kernels)
    weights = prior[:, np.newaxis] * np.exp(0.5 * n * (losses.min() - losses))
    units = [measure_variation(sample.compute_matrix(kernel)) for kernel in kernels]
    alphas = np.array([[one.alpha for one in listed] for listed in by_penalty])
    logs = np.log(alphas) - np.log(units)[:, np.newaxis]
    kernel = average_kernels(sample, kernels, weights.sum(axis=1))
    unit = measure_variation(sample.compute_matrix(kernel))
    alpha = unit * float(np.exp((weights * logs).sum() / weights.sum()))
    if alphas.shape[1] == 1:  # it is given
        alpha = float(alphas[0, 0])
    scored = [min(listed, key=lambda one: one.loss) for listed in by_penalty]
    return Choice(kernel, alpha, _list_tried(scored, of_mean), n, rule=_RULE_OF_FEW)


def _list_tried(scored: Sequence[_Scored], of_mean: float) -> tuple[Tried, ...]:
    listed = (Tried(one.kernel, len(one.losses) * (one.loss - of_mean)) for one in scored)
    return tuple(sorted(listed, key=lambda one: one.nats))


def _take_middle(terms: Sequence[AttributeTerm]) -> list[AttributeTerm]:
    """Linear terms, and Gaussian ones at width 1 or at the width that is given."""
    widths = {width for _, width in terms if width is not None}
    kept = {None, 1.0} if 1.0 in widths else {None, *widths}
    return [term for term in terms if term[1] in kept]


def _share(terms: Sequence[AttributeTerm]) -> Kernel:
    return tuple(Term(block, width, 1.0 / len(terms)) for block, width in terms)


def _mix(shares: Sequence[float], kernels: Sequence[Kernel]) -> Kernel:
    """A sum of kernels with these shares; () if one that has a share is not there."""
    if any(share > 0.0 and not kernel for share, kernel in zip(shares, kernels, strict=True)):
        return ()
    return tuple(
        term._replace(share=share * term.share)
        for share, kernel in zip(shares, kernels, strict=True)
        for term in kernel
        if share > 0.0
    )


def _leave_out_mean(Y: Matrix) -> Matrix:
    return np.asarray((Y.sum(axis=0) - Y) / max(1, len(Y) - 1))


def _score(sample: Sample, kernel: Kernel, Y: Matrix, alpha: float | None) -> list[_Scored]:
    """Losses of left-out nodes of a kernel at each penalty."""
    K = sample.compute_matrix(kernel)
    judge = judge_classes(Y, Y.mean(axis=0), _OFFSETS)
    with use_one_blas_thread(len(Y)):
        values, U = np.linalg.eigh(K)
        values = np.maximum(values, 0.0)
        ones, UY = U.sum(axis=0), U.T @ Y
        found = []
        for penalty in list_penalties(K, alpha, _ALPHAS):
            predictions = _leave_out(U, values, ones, UY, Y, float(penalty))
            found.append(_Scored(kernel, float(penalty), judge(predictions)[0]))
    return found


def _leave_out(
    U: Matrix, values: Matrix, ones: Matrix, UY: Matrix, Y: Matrix, alpha: float
) -> Matrix:
    """Predictions (N, K) of known nodes without their own values, in closed form."""
    G = 1.0 / (values + alpha)
    c = float((ones**2) @ G)
    own = (U**2) @ G - (U @ (G * ones)) ** 2 / c
    QY = U @ (G[:, np.newaxis] * (UY - np.outer(ones, (G * ones) @ UY / c)))
    return np.asarray(Y - QY / own[:, np.newaxis])
