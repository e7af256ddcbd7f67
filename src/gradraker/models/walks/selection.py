"""From parameters that are given or "auto" to a choice for the known nodes of a graph."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.features.blas import use_one_blas_thread
from gradraker.linear.ridge import compute_primal_leverages, invert_primal
from gradraker.models.walks.blocks import (
    ExactBlocks,
    Kernel,
    RandomBlocks,
    Term,
    kernel_of_distances,
)
from gradraker.models.walks.choice import (
    DIRECTED_BLOCKS,
    FINE_ALPHAS,
    UNDIRECTED_BLOCKS,
    Choice,
    Sample,
    checked_blocks,
    choose_kernel,
    mean_of,
    penalties,
    the_mean,
)
from gradraker.models.walks.criteria import criterion_curve
from gradraker.models.walks.solutions import chunks, features_with_one, moments, some_of

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
Blocks = ExactBlocks | RandomBlocks
# Known nodes that a common width is chosen on, and those that shares are.
FEW, MANY = 400, 1000
# Terms of a kernel that are kept for random features.
MOST_TERMS_OF_FEATURES = 6
# Known nodes up to which the penalty is chosen by a decomposition of their kernel matrix.
_MOST_DECOMPOSED = 2000
# Known nodes whose left-out residuals choose the penalty for features.
_MOST_LEFT_OUT = 1000
# Ratio of neighbouring penalties where each takes an inverse, and the most steps from the first.
_STEP, _MOST_STEPS = 10.0**0.4, 12


class Given(NamedTuple):
    """What is given; None is to be chosen."""

    blocks: tuple[str, ...] | None
    width: float | None
    alpha: float | None

    @property
    def is_all(self) -> bool:
        """Whether nothing is left to choose."""
        return None not in self


def checked_given(blocks: Any, width: Any, alpha: Any) -> Given:
    """Parameters as a user gave them, "auto" or not, checked."""
    return Given(
        checked_blocks(blocks), _checked_number("width", width), _checked_number("alpha", alpha)
    )


def _checked_number(name: str, value: Any) -> float | None:
    if isinstance(value, str) and value == "auto":
        return None
    number = isinstance(value, float | int | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be 'auto' or a positive number, got {value!r}")
    return float(value)


def chosen(given: Given, blocks: Blocks, known: Rows, Y: Matrix, *, is_directed: bool) -> Choice:
    """Choose what is not given, on the known nodes; values that are equal leave the mean.

    ``is_directed`` is whether blocks of both directions tell more than those of one.
    """
    if known.size == 1 or np.ptp(Y, axis=0).max() == 0.0:
        return the_mean(known.size)
    if given.blocks is not None and given.width is not None and given.alpha is not None:
        return Choice(mean_of(given.blocks, given.width), given.alpha, (), known.size)
    available = [] if given.blocks is not None else _telling_blocks(blocks, is_directed)
    if given.blocks is None and not available:
        return the_mean(known.size)
    # The same choice whatever the zero and the unit of the values, and no digits lost to either.
    Y = Y - Y.mean(axis=0)
    scaled = Y / np.sqrt(np.mean(Y**2))
    order = some_of(blocks, known, known.size)
    few, many = (
        Sample(KernelMatrices(blocks, known[order[:most]]), scaled[order[:most]])
        for most in (FEW, MANY)
    )
    choice = choose_kernel(few, many, available=available, **given._asdict())
    is_whole = choice.n_used == known.size
    if isinstance(blocks, RandomBlocks) and choice.kernel:
        is_whole &= len(choice.kernel) <= MOST_TERMS_OF_FEATURES
        choice = replace(choice, kernel=_largest_terms(choice.kernel))
        blocks.forget_others(choice.blocks)
    if given.alpha is not None or not choice.kernel or is_whole:
        return choice
    return replace(choice, alpha=fine_alpha(blocks, known, Y, choice))


def _largest_terms(kernel: Kernel) -> Kernel:
    """The terms with the largest shares: each costs features of its own."""
    largest = sorted(kernel, key=lambda term: -term.share)[:MOST_TERMS_OF_FEATURES]
    total = sum(term.share for term in largest)
    return tuple(term._replace(share=term.share / total) for term in largest)


def _telling_blocks(blocks: Blocks, is_directed: bool) -> list[str]:
    """Blocks that tell nodes of this graph apart."""
    names = DIRECTED_BLOCKS if is_directed else UNDIRECTED_BLOCKS
    return [name for name in names if blocks.median(name) > 0.0]


class KernelMatrices:
    """Kernel matrices of some nodes by block and width."""

    def __init__(self, blocks: Blocks, rows: Rows) -> None:
        self.blocks, self.rows = blocks, rows

    def __call__(self, block: str, width: float) -> Matrix:
        """The matrix (N, N) of one block."""
        kernel = (Term(block, width, 1.0),)
        if isinstance(self.blocks, RandomBlocks):
            Z = self.blocks.features(kernel, self.rows)
            return np.asarray(Z @ Z.T)
        distances = {block: self.blocks.distances(block, self.rows, self.rows)}
        return kernel_of_distances(distances, kernel)


def fine_alpha(blocks: Blocks, known: Rows, Y: Matrix, choice: Choice) -> float:
    """The penalty of a chosen kernel on all known nodes."""
    if known.size <= _MOST_DECOMPOSED:
        K = Sample(KernelMatrices(blocks, known), Y).matrix(choice.kernel)
        with use_one_blas_thread(known.size):
            curve = criterion_curve(K, Y, penalties(K, None, FINE_ALPHAS))
        return float(curve.alphas[curve.criterion.argmin()])
    if isinstance(blocks, ExactBlocks):
        return choice.alpha  # a decomposition would take longer than all the rest
    return _fine_alpha_of_features(blocks, known, Y, choice)


def _fine_alpha_of_features(blocks: RandomBlocks, known: Rows, Y: Matrix, choice: Choice) -> float:
    """Downhill from the choice's penalty, by left-out residuals of some of the nodes."""
    gram, products = moments(blocks, known, Y, choice)
    rows = some_of(blocks, known, _MOST_LEFT_OUT)
    found: dict[int, float] = {}

    def error(step: int) -> float:
        if step not in found:
            inverse = invert_primal(gram, choice.alpha * _STEP**step)
            theta = inverse @ products
            found[step] = 0.0
            for some in chunks(rows.size):
                Z1 = features_with_one(blocks, known[rows[some]], choice)
                rest = 1.0 - compute_primal_leverages(inverse, Z1)[:, np.newaxis]
                residuals = (Y[rows[some]] - Z1 @ theta) / rest
                found[step] += float(np.sum(residuals**2))
        return found[step]

    at = 0
    while abs(at) < _MOST_STEPS:
        best = min((at, at - 1, at + 1), key=error)
        if best == at:
            break
        at = best
    blocks.kept_moments = choice.kernel, known, gram, products
    return float(choice.alpha * _STEP**at)
