"""Folds of known nodes: splitters, groups, and values that stay hidden."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from gradraker import NodeRegressor, load_temperature
from gradraker.models import cross_validate_nodes

DATA = load_temperature()
NAMES = np.array(DATA.node_names, dtype=object)
FIXED = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
HALF = np.where(np.arange(len(DATA.values)) % 2, DATA.values, np.nan)


@pytest.mark.parametrize(
    "cv", [3, KFold(4), ShuffleSplit(2, random_state=0), [(np.arange(20), np.arange(20, 44))]]
)
def test_splitters_of_scikit_learn(cv: Any) -> None:
    scores = cross_validate_nodes(FIXED, DATA, HALF, cv=cv, return_train_score=True)
    n_folds = {"int": 3, "KFold": 4, "ShuffleSplit": 2, "list": 1}[type(cv).__name__]
    assert scores["test_score"].shape == scores["train_score"].shape == (n_folds,)
    assert (scores["train_score"] > scores["test_score"]).all()


def test_groups_stay_together() -> None:
    groups = {name: name[0] for name in NAMES.tolist()}
    found = cross_validate_nodes(
        FIXED, DATA, HALF, cv=GroupKFold(3), groups=groups, return_indices=True
    )
    known = np.flatnonzero(~np.isnan(HALF))
    letters = np.array([name[0] for name in NAMES[known].tolist()])
    for train, test in zip(*found["indices"].values(), strict=True):
        assert not set(letters[train]) & set(letters[test])
    with pytest.raises(ValueError, match="groups has no entry"):
        cross_validate_nodes(FIXED, DATA, HALF, cv=GroupKFold(3), groups={})
    with pytest.raises(ValueError, match="groups has 3 entries"):
        cross_validate_nodes(FIXED, DATA, HALF, cv=GroupKFold(3), groups=[1, 2, 3])


@pytest.mark.parametrize("model", [NodeRegressor(), NodeRegressor(solver="operators")])
def test_hidden_values_reach_nothing(model: NodeRegressor) -> None:
    """Other values of the hidden nodes change neither choice nor predictions."""
    test = np.arange(15)
    known = np.flatnonzero(~np.isnan(HALF))
    folds = [(np.arange(15, known.size), test)]
    other = HALF.copy()
    other[known[test]] = 1e6
    first, second = (
        cross_validate_nodes(model, DATA, y, cv=folds, return_estimator=True)["estimator"][0]
        for y in (HALF, other)
    )
    assert repr(first.choice_) == repr(second.choice_)
    np.testing.assert_array_equal(first.predict(), second.predict())
    assert set(NAMES[known[test]]) <= set(first.unknown_nodes_)
