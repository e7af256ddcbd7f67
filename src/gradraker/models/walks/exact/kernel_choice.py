"""Exact kernels: blocks, widths and penalty that are not given, chosen on the known nodes.

All candidates are compared in closed form: nothing is held out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import use_one_blas_thread
from gradraker.linear.ridge import compute_criterion_curve, compute_criterion_of_mean, invert_dual
from gradraker.models.walks.attributes.rows import JOINT_BLOCK
from gradraker.models.walks.choice import (
    FEW_CLASSES,
    Choice,
    FixedParameters,
    Kernel,
    Term,
    Tried,
    choose_mean,
    share_equally,
)
from gradraker.models.walks.exact.attribute_choice import average_with_attributes, drop_useless
from gradraker.models.walks.exact.blocks import (
    ALPHAS,
    COMMUTE_BLOCK,
    FINE_ALPHAS,
    LOCAL_BLOCK,
    LOCAL_PARTS,
    AttributeTerm,
    ExactBlocks,
    Sample,
    compute_costs,
    list_penalties,
    share_freely,
)
from gradraker.models.walks.exact.class_choice import choose_for_classes
from gradraker.models.walks.solution import make_smoother

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Known nodes that a common width is chosen on, and those that shares are.
FEW, MANY = 400, 1000
# Known nodes up to which the penalty is chosen by a decomposition of their kernel matrix.
_MOST_DECOMPOSED = 2000
# Ratio of neighbouring penalties where each takes an inverse, and the most steps from the first.
_STEP, _MOST_STEPS = 10.0**0.4, 5
DEFAULT_BLOCKS = ("hop1", "hop2", "hop3", "degree")
UNDIRECTED_BLOCKS = (*DEFAULT_BLOCKS, "far", "community", "alternating")
DIRECTED_BLOCKS = (*UNDIRECTED_BLOCKS, "same_targets", "same_sources")
# Tried where the far block has this share of a kernel, since values vary slowly over the graph, and
# the graph is wide: it has so many nodes, and walks still end in different places.
_WIDE_BLOCK, _MOSTLY_FAR, _WIDE = "wide", 0.5, 1000
# The least median squared distances of the far and the wide block in such a graph.
_APART = (1.0, 0.1)
# Nodes from which on walks may mix so late that commute times tell nodes apart, and up to which
# their matrix does not take too long.
_COMMUTING = (200, 5000)
# Widths of kernels for values that vary slowly over the graph, and for groups. The latter predict
# few known classes, in a wide graph with the wide block, unless others are better by these nats.
_SMOOTH_WIDTH, _GROUP_WIDTH = 8.0, 1.0
_NEEDED_OVER_CLASSES = 3.0
# Nats by which they must beat the default blocks, wide walks alone by more; commute times need
# none, as they are simple.
_NEEDED_OF_SMOOTH, _MORE_OF_WIDE = 4.0, 5.0
# Widths that blocks may have together, and those that each may have by itself.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
WIDTHS_OF_TERMS = (0.25, 1.0, 8.0)
# Nats by which freely chosen shares must beat the default blocks, and blocks the mean.
_NEEDED, _NEEDED_OVER_MEAN = 8.0, 3.0
# The same of shares with the wide block over those without.
_NEEDED_OF_WIDE = 3.0
# The same over an average with attributes, and more there and over commute times, over the number
# of known nodes: many terms can follow few values by chance, the fewest as closely as one likes.
_NEEDED_OVER_AVERAGE, _NEEDED_OF_FEW, _FEWEST_FREE = 3.0, 300.0, 20
_RULE = (
    "equal shares, of far blocks if better by 4 nats, unless free ones are better by {:.0f} nats "
    "(left-out error and likelihood, in closed form)"
)
_RULE_OF_ATTRIBUTES = (
    "kernels of walks and attributes and the mean, averaged by how likely they make the values, "
    "unless free shares are better by {:.0f} nats (left-out error and likelihood, in closed form)"
)
# Known nodes from which on all of these nats are asked of blocks, and none.
_ENOUGH, _FEW = 30, 10


def choose_exactly(
    given: FixedParameters,
    blocks: ExactBlocks,
    known: Rows,
    Y: Matrix,
    *,
    is_directed: bool,
    are_classes: bool = False,
    trust: Matrix | None = None,
) -> Choice:
    """Choose what is not given, on the known nodes; values that are equal leave the mean.

    ``is_directed`` is whether blocks of both directions tell more than those of one; ``trust`` (N,)
    are sample weights.
    """
    if known.size == 1 or np.ptp(Y, axis=0).max() == 0.0:
        return choose_mean(known.size)
    if given.blocks is not None and given.width is not None and given.alpha is not None:
        return Choice(share_equally(given.blocks, given.width), given.alpha, (), known.size)
    blocks.keep_products(known)
    available = [] if given.blocks is not None else _list_telling_blocks(blocks, is_directed)
    if given.blocks is None and not available and blocks.attributes is None:
        return choose_mean(known.size)
    # The same choice whatever the zero and the unit of the values, and no digits lost to either.
    Y = Y - Y.mean(axis=0)
    scaled = Y / np.sqrt(np.mean(Y**2))
    order = np.argsort(blocks.walks.rank[known])
    roots = None if trust is None else np.sqrt(trust)
    few, many = (
        Sample(blocks, known[some], scaled[some], None if roots is None else roots[some])
        for some in (order[:FEW], order[:MANY])
    )
    attributes = _list_attribute_terms(blocks, given)
    if are_classes and attributes:
        walks = choose_kernel(few, many, available=available, are_classes=True, **given._asdict())
        has_words = blocks.attributes is not None and blocks.attributes.has_words
        even = many._replace(roots=None)
        choice = choose_for_classes(even, walks, attributes, has_words=has_words, alpha=given.alpha)
        blocks.drop_others(choice.blocks)
        return choice
    choice = choose_kernel(
        few,
        many,
        available=available,
        are_classes=are_classes,
        attributes=attributes,
        local=_list_local_terms(blocks) if attributes and given.width is None else (),
        **given._asdict(),
    )
    blocks.drop_others(choice.blocks)
    if given.alpha is not None or not choice.kernel or choice.n_used == known.size:
        return choice
    return replace(choice, alpha=_refine_alpha(blocks, known, Y, choice, trust))


def choose_kernel(
    few: Sample,
    many: Sample,
    *,
    blocks: Sequence[str] | None,
    available: Sequence[str],
    width: float | None,
    alpha: float | None,
    are_classes: bool = False,
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
    are_classes : bool
        Whether values are classes, of which few known nodes tell little.
    attributes : sequence of (block, width)
        Terms of attributes to choose from.
    local : sequence of (block, width)
        More of them, which only free shares may take.
    """
    default = blocks or [block for block in DEFAULT_BLOCKS if block in available] or available
    by_width = [share_equally(default, w) for w in (WIDTHS if width is None else (width,))]
    if not default:  # nothing but attributes tells nodes apart
        by_width = []
    smooth = _list_smooth(few.blocks, available) if blocks is None and width is None else {}
    candidates = _choose_equal_shares(few, by_width, {} if are_classes else smooth, alpha)
    widths = WIDTHS_OF_TERMS if width is None else (width,)
    if candidates and any(term.block == _WIDE_BLOCK for term in candidates[0]):
        available = [*available, _WIDE_BLOCK]
    # Commute times at a large width are Tikhonov regularisation; narrow ones follow chance.
    walks: list[AttributeTerm] = [
        (b, w) for b in available for w in (widths[-1:] if b == COMMUTE_BLOCK else widths)
    ]
    if blocks is None and walks:
        candidates = [*candidates, share_freely(many, walks)]
    costs, alphas = compute_costs(many, candidates, alpha, FINE_ALPHAS)
    needed = _NEEDED + (_NEEDED_OF_FEW / len(many.Y) if COMMUTE_BLOCK in available else 0.0)
    best, rule = 1 if len(costs) > 1 and costs[1] < costs[0] - needed else 0, _RULE.format(needed)
    has_few_classes = are_classes and len(many.Y) < FEW_CLASSES
    if has_few_classes and smooth:
        names = [term.block for term in list(smooth)[-1]]
        names += [_WIDE_BLOCK] if _is_wide(many.blocks) else []
        region = share_equally(names, _GROUP_WIDTH)
        cost, region_alpha = compute_costs(many, [region], alpha, FINE_ALPHAS)
        if costs[best] >= cost[0] - _NEEDED_OVER_CLASSES:
            candidates, best = [region, *candidates], 0
            costs, alphas = np.append(cost, costs), np.append(region_alpha, alphas)
    is_far = best and _measure_far(candidates[best]) >= _MOSTLY_FAR
    if is_far and _WIDE_BLOCK not in available and _is_wide(many.blocks):
        old = [(term.block, term.width) for term in candidates[best]]
        wider = share_freely(many, [*old, *((_WIDE_BLOCK, w) for w in widths)])
        cost, wider_alpha = compute_costs(many, [wider], alpha, FINE_ALPHAS)
        if cost[0] < costs[best] - _NEEDED_OF_WIDE:
            walks += [(_WIDE_BLOCK, w) for w in widths]
            candidates[best], costs[best], alphas[best] = wider, cost[0], wider_alpha[0]
    if blocks is None and attributes:
        can_be_free = len(many.Y) >= _FEWEST_FREE
        equal = list(dict.fromkeys([*by_width, *smooth, *candidates[:1]]))
        plain = candidates[best : best + 1] if can_be_free else [*equal, *candidates[1:]]
        handicap = np.zeros(len(plain))
        handicap[len(equal) :] = _NEEDED
        average, penalty = average_with_attributes(many, plain, handicap, attributes, alpha)
        best, added = len(candidates), [average]
        if can_be_free:
            added.append(share_freely(many, drop_useless(few, [*walks, *attributes, *local])))
        more, more_alphas = compute_costs(many, added, alpha, FINE_ALPHAS)
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
    if alpha is None and not has_few_classes and costs[best] >= of_mean - needed:
        return choose_mean(len(many.Y), tried)
    return Choice(candidates[best], float(alphas[best]), tried, len(many.Y), rule=rule)


