"""Cross-validation of models of graphs: folds, scorers, hidden values."""

from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, LeaveOneOut

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, load_temperature
from gradraker.models import cross_validate_nodes

DATA = load_temperature()
NAMES = np.array(DATA.node_names, dtype=object)
FIXED = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
HALF = np.where(np.arange(len(DATA.values)) % 2, DATA.values, np.nan)


def test_scores_are_those_of_fits_by_hand() -> None:
    cv = KFold(4, shuffle=True, random_state=3)
    scores = cross_validate_nodes(FIXED, DATA, HALF, cv=cv, return_indices=True)
    known = np.flatnonzero(~np.isnan(HALF))
    for fold, test in enumerate(scores["indices"]["test"]):
        shown = HALF.copy()
        shown[known[test]] = np.nan
        model = clone(FIXED).fit(DATA, shown)
        names = NAMES[known[test]].tolist()
        expected = r2_score(HALF[known[test]], model.predict(names))
        assert scores["test_score"][fold] == pytest.approx(expected, abs=1e-12)


def test_leave_one_out_equals_the_closed_form() -> None:
    model = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1, transform="none")
    scores = cross_validate_nodes(
        model, DATA, HALF, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    )
    rmse = model.fit(DATA, HALF).left_out_error_.rmse
    assert np.sqrt(-scores["test_score"].mean()) == pytest.approx(rmse, rel=1e-8)


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", "neg_log_loss", ["accuracy", "f1_macro"], {"a": "accuracy"}]
)
def test_classes_and_their_scorers(scoring: Any) -> None:
    labels = np.where(DATA.values > np.median(DATA.values), "warm", "cold").astype(object)
    scores = cross_validate_nodes(NodeClassifier(), DATA, labels, cv=3, scoring=scoring)
    tested = [name for name in scores if name.startswith("test_")]
    assert len(tested) == (2 if isinstance(scoring, list) else 1)
    assert np.isfinite([scores[name] for name in tested]).all()
    assert len(scores.to_frame()) == 3


def test_other_models_of_graphs_and_parallel_folds() -> None:
    model = SKGNodeRegressor(sigma2=1.0, n_frequencies=20)
    alone = cross_validate_nodes(model, DATA, HALF, cv=2)["test_score"]
    with parallel_config(backend="threading", n_jobs=2):
        together = cross_validate_nodes(model, DATA, HALF, cv=2)["test_score"]
    np.testing.assert_array_equal(alone, together)


def test_the_model_is_not_changed() -> None:
    model = clone(FIXED)
    cross_validate_nodes(model, DATA, HALF, cv=2)
    assert not hasattr(model, "seed_")


def test_bad_input_is_refused() -> None:
    with pytest.raises(TypeError, match="models of rows"):
        cross_validate_nodes(object(), DATA, HALF)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="known for 2 nodes"):
        cross_validate_nodes(FIXED, DATA, {NAMES[0]: 1.0})
    with pytest.raises(ValueError, match="scoring"):
        cross_validate_nodes(FIXED, DATA, HALF, scoring="nonsense")
    with pytest.raises(ValueError, match="not in the graph"):
        cross_validate_nodes(FIXED, DATA, {"Atlantis": 1.0, "Davos": 2.0})
