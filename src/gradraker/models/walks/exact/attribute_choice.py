"""Attributes and walks for numbers: an average of kernels, by how likely they make the values."""

from collections.abc import Sequence

import numpy as np

from gradraker.features.engine import use_one_blas_thread
from gradraker.linear.ridge import compute_criterion_curve, compute_criterion_of_mean
from gradraker.models.walks.choice import Kernel, Term
from gradraker.models.walks.exact.blocks import (
    FINE_ALPHAS,
    ROUNDING,
    AttributeTerm,
    Matrix,
    Sample,
    compute_costs,
    measure_variation,
    share_freely,
)

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


def average_with_attributes(
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
        costs = compute_costs(sample, walks, alpha, FINE_ALPHAS)[0] + handicap
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
        if weight > least and variation > ROUNDING:
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


def drop_useless(few: Sample, terms: Sequence[AttributeTerm]) -> list[AttributeTerm]:
    """The terms that free shares keep on few nodes: many nodes and many terms take long."""
    if len(few.Y) < _MANY_ENOUGH:
        return list(terms)
    return [(term.block, term.width) for term in share_freely(few, terms)]
