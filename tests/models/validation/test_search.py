"""A search over parameters of models of graphs."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterSampler

from gradraker import NodeRegressor, load_temperature
from gradraker.models import cross_validate_nodes, search_nodes

DATA = load_temperature()
HALF = np.where(np.arange(len(DATA.values)) % 2, DATA.values, np.nan)
MODEL = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
GRID = {"alpha": [0.01, 0.1, 1000.0], "width": [1.0, 2.0]}


def test_scores_are_those_of_cross_validation() -> None:
    found = search_nodes(MODEL, GRID, DATA, HALF, cv=3)
    assert len(found.cv_results["params"]) == 6
    for parameters, mean in zip(
        found.cv_results["params"], found.cv_results["mean_test_score"], strict=True
    ):
        model = NodeRegressor(**({"blocks": "hop1"} | parameters))
        expected = cross_validate_nodes(model, DATA, HALF, cv=3)["test_score"].mean()
        assert mean == pytest.approx(expected, abs=1e-12)
    assert found.best_score == max(found.cv_results["mean_test_score"])
    frame = found.to_frame()
    assert frame.iloc[0]["params"] == found.best_params
    assert sorted(frame["rank_test_score"]) == frame["rank_test_score"].tolist()


def test_the_best_model_has_learned_all_known_values() -> None:
    found = search_nodes(MODEL, {"alpha": [0.1]}, DATA, HALF, cv=2)
    assert found.best_model is not None
    np.testing.assert_array_equal(found.best_model.predict(), MODEL.fit(DATA, HALF).predict())
    assert search_nodes(MODEL, {"alpha": [0.1]}, DATA, HALF, cv=2, refit=False).best_model is None


def test_lists_of_grids_and_samplers() -> None:
    grids = [{"alpha": [0.1, 1.0]}, {"transform": ["none", "power"]}]
    assert len(search_nodes(MODEL, grids, DATA, HALF, cv=2).cv_results["params"]) == 4
    sampler = ParameterSampler({"alpha": [0.1, 1.0, 10.0]}, 2, random_state=0)
    assert len(search_nodes(MODEL, sampler, DATA, HALF, cv=2).cv_results["params"]) == 2


def test_several_scores_need_one_that_decides() -> None:
    scoring = ["r2", "neg_mean_absolute_error"]
    with pytest.raises(ValueError, match="refit must name the score that decides"):
        search_nodes(MODEL, GRID, DATA, HALF, cv=2, scoring=scoring)
    found = search_nodes(MODEL, GRID, DATA, HALF, cv=2, scoring=scoring, refit="r2")
    assert found.best_score == max(found.cv_results["mean_test_r2"])
    with pytest.raises(ValueError, match="refit must name one of"):
        search_nodes(MODEL, GRID, DATA, HALF, cv=2, scoring=scoring, refit="mse")


def test_bad_grids_are_refused() -> None:
    with pytest.raises(ValueError, match="grid holds no parameters"):
        search_nodes(MODEL, [], DATA, HALF)
    with pytest.raises(ValueError, match="Invalid parameter 'sigma'"):
        search_nodes(MODEL, {"sigma": [1.0]}, DATA, HALF)
