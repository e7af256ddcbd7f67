"""Node models of numbers: the scale in which values are predicted, and the way back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_choice
from gradraker.explain.linear_explanation import LinearExplanation, Units
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.walks.choice import Choice, TriedTransform, choose_mean
from gradraker.models.walks.exact.blocks import ExactBlocks
from gradraker.models.walks.exact.solution import KernelSolution
from gradraker.models.walks.operators.operators import Operators
from gradraker.models.walks.operators.selection import Selection, make_predictor
from gradraker.models.walks.parameters import check_parameters
from gradraker.models.walks.solution import LeftOutNodes
from gradraker.models.walks.targets.scales import Scale, compute_constants, make_scale
from gradraker.models.walks.targets.transform_choice import (
    LeftOutScaled,
    choose_transform,
    is_rough,
    list_transforms,
)
from gradraker.models.walks.targets.transforms import (
    NoTransform,
    Transform,
    check_transform,
    dump_transform,
    fit_given,
    restore_transform,
)
from gradraker.models.walks.walk_model import WalkModel

_STATISTICS = ("mean", "median")


class ScaledModel(WalkModel):
    """A node model of numbers that are predicted in a scale of their own."""

    _transform: Transform | None

    def __init__(
        self,
        *,
        transform: Any = "auto",
        statistic: str = "mean",
        blocks: Any = "auto",
        width: float | str = "auto",
        alpha: float | str = "auto",
        solver: str = "auto",
        direction: str = "both",
        neighbours: str = "all",
        reselect: str = "auto",
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(
            blocks=blocks,
            width=width,
            alpha=alpha,
            solver=solver,
            direction=direction,
            neighbours=neighbours,
            reselect=reselect,
            tol=tol,
            random_state=random_state,
        )
        self.transform = transform
        self.statistic = statistic

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_transform(self.transform)
        check_choice("statistic", self.statistic, _STATISTICS)

    def _reset(self) -> None:
        super()._reset()
        self._transform = None

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        values = self._values[self._is_known]
        if not _is_auto(self.transform) and values.size:
            fit_given(self.transform, values)  # refuses values that it cannot take
        super()._learn_changes(changed, graph_grew=graph_grew)

    # -- the scale of values ---------------------------------------------------

    def _encode(self, known: NDArray[Any]) -> NDArray[np.float64]:
        values = np.asarray(known, dtype=np.float64)
        assert self._transform is not None
        return self._transform.apply(values)[:, np.newaxis]

    def _decode(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        return targets[:, 0]

    def _is_outdated(self, choice: Choice, n_known: int) -> bool:
        if self._transform is None or not self._transform.can_take(self._values[self._is_known]):
            return True
        if (
            _is_auto(self.transform)
            and check_parameters(self.blocks, self.width, self.alpha).are_complete
        ):
            return not self._choice_is_current and self._is_time_to_choose(n_known)
        return super()._is_outdated(choice, n_known)

    def _choose_targets(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64]
    ) -> Selection | None:
        values = self._values[known]
        candidates = list_transforms(self.transform, values)
        selected: Selection | None = None

        def choose_kernel(transform: Transform) -> bool:
            nonlocal selected
            self._transform = transform
            selected = self._choose(description, known, self._encode(values))
            assert self._choice is not None
            return bool(self._choice.kernel)

        def leave_out(transforms: Sequence[Transform]) -> LeftOutScaled:
            Y = np.column_stack([one.apply(values) for one in transforms])
            return self._leave_out(description, known, Y, selected)

        if len(candidates) == 1 and not (_is_auto(self.transform) and self._has_doubts(values)):
            choose_kernel(candidates[0])
            tried: tuple[TriedTransform, ...] = ()
        else:
            found = choose_transform(candidates, values, self.statistic, choose_kernel, leave_out)
            self._transform, tried = found.transform, found.tried
            assert self._choice is not None
            if found.is_constant and self.alpha == "auto" and self._choice.kernel:
                self._choice = choose_mean(known.size, self._choice.tried)
                selected = None
        assert self._choice is not None
        assert self._transform is not None
        if not self._choice.kernel:
            self._transform = NoTransform()  # a constant needs no scale
        self._choice = replace(self._choice, transform=self._transform.name, tried_transforms=tried)
        return selected

    def _has_doubts(self, values: NDArray[np.float64]) -> bool:
        """Whether a kernel must show in the units of the user that it beats the constant."""
        return is_rough(values)

    def _leave_out(
        self,
        description: ExactBlocks | Operators,
        known: NDArray[np.int64],
        Y: NDArray[np.float64],
        selected: Selection | None,
    ) -> LeftOutScaled:
        """Predict known nodes without their own values (N, scales), with the kernel chosen."""
        assert self._choice is not None
        if isinstance(description, ExactBlocks):
            description.keep_products(known)
            left_out = KernelSolution(description, known, Y, self._choice).predict_left_out()
            return LeftOutScaled(left_out.positions, left_out.predictions)
        if Y.shape[1] == 1 and selected is not None and selected.assessment is not None:
            return LeftOutScaled(selected.assessment.positions, selected.assessment.predictions)
        predictor = make_predictor(description, known, Y)
        (predictions,) = predictor.predict(self._choice.kernel, (self._choice.alpha,))
        return LeftOutScaled(predictor.positions, predictions)

    def _make_scale(self) -> Scale:
        """The way back to the units of the user, for the present solution."""
        solution = self._get_solution()
        assert self._choice is not None
        assert self._transform is not None
        residuals = np.empty(0)
        if self.statistic == "median" or not isinstance(self._transform, NoTransform):
            left_out = solution.predict_left_out()
            residuals = solution.Y[left_out.positions, 0] - left_out.predictions[:, 0]
        return make_scale(
            self._transform,
            self.statistic,
            self._values[solution.known],
            residuals,
            is_constant=not self._choice.kernel,
        )

    @property
    def transform_(self) -> str:
        """Formula of the scale in which weights add up."""
        self._get_solution()
        assert self._transform is not None
        return self._transform.formula

    def _predict_left_out_scaled(self) -> LeftOutNodes:
        """Left-out nodes in the scale; of a constant, the constant of the others."""
        solution = self._get_solution()
        left_out = solution.predict_left_out()
        if self.choice_.kernel:
            return left_out
        constants = compute_constants(solution.Y[:, 0], self.statistic)
        return left_out._replace(predictions=constants[left_out.positions, np.newaxis])

    def _make_explanation(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        scores: NDArray[np.float64],
        part_names: tuple[str, ...] = (),
        parts: NDArray[np.float64] | None = None,
    ) -> LinearExplanation:
        found = super()._make_explanation(rows, weights, scores, part_names, parts)
        scale, known = self._make_scale(), self._values[self._get_solution().known]
        predictions = scale.to_units(found.prediction)
        if isinstance(scale.transform, NoTransform) and np.array_equal(
            predictions, found.prediction
        ):
            return found
        return replace(found, units=Units(scale.transform.formula, known, predictions))

    def describe(self) -> dict[str, Any]:
        """Return what the model chose, and how other candidates fared."""
        facts = super().describe()
        given = self.transform if isinstance(self.transform, str) else "given"
        facts["choice"] |= {"formula": self.transform_, "statistic": self.statistic}
        facts["settings"] |= {"transform": given, "statistic": self.statistic}
        return facts

    # -- files -----------------------------------------------------------------

    def _dump_state(self) -> tuple[State, Arrays]:
        state, arrays = super()._dump_state()
        return state | {"transform": dump_transform(self._transform)}, arrays

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        self._transform = restore_transform(state["transform"])
        super()._restore_state(state, arrays)


def _is_auto(transform: Any) -> bool:
    return isinstance(transform, str) and transform == "auto"
