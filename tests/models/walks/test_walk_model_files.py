"""Files of node models: round trips, and files that are refused."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from examples import random_graph
from gradraker import NodeClassifier, NodeRegressor
from gradraker.exceptions import ModelFileError

# Two ways to the same solution: operators stop at a residual of 1e-12.
TOLERANCES = {"exact": 1e-12, "operators": 1e-9}
GIVEN: dict[str, Any] = {"blocks": ("hop1", "degree"), "width": 1.0, "alpha": 0.1}


@pytest.mark.parametrize("solver", ["exact", "operators"])
@pytest.mark.parametrize("given", [GIVEN, {}], ids=["given", "automatic"])
def test_a_reloaded_model_predicts_and_learns_the_same(
    tmp_path: Path, solver: Any, given: Any
) -> None:
    A, values, known = random_graph()
    late = known[:4]
    early = values.copy()
    early[late] = np.nan
    # Operators go on from their coefficients: all are solved to 1e-12.
    model = NodeRegressor(**given, solver=solver, tol=1e-12).fit(A, early, kind="matrix")
    model.partial_fit(values={int(late[0]): values[late[0]]})
    again = gradraker.load(model.save(tmp_path / "model.skg", notes={"from": "test"}))
    assert type(again) is NodeRegressor
    assert again.get_params() == model.get_params()
    np.testing.assert_allclose(again.predict(), model.predict(), atol=1e-12)
    assert again.choice_.kernel == model.choice_.kernel
    assert again.choice_.tried == model.choice_.tried
    for each in (model, again):
        each.partial_fit(values={int(node): values[node] for node in late[1:]})
    np.testing.assert_allclose(again.predict(), model.predict(), atol=TOLERANCES[solver])


@pytest.mark.parametrize("asked", [False, True], ids=["saved unasked", "saved after a prediction"])
@pytest.mark.parametrize("tol", [1e-3, 1e-12])
def test_a_reloaded_operator_model_has_the_same_intervals_and_left_out_error(
    tmp_path: Path, tol: Any, asked: Any
) -> None:
    A, values, known = random_graph()
    for given in (GIVEN, {}):
        model = NodeRegressor(**given, solver="operators", tol=tol).fit(A, values, kind="matrix")
        model.partial_fit(values={int(known[0]): 0.5})
        if asked:
            model.predict(return_interval=True)
        again = gradraker.load(model.save(tmp_path / "model.skg"))
        for name in ("rmse", "gnmse", "n_nodes"):
            found = getattr(again.left_out_error_, name)
            # The file of a model that was not asked holds no coefficients: each solves to tol.
            assert found == pytest.approx(getattr(model.left_out_error_, name), rel=10 * tol)
        expected = model.predict(return_interval=True, coverage=0.8)[1]
        found = again.predict(return_interval=True, coverage=0.8)[1]
        np.testing.assert_allclose(found, expected, atol=10 * tol + 1e-9)


def test_an_operator_model_that_is_loaded_and_saved_at_once_keeps_its_solution(
    tmp_path: Path,
) -> None:
    A, values, _ = random_graph()
    model = NodeRegressor(solver="operators", tol=1e-2).fit(A, values, kind="matrix")
    first = model.save(tmp_path / "first.skg")
    second = gradraker.load(first).save(tmp_path / "second.skg")
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(second) as new:
        assert "coefficients.npy" in old.namelist()
        for name in old.namelist():
            if name.endswith(".npy"):
                assert new.read(name) == old.read(name), name


def test_a_reloaded_operator_model_of_one_known_value_predicts_it(tmp_path: Path) -> None:
    model = NodeRegressor(solver="operators").fit([("a", "b"), ("b", "c")], {"a": 1.0})
    model.predict(return_interval=True)
    again = gradraker.load(model.save(tmp_path / "one_known_value.skg"))
    assert again.predict().tolist() == [1.0, 1.0]


CHANGES = {
    "another value": {"values": {4: 7.0}},
    "an edge": {"graph": [(1, 2, 3.0)]},
    "a node": {"graph": [(1, "new", 3.0)]},
    "a node with a value": {"graph": [(1, "new", 3.0)], "values": {"new": 2.0}},
    "a value": {"values": {5: 2.0}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_reloaded_operator_model_learns_changes_before_it_is_asked(
    tmp_path: Path, change: Any
) -> None:
    A, values, _ = random_graph()
    values[4], values[5] = 1.0, np.nan
    options: dict[str, Any] = GIVEN | {"solver": "operators", "tol": 1e-12}
    model = NodeRegressor(**options).fit(A, values, kind="matrix")
    model.predict()
    again = gradraker.load(model.save(tmp_path / "model.skg"))
    model.partial_fit(**change)
    again.partial_fit(**change)
    np.testing.assert_allclose(again.predict(), model.predict(), atol=TOLERANCES["operators"])


def test_a_reloaded_operator_classifier_learns_a_new_class(tmp_path: Path) -> None:
    A, _, known = random_graph()
    labels = {int(node): "xy"[i % 2] for i, node in enumerate(known)}
    options: dict[str, Any] = GIVEN | {"solver": "operators", "tol": 1e-12}
    model = NodeClassifier(**options).fit(A, labels, kind="matrix")
    model.predict_proba()
    again = gradraker.load(model.save(tmp_path / "model.skg"))
    new = next(i for i in range(31) if i not in labels)
    whole = NodeClassifier(**options).fit(A, labels | {new: "z"}, kind="matrix")
    again.partial_fit(values={new: "z"})
    np.testing.assert_allclose(again.predict_proba(), whole.predict_proba(), atol=1e-8)


def test_equal_models_make_equal_files(tmp_path: Path) -> None:
    A, values, _ = random_graph()
    paths = [
        NodeRegressor(**GIVEN).fit(A, values, kind="matrix").save(tmp_path / f"{i}.skg")
        for i in range(2)
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def _rewritten(path: Any, change: Any) -> Any:
    """The file with its header and arrays changed; checksums are made anew."""
    from gradraker.models.persistence.archive import read_archive, write_archive

    content = read_archive(path)
    header, arrays = content.header, content.arrays
    change(header, arrays)
    with open(path, "wb") as file:
        kept = {part: header[part] for part in ("class", "parameters", "state")}
        write_archive(file, kept | {"notes": {}}, arrays)
    return path


def _set(place: Any, key: Any, value: Any) -> Any:
    def change(header: Any, arrays: Any) -> None:
        places = {
            "state": header["state"],
            "model": header["state"]["model"],
            "parameters": header["parameters"],
            "arrays": arrays,
        }
        places[place][key] = value

    return change


CHOICE = {"alpha": 1.0, "tried": [], "n_used": 13}
DAMAGES = {
    "column beyond the nodes": _set("arrays", "indices", np.full(1, 99)),
    "row ends": _set("arrays", "indptr", np.array([0, 5])),
    "values of others": _set("arrays", "values", np.zeros(3)),
    "infinite value": _set("arrays", "values", np.full(31, np.inf)),
    "node twice": _set("arrays", "nodes", np.zeros(31, dtype=np.int64)),
    "arrival of nobody": _set("arrays", "arrived", np.array([31])),
    "seed": _set("state", "seed_", -1),
    "no blocks": _set("model", "choice", {"kernel": [], "alpha": 1.0, "tried": [], "n_used": 0}),
    "no width": _set("model", "choice", CHOICE | {"kernel": [["hop1", 0.0, 1.0]]}),
    "shares beyond 1": _set("model", "choice", CHOICE | {"kernel": [["hop1", 1.0, 1e300]]}),
    "graph options": _set("state", "graph_options", {"hops": 3}),
    "parameter": _set("parameters", "width", -1.0),
    "labels for a regressor": _set("state", "labels", ["x"] * 31),
}


NAN = np.full((13, 1), np.nan)
OPERATOR_DAMAGES = {
    "coefficients of others": _set("arrays", "coefficients", np.zeros((12, 1))),
    "coefficients without columns": _set("arrays", "coefficients", np.zeros(13)),
    "coefficients that are not finite": _set("arrays", "coefficients", NAN),
    "products of others": _set("arrays", "products", np.zeros((30, 1))),
    "products of two values": _set("arrays", "products", np.zeros((31, 2))),
    "products that are not finite": _set("arrays", "products", np.full((31, 1), np.inf)),
    "no products": lambda header, arrays: arrays.pop("products"),
    "left-out predictions of others": _set("arrays", "left_out_predictions", np.zeros((12, 1))),
    "left-out predictions not finite": _set("arrays", "left_out_predictions", NAN),
    "no left-out predictions": lambda header, arrays: arrays.pop("left_out_predictions"),
    "left-out position beyond": _set("arrays", "left_out_positions", np.arange(1, 14)),
    "negative left-out position": _set("arrays", "left_out_positions", np.arange(-1, 12)),
    "left-out positions as text": _set("arrays", "left_out_positions", np.array(["a"] * 13)),
    "fractional left-out positions": _set("arrays", "left_out_positions", np.arange(13.0) + 0.5),
    "assessed beyond known": _set("model", "n_assessed", 14),
    "no number of assessed": lambda header, arrays: header["state"]["model"].pop("n_assessed"),
    "negative number at choice": _set("model", "n_at_choice", -1),
}


@pytest.mark.parametrize("damage", OPERATOR_DAMAGES.values(), ids=OPERATOR_DAMAGES)
def test_a_file_with_damaged_operator_arrays_is_refused(tmp_path: Path, damage: Any) -> None:
    A, values, _ = random_graph()
    options: dict[str, Any] = GIVEN | {"solver": "operators"}
    model = NodeRegressor(**options).fit(A, values, kind="matrix")
    model.predict(return_interval=True)
    path = model.save(tmp_path / "model.skg")
    assert gradraker.load(path).predict().shape == (18,)
    with pytest.raises(ModelFileError, match="cannot be read"):
        gradraker.load(_rewritten(path, damage))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_with_inconsistent_content_is_refused(tmp_path: Path, damage: Any) -> None:
    A, values, _ = random_graph()
    path = NodeRegressor(**GIVEN).fit(A, values, kind="matrix").save(tmp_path / "model.skg")
    with pytest.raises(ModelFileError, match="cannot be read"):
        gradraker.load(_rewritten(path, damage))


def test_a_file_of_another_class_is_refused(tmp_path: Path) -> None:
    A, values, _ = random_graph()
    path = NodeRegressor(**GIVEN).fit(A, values, kind="matrix").save(tmp_path / "model.skg")
    with pytest.raises(ModelFileError, match="holds a model of class 'NodeRegressor'"):
        NodeClassifier.load(path)
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("header.json"))["class"] == "NodeRegressor"