def _list_smooth(blocks: ExactBlocks, available: Sequence[str]) -> dict[Kernel, float]:
    """Kernels of blocks that reach far, groups last, and the nats that they need."""
    far = [block for block in ("far",) if block in available]
    groups = [block for block in ("community",) if block in available] + far
    far += [_WIDE_BLOCK] if far and _is_wide(blocks) else []
    found = {}
    if COMMUTE_BLOCK in available:
        found[share_equally([COMMUTE_BLOCK], _SMOOTH_WIDTH)] = 0.0
        found[tuple(Term(COMMUTE_BLOCK, w, 0.5) for w in (_SMOOTH_WIDTH, WIDTHS[0]))] = 0.0
        found[share_equally([COMMUTE_BLOCK, *far], _SMOOTH_WIDTH)] = 0.0
    elif _WIDE_BLOCK in far:
        found[share_equally([_WIDE_BLOCK], _SMOOTH_WIDTH)] = _NEEDED_OF_SMOOTH + _MORE_OF_WIDE
    if _WIDE_BLOCK in far or (far and not found):
        found[share_equally(far, _SMOOTH_WIDTH)] = _NEEDED_OF_SMOOTH
    if groups:
        found[share_equally(groups, _GROUP_WIDTH)] = _NEEDED_OF_SMOOTH
    return found


