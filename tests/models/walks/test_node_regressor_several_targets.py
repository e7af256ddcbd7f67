"""Several targets at once: one kernel, one factorisation, each target in its own units."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, load
from gradraker.datasets import make_geometric_graph
from gradraker.models import cross_validate_nodes
from two_targets import EDGES, KNOWN

N = 120
DATA = make_geometric_graph(n_nodes=N, random_state=0)
NAMES = [str(i) for i in range(N)]
_Z = (DATA.values - DATA.values.mean()) / DATA.values.std()
_RNG = np.random.default_rng(0)
Y = np.column_stack([_Z + 0.2 * _RNG.normal(size=N), 1e6 * _Z, 5.0 - _Z])
SHOWN = np.where(np.arange(N)[:, np.newaxis] % 2 == 0, Y, np.nan)
UNKNOWN = np.arange(N) % 2 == 1
# Some nodes are known in one or two targets only.
HOLES = SHOWN.copy()
HOLES[0:40:4, 0] = np.nan
HOLES[2:60:8, 2] = np.nan
SOLVERS = ["exact", "operators"]
FIXED: dict[str, Any] = {"blocks": ("hop1", "hop2"), "width": 1.0, "alpha": 0.1}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shown", [SHOWN, HOLES], ids=["complete", "holes"])
def test_targets_are_predicted_as_one_at_a_time(solver: str, shown: Any) -> None:
    settings = FIXED | {"solver": solver, "tol": 1e-9, "transform": "none"}
    model = NodeRegressor(**settings).fit(DATA, shown)
    predicted, intervals = model.predict(NAMES, return_interval=True, coverage=0.8)
    assert predicted.shape == (N, 3)
    assert intervals.shape == (N, 3, 2)
    new = model.predict_new({"new": ["0", "1"]})["new"]
    for j in range(3):
        alone = NodeRegressor(**settings).fit(DATA, shown[:, j])
        expected, ends = alone.predict(NAMES, return_interval=True, coverage=0.8)
        size = np.abs(expected).max()
        np.testing.assert_allclose(predicted[:, j], expected, atol=1e-6 * size)
        assert new[j] == pytest.approx(alone.predict_new({"new": ["0", "1"]})["new"], rel=1e-5)
        if solver == "exact":
            np.testing.assert_allclose(intervals[:, j], ends, rtol=1e-6, atol=1e-6 * size)
            left_out = model.predict_left_out()[j]
            np.testing.assert_allclose(left_out.predictions, alone.predict_left_out().predictions)
            assert model.left_out_error_[j].rmse == pytest.approx(alone.left_out_error_.rmse)
        found, single = model.explain(["1"], target=j), alone.explain(["1"])
        np.testing.assert_allclose(found.weights, single.weights, atol=1e-5)
        assert found.parts is not None
        assert single.parts is not None
        np.testing.assert_allclose(found.parts, single.parts, atol=1e-4 * size)
        assert found.known_names == single.known_names


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_kernel_is_chosen_for_all(solver: str) -> None:
    model = NodeRegressor(solver=solver).fit(DATA, SHOWN)
    assert model.choice_.kernel
    assert model.score(NAMES[1::2], Y[UNKNOWN]) > 0.4


def test_units_of_targets_do_not_matter() -> None:
    model = NodeRegressor().fit(DATA, SHOWN)
    other = NodeRegressor().fit(DATA, SHOWN * [1.0, 1e-9, 4.0] + [0.0, 7.0, 0.0])
    assert model.kernel_ == other.kernel_
    np.testing.assert_allclose(
        other.predict(), model.predict() * [1.0, 1e-9, 4.0] + [0.0, 7.0, 0.0], rtol=1e-6, atol=1e-9
    )


def test_each_target_has_its_scale() -> None:
    skewed = np.column_stack([Y[:, 0], np.exp(3.0 * _Z + 0.5 * _RNG.normal(size=N))])
    model = NodeRegressor().fit(DATA, np.where(UNKNOWN[:, np.newaxis], np.nan, skewed))
    assert model.transform_[0] == "value"
    assert model.transform_[1] != "value"
    assert (model.predict()[:, 1] >= 0.0).all()
    assert model.explain(["1"], target=0).units is None
    assert model.explain(["1"], target=1).units is not None


def test_values_of_every_form_give_the_same_targets() -> None:
    expected = NodeRegressor(**FIXED).fit(DATA, SHOWN).predict()
    vectors = {NAMES[i]: SHOWN[i].tolist() for i in range(0, N, 2)} | {"1": None}
    named = {
        NAMES[i]: dict(zip(("age", "income", "vote"), SHOWN[i], strict=True))
        for i in range(0, N, 2)
    }
    frame = pd.DataFrame(SHOWN[::2], columns=["age", "income", "vote"])
    frame.insert(0, "node", NAMES[::2])
    columns = ["age", "income", "vote"]
    for values, options, names in (
        (vectors, {}, [0, 1, 2]),
        (named, {}, columns),
        (frame, {"value": columns}, columns),
        (pl.from_pandas(frame), {"value": columns, "node": "node"}, columns),
    ):
        model = NodeRegressor(**FIXED).fit(DATA, values, **options)
        np.testing.assert_allclose(model.predict(), expected, rtol=1e-9, atol=1e-9)
        assert model.target_names_ == names


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shown", [SHOWN, HOLES], ids=["complete", "holes"])
def test_files_keep_targets(tmp_path: Path, solver: str, shown: Any) -> None:
    model = NodeRegressor(solver=solver).fit(DATA, shown)
    again = load(model.save(tmp_path / "model.gr"))
    np.testing.assert_allclose(again.predict(), model.predict(), rtol=1e-9)
    assert again.target_names_ == model.target_names_
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(), model.predict())
    state, arrays = model.dump_state()
    state["model"]["columns"][1]["unit"] = 0.0
    with pytest.raises(ValueError, match="scale of a target"):
        NodeRegressor.from_state(model.get_params(), state, arrays)


@pytest.mark.parametrize("solver", SOLVERS)
def test_targets_come_one_after_the_other(solver: str) -> None:
    settings = FIXED | {"solver": solver, "tol": 1e-9, "transform": "none"}
    whole = NodeRegressor(**settings).fit(DATA, HOLES)
    model = NodeRegressor(**settings).partial_fit(DATA)
    for i in range(0, N, 2):
        model.partial_fit(values={NAMES[i]: {j: HOLES[i, j] for j in range(3)}})
    size = np.abs(Y).max(axis=0)
    np.testing.assert_allclose(model.predict() / size, whole.predict() / size, atol=1e-6)
    # One target of a node that is known in the others stays; NaN says nothing new.
    model.partial_fit(values={"0": [np.nan, np.nan, 4.0]})
    assert model.values_[0].tolist()[1:] == [HOLES[0, 1], 4.0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_forgotten_values_were_never_there(solver: str) -> None:
    model = NodeRegressor(solver=solver, tol=1e-9).fit(DATA, HOLES)
    rest = HOLES.copy()
    rest[[4, 6]] = np.nan
    fresh = NodeRegressor(solver=solver, tol=1e-9).fit(DATA, rest)
    np.testing.assert_allclose(
        model.forget(values=["4", "6"]).predict(), fresh.predict(), rtol=1e-7
    )


def test_targets_are_cross_validated() -> None:
    scores = cross_validate_nodes(NodeRegressor(**FIXED), DATA, SHOWN, cv=3)
    assert (scores["test_score"] > 0.0).all()


def test_one_column_is_one_target() -> None:
    model = NodeRegressor(**FIXED).fit(DATA, SHOWN[:, :1])
    assert model.predict().shape == (60,)
    assert model.target_names_ == []


def test_bad_input_is_refused() -> None:
    model = NodeRegressor(**FIXED).fit(DATA, SHOWN)
    for act, message in (
        (lambda: model.partial_fit(values={"1": 3.0}), "one number per node"),
        (lambda: model.partial_fit(values={"1": {"age": 3.0}}), "the target 'age'"),
        (lambda: model.partial_fit(values={"1": [1.0, 2.0, 3.0, 4.0]}), "the target"),
        (lambda: model.explain(["1"]), "target must be one of"),
        (lambda: model.explain(["1"], target=9), "target must be one of"),
        (lambda: NodeRegressor().fit(DATA, {"1": [1.0], "2": [1.0, 2.0]}), "of the shapes"),
        (lambda: NodeRegressor().fit(DATA, SHOWN[:5]), "there are 120 nodes"),
        (lambda: SKGNodeRegressor().fit(DATA, SHOWN), "SKGNodeRegressor predicts one"),
        (lambda: NodeRegressor().fit(DATA, Y * 1e200), "must lie between"),
        (
            lambda: NodeRegressor().fit(
                DATA, pd.DataFrame({"node": NAMES, "a": Y[:, 0]}), value=["a", "a"]
            ),
            "different columns",
        ),
    ):
        before = model.predict()
        with pytest.raises(ValueError, match=message):
            act()
        np.testing.assert_array_equal(model.predict(), before)
    single = NodeRegressor(**FIXED).fit(DATA, SHOWN[:, 0])
    with pytest.raises(ValueError, match="has learned one target"):
        single.partial_fit(values={"1": [1.0, 2.0]})
    with pytest.raises(ValueError, match="target must be None"):
        single.explain(["1"], target="age")


def test_classes_may_still_be_tuples() -> None:
    model = NodeClassifier().fit(DATA, {NAMES[i]: ("a", i % 4) for i in range(0, N, 2)})
    assert model.classes_.tolist() == [("a", 0), ("a", 2)]


def test_mean_of_several_targets_has_one_number_for_each() -> None:
    model = NodeRegressor().fit(EDGES, KNOWN)
    np.testing.assert_array_equal(model.mean_, [40.0, 6000.0])  # the income of b is unknown
    assert NodeRegressor().fit(EDGES, {"a": 1.0, "b": 4.0}).mean_ == 2.5
