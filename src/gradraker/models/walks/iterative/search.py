"""The search for a mix of operators and a penalty, by the errors of known nodes left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import has_mapper, map_pieces, tell_progress
from gradraker.models.walks.choice import Kernel
from gradraker.models.walks.iterative.left_out_predictors import LeftOutPredictor
from gradraker.models.walks.judges import Judge, is_better
from gradraker.models.walks.operators.mixes import LADDERS, Mix

Matrix = NDArray[np.float64]
# Penalties that are tried first, the ratio of neighbouring ones, and the range that they stay in.
FIRST_ALPHAS = (0.1, 0.5)
_STEP = 5.0
_LEAST_ALPHA, _MOST_ALPHA = 0.04, 60.0
_FEWER_ATTRIBUTES = 0.25
# Standard errors by which attributes must be better, and numbers predicted by long walks alone.
_ASKED_OF_ATTRIBUTES = 0.5
_ASKED_OF_SLOW = 1.0
_LEANS = ("near", "far")
_FARTHER = ("farther", "farthest")  # tried where walks lean to far nodes, for as long as they gain
# Other walks: for groups of nodes that are linked among themselves, for neighbours that have no
# neighbours in common (grids, trees), and, where far nodes count (of
# numbers: as far as few known ones can show), for values that vary slowly over a wide graph.
_GROUPS, _SLOW = ("groups", "lazy"), ("regions", "wide")
_USUAL = 7  # kernels that a search tries
_MOSTLY = 0.8  # share of degrees beyond which the lean of walks hardly counts


@dataclass(frozen=True, eq=False)
class Trial:
    """A kernel at a penalty, with its best class offset."""

    kernel: Kernel
    alpha: float
    offset: float
    losses: Matrix  # [m]
    predictions: Matrix  # [m, K]

    @property
    def loss(self) -> float:
        """Mean loss."""
        return float(self.losses.mean())


Candidate = tuple[Kernel, tuple[float, ...]]  # a kernel, and penalties


def predict_candidate(predictor: LeftOutPredictor, candidate: Candidate) -> list[Matrix]:
    """Predictions (m, K) of left-out nodes for each penalty of a candidate."""
    return predictor.predict(*candidate)


class Search:
    """Tries mixes and penalties, and keeps what it tried."""

    def __init__(self, predictor: LeftOutPredictor, judge: Judge) -> None:
        self._predictor, self._judge = predictor, judge
        self.tried: list[Trial] = []
        self._ahead: dict[Candidate, list[Matrix]] = {}

    def run(
        self,
        *,
        kernel: Kernel | None = None,
        alpha: float | None = None,
        is_directed: bool,
        are_classes: bool = False,
        attribute_kernels: Sequence[Kernel] = (),
        first_lean: str = "even",
        others: Sequence[Kernel] = (),
    ) -> Trial:
        """Find a kernel, one kind of similarity after the other from walks alone, and a penalty.

        Parameters
        ----------
        kernel, alpha
            What is given, or None.
        is_directed : bool
            Whether nodes may be alike by where their edges lead or come from.
        are_classes : bool
            Whether values are classes. Walks tell the class of a group well enough; for numbers,
            nodes of a group may have to be alike in full.
        attribute_kernels : sequence of kernels
            Kernels of attributes, of which one may be taken.
        first_lean : str
            Which walks the search starts from.
        others : sequence of kernels
            Kernels that are taken at the end if they are better.
        """
        self._alpha = alpha
        if kernel is not None:
            return self._refine_alpha(self._try_kernel(kernel, FIRST_ALPHAS))
        self._mix = Mix(lean=first_lean)
        mixes = [self._mix, *map(self._add_kernel, attribute_kernels)]
        self._predict_ahead(mixes, FIRST_ALPHAS)
        best = self._try_kernel(self._mix.to_kernel(), FIRST_ALPHAS)
        best = self._add_attributes(best, attribute_kernels)
        kinds = ("alternating", *(("direction",) if is_directed else ()))
        self._predict_ahead(self._list_next(("degrees", *kinds), _LEANS), (best.alpha,))
        best = self._climb(best, "degrees", self._take_better)
        may_be_slow = False
        if self._mix.degrees < _MOSTLY:
            self._predict_ahead(self._list_next(kinds, _LEANS), (best.alpha,))
            for lean in _LEANS:
                best = self._take_better(best, self._mix._replace(lean=lean))
            for nearer, lean in pairwise(("far", *_FARTHER)):
                if self._mix.lean == nearer:
                    best = self._take_better(best, self._mix._replace(lean=lean))
            is_far_better = not are_classes and self.tried[-1].loss < best.loss
            if self._mix.lean == "even" and not are_classes:
                best = self._take_better(best, self._mix._replace(lean="broad"))
            may_be_slow = self._mix.lean in ("far", *_FARTHER) or is_far_better
        self._predict_ahead(self._list_next(kinds, ()), (best.alpha,))
        for kind in kinds:
            best = self._climb(best, kind, self._take_better)
        if self._mix.degrees < _MOSTLY:
            for lean in _GROUPS:
                best = self._try_larger_penalty(best, self._mix._replace(lean=lean))
            for lean in _SLOW if may_be_slow else ():
                mix = self._mix._replace(lean=lean)
                needed = None if are_classes else _ASKED_OF_SLOW
                best = self._try_larger_penalty(best, mix, needed)
        if not are_classes:
            best = self._climb(best, "communities", self._try_larger_penalty)
        for other in others:
            trial = self._try_kernel(other, (best.alpha, best.alpha / _STEP))
            best = min(best, trial, key=lambda one: one.loss)
        return self._refine_alpha(best)

    def _list_next(self, kinds: Sequence[str], leans: Sequence[str]) -> list[Mix]:
        """Mixes that are tried next, as long as none of them is taken."""
        shares = [self._mix.set_share(kind, LADDERS[kind][0]) for kind in kinds]
        return shares + [self._mix._replace(lean=lean) for lean in leans]

    def _predict_ahead(self, mixes: Sequence[Mix], alphas: Sequence[float]) -> None:
        """Let other processes, if there are any, predict with several mixes at once."""
        if not has_mapper():
            return
        penalties = tuple(alphas) if self._alpha is None else (self._alpha,)
        candidates = dict.fromkeys((mix.to_kernel(), penalties) for mix in mixes)
        new = [candidate for candidate in candidates if candidate not in self._ahead]
        if len(new) > 1:
            self._ahead |= zip(
                new, map_pieces(predict_candidate, self._predictor, new), strict=True
            )

    def _add_attributes(self, best: Trial, kernels: Sequence[Kernel]) -> Trial:
        """Take the kernel of attributes that is best beside walks, if one helps, and its share.

        Attributes that a user gives are likely to help, so less is asked of them than of other
        kinds; whether they do shows at a penalty of their own.
        """
        ladder, walks = LADDERS["attributes"], best
        for kernel in kernels:
            best = self._try_mix(best, self._add_kernel(kernel), FIRST_ALPHAS, _ASKED_OF_ATTRIBUTES)
        if best is walks:
            return best
        for share in (_FEWER_ATTRIBUTES, *ladder[1:]):
            mix = self._mix.set_share("attributes", share)
            best = self._try_mix(best, mix, (best.alpha,), _ASKED_OF_ATTRIBUTES)
        return best

    def _add_kernel(self, kernel: Kernel) -> Mix:
        """Walks beside a kernel of attributes, at its first share."""
        share = LADDERS["attributes"][0]
        return Mix(attributes=share, attribute_kernel=kernel, lean=self._mix.lean)

    def _climb(self, best: Trial, kind: str, take: Callable[[Trial, Mix], Trial]) -> Trial:
        """Give a kind larger and larger shares, for as long as ``take`` takes them."""
        for share in LADDERS[kind]:
            better = take(best, self._mix.set_share(kind, share))
            if better is best:
                break
            best = better
        return best

    def _try_larger_penalty(self, best: Trial, mix: Mix, needed: float | None = None) -> Trial:
        """Take a mix if it is clearly better at this penalty or a larger one.

        Short walks stand for noise. Long ones alone need a larger penalty, and so do groups, whose
        nodes are alike whatever walks there are between them.
        """
        return self._try_mix(best, mix, (best.alpha, _STEP * best.alpha), needed)

    def _try_mix(
        self, best: Trial, mix: Mix, alphas: Sequence[float], needed: float | None = None
    ) -> Trial:
        """Take a mix at its own best penalty if it is better; ``needed`` as in ``is_better``."""
        trial = self._try_kernel(mix.to_kernel(), alphas)
        if not is_better(best.losses, trial.losses, needed=needed):
            return best
        self._mix = mix
        return trial

    def _take_better(self, best: Trial, mix: Mix) -> Trial:
        """Take the new mix if it is clearly better at the penalty of the old one."""
        (new,) = self._evaluate(mix.to_kernel(), (best.alpha,))
        if not is_better(best.losses, new.losses):
            self.tried.append(new)
            return best
        self._mix = mix
        near = [
            alpha
            for alpha in (best.alpha / _STEP, best.alpha, best.alpha * _STEP)
            if _LEAST_ALPHA <= alpha <= _MOST_ALPHA or alpha == best.alpha
        ]
        return self._try_kernel(mix.to_kernel(), near)

    def _try_kernel(self, kernel: Kernel, alphas: Sequence[float]) -> Trial:
        """Find the best penalty of a kernel: of these, and beyond them for as long as it gains."""
        found = self._evaluate(kernel, alphas)
        while True:
            best = min(found, key=lambda trial: trial.loss)
            tried = [trial.alpha for trial in found]
            beyond = best.alpha / _STEP if best.alpha == min(tried) else best.alpha * _STEP
            is_inside = min(tried) < best.alpha < max(tried)
            if is_inside or self._alpha or not _LEAST_ALPHA <= beyond <= _MOST_ALPHA:
                self.tried.append(best)
                return best
            found += self._evaluate(kernel, (beyond,))

    def _refine_alpha(self, best: Trial) -> Trial:
        """Look halfway to the neighbouring penalties."""
        if self._alpha:
            return best
        half = _STEP**0.5
        near = [a for a in (best.alpha / half, best.alpha * half) if a >= _LEAST_ALPHA]
        trials = self._evaluate(best.kernel, near)
        return min([best, *trials], key=lambda trial: trial.loss)

    def compare(self, kernels: Sequence[Kernel], alphas: Sequence[float]) -> list[Trial]:
        """Return kernels at their best penalty of these, the best first."""
        self._alpha = None
        found = [min(self._evaluate(k, alphas), key=lambda trial: trial.loss) for k in kernels]
        self.tried += found
        return sorted(found, key=lambda trial: trial.loss)

    def _evaluate(self, kernel: Kernel, alphas: Sequence[float]) -> list[Trial]:
        alphas = alphas if self._alpha is None else (self._alpha,)
        tell_progress("choosing a kernel", len(self.tried), max(_USUAL, len(self.tried) + 1))
        trials = []
        predicted = self._ahead.get((kernel, tuple(alphas)))
        if predicted is None:
            predicted = self._predictor.predict(kernel, alphas)
        for alpha, predictions in zip(alphas, predicted, strict=True):
            losses, offset = self._judge(predictions)
            trials.append(Trial(kernel, float(alpha), offset, losses, predictions))
        return trials
