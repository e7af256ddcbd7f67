"""Updates of models of any number of targets, in memory and in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, SKGRegressor, load
from gradraker.exceptions import ModelFileError, NotHeldError, UnknownNodesError
from gradraker.graph.values import NodeLines, NodeValues
from gradraker.models import NodeModel, read_notes
from gradraker.workflow import (
    predict_all_targets,
    predict_nodes,
    predict_targets,
    update_file,
    update_nodes,
)

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]
KNOWN = {
    "a": {"age": 30.0, "income": 5000.0},
    "b": {"age": 50.0},
    "c": {"age": 40.0, "income": 7000.0},
}


def test_mean_of_several_targets_has_one_number_for_each() -> None:
    model = NodeRegressor().fit(EDGES, KNOWN)
    np.testing.assert_array_equal(model.mean_, [40.0, 6000.0])  # the income of b is unknown
    assert NodeRegressor().fit(EDGES, {"a": 1.0, "b": 4.0}).mean_ == 2.5


def test_update_of_several_targets_has_values_and_errors_of_each() -> None:
    model = NodeRegressor().fit(EDGES, KNOWN)
    before = NodeRegressor().fit(EDGES, KNOWN).predict(["d", "b"])
    values = {
        "d": {"age": 60.0, "income": float("nan")},
        "b": {"age": 50.0, "income": 9000.0},
        "a": KNOWN["a"],
    }
    update = update_nodes(model, values=values)
    assert update.learned == {"d": {"age": 60.0}, "b": {"income": 9000.0}}
    assert update.predicted["d"]["age"] == pytest.approx(before[0, 0])
    assert update.predicted["b"]["income"] == pytest.approx(before[1, 1])
    assert (update.n_learned, update.n_passed_over, update.has_changed) == (2, 3, True)
    assert update.fallback == {"age": 40.0, "income": 6000.0}
    assert update.rmse == pytest.approx(
        {"age": abs(before[0, 0] - 60.0), "income": abs(before[1, 1] - 9000.0)}
    )
    assert update.rmse_of_mean == pytest.approx({"age": 20.0, "income": 3000.0})
    assert model.values_.tolist()[1] == [50.0, 9000.0]
    again = update_nodes(model, values=values)
    assert (again.learned, again.rmse, again.has_changed) == ({}, None, False)


def test_vectors_are_values_of_several_targets() -> None:
    model = NodeRegressor().fit(EDGES, {"a": [1.0, 10.0], "b": [2.0, np.nan], "c": [4.0, 40.0]})
    update = update_nodes(model, [("e", "f")], {"f": [3.0, 30.0]}, forget={"values": ["a"]})
    assert update.learned == {"f": {0: 3.0, 1: 30.0}}
    assert update.rmse_of_mean == pytest.approx({0: 2.0 / 3.0, 1: 5.0})
    assert (update.n_forgotten, update.graph_changed) == (1, True)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"d": 1.0}, "one number per node"),
        ({"d": {"size": 1.0}}, "the target 'size'"),
        ({"d": {"age": "old"}}, "the text 'old'"),
    ],
)
def test_values_of_other_targets_are_refused(values: Any, told: str) -> None:
    model = NodeRegressor().fit(EDGES, KNOWN)
    with pytest.raises(ValueError, match=told):
        update_nodes(model, values=values)


def test_unknown_nodes_of_several_targets_have_their_line() -> None:
    values = NodeValues({"a": {"age": 31.0}, "z": {"age": 1.0}})
    values.lines = NodeLines(["a", "z"], np.array([2, 7]))
    for learn in (
        lambda: NodeRegressor().fit(EDGES, values),
        lambda: update_nodes(NodeRegressor().fit(EDGES, KNOWN), values=values),
    ):
        with pytest.raises(UnknownNodesError) as caught:
            learn()
        assert (caught.value.nodes, caught.value.line) == (["z"], 7)


def test_what_the_model_does_not_hold_cannot_be_forgotten() -> None:
    model = NodeRegressor().fit(EDGES, KNOWN)
    for forget, fields in (
        ({"values": ["d"]}, ("values", "d")),
        ({"nodes": ["x"]}, ("nodes", "x")),
        ({"values": ["a"], "edges": [("a", "y")]}, ("edges", "y")),
    ):
        with pytest.raises(NotHeldError) as caught:
            update_nodes(model, forget=forget)
        assert (caught.value.argument, caught.value.node) == fields
    assert model.known_nodes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("values", [KNOWN, {"a": 1.0, "c": 5.0}, {"a": "x", "c": "y", "e": "x"}])
def test_targets_are_predicted_from_graph_and_values(values: Any) -> None:
    found = predict_targets(EDGES, values)
    kind = NodeClassifier if isinstance(values["a"], str) else NodeRegressor
    fitted: NodeModel = kind().fit(EDGES, values)
    expected = predict_all_targets(fitted)
    assert list(found) == list(expected) == (["age", "income"] if values is KNOWN else [None])
    for target, one in found.items():
        assert one.predictions.tolist() == expected[target].predictions.tolist()
    if values is not KNOWN:
        assert found[None].predictions.tolist() == predict_nodes(EDGES, values).predictions.tolist()


def test_targets_are_predicted_by_models_that_take_several() -> None:
    with pytest.raises(ValueError, match="SKGNodeRegressor predicts one"):
        predict_targets(EDGES, KNOWN, model=SKGNodeRegressor())
    with pytest.raises(ValueError, match="NodeClassifier predicts classes"):
        predict_targets(EDGES, KNOWN, model=NodeClassifier())


def test_file_is_updated_with_its_notes(tmp_path: Path) -> None:
    path = tmp_path / "model.gr"
    NodeRegressor().fit(EDGES, KNOWN).save(path, notes={"lower": 45.0, "unit": "years"})
    stages: list[str] = []
    notes = {"lower": None, "unit": "a", "title": None}
    with update_file(
        path,
        lambda model: {"values": {"d": dict.fromkeys(model.target_names_, 45.0)}},
        notes=notes,
        on_stage=stages.append,
    ) as found:
        found.model.save(path, notes=found.notes)
    assert stages == ["reading the model", "training"]
    assert found.update.n_learned == 2
    assert found.results["age"].predictions.min() == 45.0  # clipped as the notes say
    assert read_notes(path) == {"lower": 45.0, "unit": "a", "title": None}
    assert load(path).known_nodes_.tolist() == ["a", "b", "c", "d"]


def test_file_of_rows_cannot_be_updated(tmp_path: Path) -> None:
    path = SKGRegressor(sigma2=1.0).fit([[1.0], [0.0]], [1.0, 2.0]).save(tmp_path / "rows.gr")
    with (
        pytest.raises(ModelFileError, match="holds a model of rows"),
        update_file(path, lambda model: {}),
    ):
        pass
