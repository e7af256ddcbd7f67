"""Operators: from parameters that are given or "auto" to a choice for the known nodes."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.choice import (
    FEW_CLASSES,
    Choice,
    FixedParameters,
    Kernel,
    Term,
    Tried,
    choose_mean,
)
from gradraker.models.walks.iterative.closed_form import (
    propose_for_classes,
    propose_for_numbers,
    take_sample,
)
from gradraker.models.walks.iterative.left_out_predictors import (
    Assessment,
    HeldOut,
    LeaveOneOut,
    LeftOutPredictor,
    average_rows,
)
from gradraker.models.walks.iterative.sampling import sample_region, take_region
from gradraker.models.walks.iterative.search import Candidate, Search, Trial
from gradraker.models.walks.judges import OFFSETS, find_sharpness, judge_classes, judge_numbers
from gradraker.models.walks.operators.mixes import WIDTHS, list_attribute_kernels
from gradraker.models.walks.operators.operators import Operators, to_operator_block
from gradraker.models.walks.operators.ridge import Preconditioner

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Known nodes, and entries of the graph × known nodes, up to which each is left out by itself.
_MOST_LEFT_OUT, _MOST_ENTRIES = 2000, 600_000_000
# Nodes beyond which a choice is made on a part of the graph, and the nodes of that part.
MOST_NODES, PART_NODES = 40_000, 20_000
# Known nodes that such a part must have at least.
_FEWEST_INSIDE = 200
# Classes from which on the choice takes random sums of their scores, of which there are fewer.
_MANY_CLASSES, _N_SUMS = 9, 8
# Kernels proposed by some known nodes that are tried on all of them.
_TRIED = 2
# Known nodes below which it is assumed that similar nodes have similar values.
_FEW = 10
# Offset of classes where none is chosen.
_DEFAULT_OFFSET = 0.5
_RULE = (
    "walks alone, unless another mix is better by a standard error on known nodes left out "
    "({}), one kind of similarity after the other"
)
_RULE_OF_NUMBERS = (
    "the best of mixes of walks and degrees and of free shares, of more kinds if better by 8 nats "
    "(left-out error and likelihood, one at a time)"
)
_RULE_OF_FEW_CLASSES = (
    "half walks that reach far, half the best of mixes of walks and degrees and of free shares "
    "(left-out error and likelihood, one at a time)"
)
_RULE_OF_CLASSES = (
    "the smallest loss of mixes of walks and degrees and of free shares, of more kinds if clearly "
    "better (known nodes left out one at a time)"
)


class Selection(NamedTuple):
    """A choice, and the predictions of left-out nodes that it stands on, if there are any."""

    choice: Choice
    assessment: Assessment | None = None
    preconditioner: Preconditioner | None = None


def choose_operators(
    given: FixedParameters,
    operators: Operators,
    known: Rows,
    Y: Matrix,
    *,
    is_directed: bool,
    are_classes: bool,
    trust: Matrix | None = None,
) -> Selection:
    """Choose what is not given, on the known nodes; values that are equal leave the mean.

    On a large graph the choice is made on a part of it. ``trust`` (N,) are sample weights.
    """
    if known.size < 3 or np.ptp(Y, axis=0).max() == 0.0:
        return Selection(choose_mean(known.size))
    kernel = None if given.blocks is None else _share_equally(given)
    if kernel is not None and given.alpha is not None:
        return Selection(Choice(kernel, given.alpha, (), known.size, _DEFAULT_OFFSET))
    whole = operators
    if operators.n > MOST_NODES:
        operators, known, Y, trust = _take_part(operators, known, Y, trust)
    # Nodes that are left out in closed form have all classes; else fewer sums of them take less.
    sums = _draw_sums(Y) if are_classes and not _is_closed(operators, known) else None
    targets = Y if sums is None else Y @ sums
    predictor = make_predictor(operators, known, targets, trust)
    held = targets[predictor.positions]
    frequencies = average_rows(Y, trust)
    trusted = None if trust is None else trust[predictor.positions]
    task = _Task(operators, predictor, known, Y, trust, kernel, given.alpha, is_directed)
    has_few_classes = are_classes and known.size < FEW_CLASSES
    judge = judge_numbers(held, trusted)
    if are_classes and sums is None:
        offsets = (_DEFAULT_OFFSET,) if has_few_classes and task.may_propose else OFFSETS
        judge = judge_classes(held, frequencies, offsets, trusted)
    search = Search(predictor, judge)
    best, rule = _find_best(task, search, are_classes, has_few_classes)
    judge_mean = judge
    if are_classes and sums is None:  # without an offset: all scores would be equal
        judge_mean = judge_classes(held, frequencies, (1.0,), trusted)
    of_mean, _ = judge_mean(np.tile(average_rows(targets, trust), (len(held), 1)))
    few = FEW_CLASSES if are_classes else _FEW
    is_told = best is not None and (known.size < few or best.loss < float(of_mean.mean()))
    count_nats = _make_counter(held, frequencies, are_classes and sums is None)
    tried = sorted(
        (Tried(trial.kernel, count_nats(trial)) for trial in search.tried), key=lambda t: t.nats
    )
    if best is None or (given.alpha is None and not is_told):
        return Selection(choose_mean(known.size, tuple(tried)))
    offset = best.offset if are_classes and sums is None else _DEFAULT_OFFSET
    choice = Choice(best.kernel, best.alpha, tuple(tried), known.size, offset, rule)
    if operators is not whole:
        return Selection(choice)
    preconditioner = predictor.make_preconditioner(best.kernel, best.alpha)
    if sums is not None:
        return Selection(choice, None, preconditioner)
    assessment = Assessment(predictor.positions, best.predictions, predictor.one_at_a_time)
    return Selection(choice, assessment, preconditioner)


class _Task(NamedTuple):
    """What is to be chosen, and on which known nodes."""

    operators: Operators
    predictor: LeftOutPredictor
    known: Rows
    Y: Matrix
    trust: Matrix | None
    kernel: Kernel | None  # that is given
    alpha: float | None
    is_directed: bool

    @property
    def may_propose(self) -> bool:
        """Whether walks and degrees are all that there is to choose from."""
        return self.kernel is None and not _list_attribute_kernels(self.operators)

    def propose(self, are_classes: bool, has_few_classes: bool) -> tuple[Candidate, ...]:
        """Return what kernels between known nodes propose."""
        sample = take_sample(
            self.operators, self.predictor, self.known, self.Y, self.trust, _MOST_ENTRIES
        )
        options: dict[str, Any] = {"is_directed": self.is_directed, "alpha": self.alpha}
        if are_classes and not has_few_classes:
            return propose_for_classes(sample, **options)
        return propose_for_numbers(sample, has_few_classes=has_few_classes, **options)


def _find_best(
    task: _Task, search: Search, are_classes: bool, has_few_classes: bool
) -> tuple[Trial | None, str]:
    """Find the best kernel, None for the mean, and say by which rule."""
    proposals = task.propose(are_classes, has_few_classes) if task.may_propose else ()
    if task.may_propose and task.predictor.one_at_a_time:
        trials = [search.compare((kernel,), alphas)[0] for kernel, alphas in proposals]
        rule = _RULE_OF_CLASSES if are_classes else _RULE_OF_NUMBERS
        rule = _RULE_OF_FEW_CLASSES if has_few_classes else rule
        return (trials[0] if trials else None), rule
    best = search.run(
        kernel=task.kernel,
        alpha=task.alpha,
        is_directed=task.is_directed,
        are_classes=are_classes,
        attribute_kernels=_list_attribute_kernels(task.operators),
        # Few known classes tell little of walks: those that reach far are assumed.
        first_lean="farther" if has_few_classes else "even",
        others=[kernel for kernel, _ in proposals[:_TRIED]],
    )
    how = "one at a time" if task.predictor.one_at_a_time else "a part at a time"
    return best, _RULE.format(how)


def _take_part(
    operators: Operators, known: Rows, Y: Matrix, trust: Matrix | None
) -> tuple[Operators, Rows, Matrix, Matrix | None]:
    """A part of the graph with its known nodes; all of it if too few of them are there."""
    nodes = sample_region(operators.walks, PART_NODES)
    places = np.full(operators.n, -1)
    places[nodes] = np.arange(nodes.size)
    inside = np.flatnonzero(places[known] >= 0)
    if inside.size < _FEWEST_INSIDE or np.ptp(Y[inside], axis=0).max() == 0.0:
        return operators, known, Y, trust
    walks, attributes = take_region(operators.walks, nodes), None
    if operators.attributes is not None:
        attributes = operators.attributes.take_region(nodes, walks)
    part = Operators(walks, dtype=operators.dtype, engine=operators.engine, attributes=attributes)
    trusted = None if trust is None else trust[inside]
    return part, places[known[inside]], Y[inside], trusted


def _list_attribute_kernels(operators: Operators) -> tuple[Kernel, ...]:
    rows = operators.attributes
    if rows is None or not rows.blocks:
        return ()
    kernels = list_attribute_kernels(has_words=rows.has_words)
    return tuple(k for k in kernels if all(term.block in rows.blocks for term in k))


def make_predictor(
    operators: Operators, known: Rows, Y: Matrix, trust: Matrix | None = None
) -> LeftOutPredictor:
    """Leave nodes out one at a time where there are few, a part at a time where there are many."""
    if _is_closed(operators, known):
        return LeaveOneOut(operators, known, Y, trust)
    return HeldOut(operators, known, Y, trust)


def _is_closed(operators: Operators, known: Rows) -> bool:
    """Whether kernels between known nodes are few enough numbers."""
    n_entries = operators.walks.matrices.A.nnz * known.size
    return known.size <= _MOST_LEFT_OUT and n_entries <= _MOST_ENTRIES


def _share_equally(given: FixedParameters) -> Kernel:
    assert given.blocks is not None
    names = dict.fromkeys(to_operator_block(block) for block in given.blocks)
    widths = {block: given.width or WIDTHS[block] for block in names if block in WIDTHS}
    return tuple(Term(block, widths.get(block), 1.0 / len(names)) for block in names)


def _draw_sums(Y: Matrix) -> Matrix | None:
    """Random signs (K, few) that keep distances of one-hot rows; None for few classes."""
    if Y.shape[1] < _MANY_CLASSES:
        return None
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(Y.shape[1], _N_SUMS))
    return np.asarray(signs / np.sqrt(_N_SUMS))


def _measure(held: Matrix, trial: Trial) -> float:
    return float(np.mean((held - trial.predictions) ** 2))


def _make_counter(held: Matrix, frequencies: Matrix, are_classes: bool) -> Callable[[Trial], float]:
    """Return trial → nats by which it is worse than the mean."""
    m = len(held)
    if not are_classes:
        of_mean = float(np.mean((held - held.mean(axis=0)) ** 2))
        return lambda trial: 0.5 * m * math.log(max(_measure(held, trial), 1e-300) / of_mean)
    codes = held.argmax(axis=1)
    of_mean = -float(np.mean(np.log(np.maximum(frequencies[codes], 1e-12))))

    def count(trial: Trial) -> float:
        scores = trial.predictions - (1.0 - trial.offset) * frequencies
        return m * (find_sharpness(scores, codes)[0] - of_mean)

    return count
