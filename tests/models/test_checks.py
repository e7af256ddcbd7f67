"""Every model of graphs passes the battery of checks, and a model that breaks the rules fails."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor
from gradraker.models import check_node_model
from gradraker.models.checks import list_node_model_checks

MODELS = {
    "NodeRegressor": NodeRegressor(),
    "NodeRegressor, operators": NodeRegressor(solver="operators", tol=1e-10),
    "NodeClassifier, operators": NodeClassifier(solver="operators", tol=1e-10),
    "NodeRegressor, known neighbours": NodeRegressor(neighbours="known"),
    "NodeClassifier": NodeClassifier(),
    "SKGNodeRegressor": SKGNodeRegressor(),
    "SKGNodeRegressor, two hops both ways": SKGNodeRegressor(
        sigma2=2.0, direction="both", hops=2, hop_weights="random_walk"
    ),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(("name", "check"), list(list_node_model_checks()))
def test_node_models_pass_every_check_of_the_battery(
    model: Any, name: str, check: Callable[..., Any]
) -> None:
    before = repr(model.get_params())
    check(clone(model))
    assert repr(model.get_params()) == before, name


class Liar(NodeRegressor):
    def predict(self, nodes: NDArray[np.object_] | None = None, **options: Any) -> Any:
        return super().predict(nodes, **options) + np.random.default_rng().normal()


def test_battery_fails_a_model_that_predicts_at_random() -> None:
    with pytest.raises(AssertionError, match="check_predict_takes_names"):
        check_node_model(Liar())
