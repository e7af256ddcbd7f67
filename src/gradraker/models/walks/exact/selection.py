"""Exact kernels: from parameters that are given or "auto" to a choice for the known nodes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradraker.features.parallel import use_one_blas_thread
from gradraker.linear.ridge import compute_criterion_curve, invert_dual
from gradraker.models.walks.attributes.rows import JOINT_BLOCK
from gradraker.models.walks.choice import Choice, FixedParameters, choose_mean
from gradraker.models.walks.exact.blocks import LOCAL_BLOCK, LOCAL_PARTS, ExactBlocks
from gradraker.models.walks.exact.class_choice import choose_for_classes
from gradraker.models.walks.exact.kernel_choice import (
    DIRECTED_BLOCKS,
    FINE_ALPHAS,
    UNDIRECTED_BLOCKS,
    WIDTHS_OF_TERMS,
    AttributeTerm,
    Sample,
    choose_kernel,
    list_penalties,
)
from gradraker.models.walks.exact.solution import make_smoother
from gradraker.models.walks.terms import Term, share_equally

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Known nodes that a common width is chosen on, and those that shares are.
FEW, MANY = 400, 1000
# Known nodes up to which the penalty is chosen by a decomposition of their kernel matrix.
_MOST_DECOMPOSED = 2000
# Ratio of neighbouring penalties where each takes an inverse, and the most steps from the first.
_STEP, _MOST_STEPS = 10.0**0.4, 5


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
        Sample(
            KernelMatrices(blocks, known[some]),
            scaled[some],
            None if roots is None else roots[some],
        )
        for some in (order[:FEW], order[:MANY])
    )
    attributes = _list_attribute_terms(blocks, given)
    if are_classes and attributes:
        walks = choose_kernel(few, many, available=available, **given._asdict())
        has_words = blocks.attributes is not None and blocks.attributes.has_words
        even = many._replace(roots=None)
        choice = choose_for_classes(even, walks, attributes, has_words=has_words, alpha=given.alpha)
        blocks.drop_others(choice.blocks)
        return choice
    choice = choose_kernel(
        few,
        many,
        available=available,
        attributes=attributes,
        local=_list_local_terms(blocks) if attributes and given.width is None else (),
        **given._asdict(),
    )
    blocks.drop_others(choice.blocks)
    if given.alpha is not None or not choice.kernel or choice.n_used == known.size:
        return choice
    return replace(choice, alpha=_refine_alpha(blocks, known, Y, choice, trust))


def _list_telling_blocks(blocks: ExactBlocks, is_directed: bool) -> list[str]:
    """Blocks that tell nodes of this graph apart."""
    names = DIRECTED_BLOCKS if is_directed else UNDIRECTED_BLOCKS
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


class KernelMatrices:
    """Kernel matrices of some nodes by block and width."""

    def __init__(self, blocks: ExactBlocks, rows: Rows) -> None:
        self.blocks, self.rows = blocks, rows

    def __call__(self, block: str, width: float | None) -> Matrix:
        """The matrix (N, N) of one block."""
        kernel = (Term(block, width, 1.0),)
        return self.blocks.engine.fetch(  # type: ignore[no-any-return]
            self.blocks.compute_kernel(kernel, self.rows, self.rows)
        )


def _refine_alpha(
    blocks: ExactBlocks, known: Rows, Y: Matrix, choice: Choice, trust: Matrix | None
) -> float:
    """The penalty of a chosen kernel on all known nodes."""
    if blocks.engine.name != "cpu" and known.size > _MOST_DECOMPOSED:
        return _descend_alpha(_leave_out_on(blocks, known, Y, choice, trust), choice.alpha)
    roots = None if trust is None else np.sqrt(trust)
    sample = Sample(KernelMatrices(blocks, known), Y, roots)
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