def _choose_equal_shares(
    few: Sample, by_width: Sequence[Kernel], smooth: Mapping[Kernel, float], alpha: float | None
) -> list[Kernel]:
    """The best of kernels with equal shares, if there is any."""
    kernels = [*by_width, *smooth]
    if len(kernels) < 2:
        return kernels
    costs, _ = compute_costs(few, kernels, alpha, ALPHAS)
    costs[len(by_width) :] += list(smooth.values())
    return [kernels[int(costs.argmin())]]


def _is_wide(blocks: ExactBlocks) -> bool:
    """Whether far nodes may not be far enough; long walks are taken only where shorter say so."""
    if blocks.walks.n < _WIDE or blocks.median("far") < _APART[0]:
        return False
    return blocks.median(_WIDE_BLOCK) >= _APART[1]


def _measure_far(kernel: Kernel) -> float:
    """Share of the blocks in a kernel that reach far."""
    return sum(term.share for term in kernel if term.block in ("far", COMMUTE_BLOCK))


def _list_telling_blocks(blocks: ExactBlocks, is_directed: bool) -> list[str]:
    """Blocks that tell nodes of this graph apart."""
    names = DIRECTED_BLOCKS if is_directed else UNDIRECTED_BLOCKS
    if (
        _COMMUTING[0] <= blocks.walks.n <= _COMMUTING[1]
        and blocks.walks.matrices.direction == "both"
        and blocks.median("far") >= _APART[0]
    ):
        names = (*names, COMMUTE_BLOCK)
    return [name for name in names if blocks.median(name) > 0.0]


