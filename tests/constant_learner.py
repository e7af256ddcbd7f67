"""A learner whose predictions are known beforehand, instead of the one that the demo trains."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.workflow import demo


class ConstantLearner:
    """Predicts 0.6 everywhere: in January -14.0 + 0.6 (2.7 + 14.0) = -3.98 °C."""

    made: Any = None

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters
        ConstantLearner.made = self

    def fit(self, X: Any, y: NDArray[np.float64]) -> "ConstantLearner":
        self.X, self.y = X, y
        self.sigma2_ = 4.25
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.full(X.shape[0], 0.6)

    def explain(self, X: Any, known_names: Any) -> Any:
        weights = np.full((1, len(self.y)), 0.6 / self.y.sum())
        return LinearExplanation(weights, self.y, np.array([0.6]), [0], known_names)


def put_constant_learner(monkeypatch: pytest.MonkeyPatch) -> type[ConstantLearner]:
    """Make the demo train a constant learner until the test ends."""
    # In the module's dict, since setattr would first load and compile the real learner.
    monkeypatch.setattr(demo, "SKGRegressor", ConstantLearner)
    monkeypatch.setattr(ConstantLearner, "made", None)
    return ConstantLearner


def draw_split() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Known and unknown stations of the demo with seed 0."""
    order = np.random.default_rng(0).permutation(89)
    return order[:36], order[36:]
