"""Files of node models: round trips, and files that are refused."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from examples import random_graph
from gradraker import NodeClassifier, NodeRegressor
from gradraker.exceptions import ModelFileError

GIVEN: dict[str, Any] = {
    "blocks": ("hop1", "degree"),
    "width": 1.0,
    "alpha": 0.1,
    "n_frequencies": 8,
}


@pytest.mark.parametrize("solver", ["kernel", "ridge", "lms"])
@pytest.mark.parametrize("given", [GIVEN, {"n_frequencies": 8}], ids=["given", "automatic"])
def test_a_reloaded_model_predicts_and_learns_the_same(
    tmp_path: Path, solver: str, given: dict[Any, Any]
) -> None:
    A, values, known = random_graph()
    late = known[:4]
    early = values.copy()
    early[late] = np.nan
    model = NodeRegressor(**given, solver=solver).fit(A, early, kind="matrix")
    model.partial_fit(values={int(late[0]): values[late[0]]})
    again = gradraker.load(model.save(tmp_path / "model.skg", notes={"from": "test"}))
    assert type(again) is NodeRegressor
    assert again.get_params() == model.get_params()
    np.testing.assert_allclose(again.predict(), model.predict(), atol=1e-12)
    assert again.choice_.kernel == model.choice_.kernel
    assert again.choice_.tried == model.choice_.tried
    for each in (model, again):
        each.partial_fit(values={int(node): values[node] for node in late[1:]})
    np.testing.assert_allclose(again.predict(), model.predict(), atol=1e-12)


def test_names_and_labels_of_all_kinds_come_back(tmp_path: Path) -> None:
    edges = [("a", ("b", 1)), (("b", 1), 2.5), (2.5, b"c"), ("a", 7)]
    labels = {"a": "x", 2.5: ("y", 2), 7: 3}
    model = NodeClassifier().fit(edges, labels)
    again = NodeClassifier.load(model.save(tmp_path / "model.skg"))
    assert again.nodes_.tolist() == model.nodes_.tolist()
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_allclose(again.predict_proba(), model.predict_proba(), atol=1e-12)


def test_a_label_that_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    model = NodeClassifier().fit([("a", "b"), ("b", "c")], {"a": frozenset([1]), "b": "x"})
    with pytest.raises(TypeError, match=r"label frozenset\(\{1\}\) is of type frozenset"):
        model.save(tmp_path / "model.skg")


def test_equal_models_make_equal_files(tmp_path: Path) -> None:
    A, values, _ = random_graph()
    paths = [
        NodeRegressor(**GIVEN).fit(A, values, kind="matrix").save(tmp_path / f"{i}.skg")
        for i in range(2)
    ]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def _rewritten(path: Path, change: Callable[..., Any]) -> Path:
    """The file with its header and arrays changed; checksums are made anew."""
    from gradraker.models.persistence.archive import read_model, write_model

    header, arrays = read_model(path)
    change(header, arrays)
    return write_model(
        path,
        kind=header["class"],
        parameters=header["parameters"],
        state=header["state"],
        notes={},
        arrays=arrays,
    )


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


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_with_inconsistent_content_is_refused(
    tmp_path: Path, damage: Callable[..., Any]
) -> None:
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