def _list_attribute_terms(blocks: ExactBlocks, given: FixedParameters) -> list[AttributeTerm]:
    """Blocks and widths of attributes to choose from; words have linear kernels only."""
    rows = blocks.attributes
    if rows is None or given.blocks is not None:
        return []
    terms: list[AttributeTerm] = []
    for block in rows.blocks:
        is_joint = block == JOINT_BLOCK
        if not is_joint and rows.get_linear_rows(block).any():
            terms.append((block, None))
        if not rows.has_words and blocks.median(block) > 0.0:
            widths = WIDTHS_OF_TERMS[is_joint:] if given.width is None else (given.width,)
            terms += [(block, width) for width in widths]
    return terms


def _list_local_terms(blocks: ExactBlocks) -> list[AttributeTerm]:
    """Terms of numbers that count within a region; wide ones are the sum of both, nearly."""
    rows = blocks.attributes
    if rows is None or rows.has_words or not all(blocks.median(part) > 0.0 for part in LOCAL_PARTS):
        return []
    return [(LOCAL_BLOCK, width) for width in WIDTHS_OF_TERMS[:2]]


# -- the penalty on all known nodes ----------------------------------------------------------------


def _refine_alpha(
    blocks: ExactBlocks, known: Rows, Y: Matrix, choice: Choice, trust: Matrix | None
) -> float:
    """The penalty of a chosen kernel on all known nodes."""
    if blocks.engine.name != "cpu" and known.size > _MOST_DECOMPOSED:
        return _descend_alpha(_leave_out_on(blocks, known, Y, choice, trust), choice.alpha)
    roots = None if trust is None else np.sqrt(trust)
    sample = Sample(blocks, known, Y, roots)
    K, Y = sample.compute_matrix(choice.kernel), sample.targets
    if known.size <= _MOST_DECOMPOSED:
        with use_one_blas_thread(known.size):
            curve = compute_criterion_curve(K, Y, list_penalties(K, None, FINE_ALPHAS), roots)
        return float(curve.alphas[curve.criterion.argmin()])
    return _descend_alpha(
        _leave_out(K, Y, np.ones(len(Y)) if roots is None else roots), choice.alpha
    )


def _leave_out(K: Matrix, Y: Matrix, roots: Matrix) -> Callable[[float], float]:
    """Return α → mean squared left-out error, of a kernel and values that roots weighed."""

    def compute_error(alpha: float) -> float:
        inverse = invert_dual(K, alpha)
        h = inverse @ roots
        c = float(roots @ h)
        own = np.diag(inverse) - h**2 / c
        residuals = inverse @ Y - np.outer(h, h @ Y) / c
        return float(np.mean((residuals / own[:, np.newaxis]) ** 2))

    return compute_error


def _leave_out_on(
    blocks: ExactBlocks, known: Rows, Y: Matrix, choice: Choice, trust: Matrix | None
) -> Callable[[float], float]:
    """The same on an engine, whose memory does not hold what roots weighed as well."""
    weights = np.ones(known.size) if trust is None else trust
    K = blocks.compute_known_kernel(choice.kernel, known)

    def compute_error(alpha: float) -> float:
        smoother = make_smoother(blocks.engine, K, alpha / weights)
        residuals = smoother.multiply(Y) / smoother.own[:, np.newaxis]
        return float(np.mean(weights[:, np.newaxis] * residuals**2))

    return compute_error


def _descend_alpha(compute_error: Callable[[float], float], alpha: float) -> float:
    """Downhill from a penalty by left-out errors, with an inverse for each."""
    found: dict[int, float] = {}

    def measure(step: int) -> float:
        if step not in found:
            found[step] = compute_error(alpha * _STEP**step)
        return found[step]

    at = 0
    while abs(at) < _MOST_STEPS:
        best = min((at, at - 1, at + 1), key=measure)
        if best == at:
            break
        at = best
    return float(alpha * _STEP**at)
