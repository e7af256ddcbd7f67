"""More edges, values and attributes for a fitted model, each value predicted beforehand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import NodeRegressor, SKGRegressor, adjacency_vectors, load, predict_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import ModelFileError, NotHeldError, UnknownNodesError
from gradraker.graph.values import NodeLines, NodeValues
from gradraker.models import read_notes
from gradraker.workflow import predict_all, update_file, update_nodes
from skg_ring import LEARNER
from two_targets import EDGES, KNOWN


def test_update_nodes_learns_attributes() -> None:
    values = {i: float(i % 5) + 0.01 * (i % 3) for i in range(0, 40, 2)}
    X = {i: [float(i % 5)] for i in range(40)}
    ring = [(i, (i + 1) % 40) for i in range(40)]
    model = predict_nodes(ring, values, attributes=X).model
    update = update_nodes(model, attributes={1: [4.0]})
    assert update.graph_changed
    assert model.predict([1])[0] == pytest.approx(4.0, abs=0.3)


def test_update_predicts_with_the_new_edges_before_it_learns(
    data: GraphDataset, known: dict[str, float]
) -> None:
    model = predict_nodes(data, known).model
    more = [("new", data.node_names[0]), ("new", data.node_names[1])]
    values = {"new": 1.0, data.node_names[70]: 2.0, data.node_names[0]: known[data.node_names[0]]}
    update = update_nodes(model, more, values)
    assert update.learned == {"new": 1.0, data.node_names[70]: 2.0}  # the third was known
    assert (update.n_passed_over, update.graph_changed) == (1, True)
    before = predict_nodes(data, known).model.partial_fit(more).predict(list(update.learned))
    np.testing.assert_allclose(list(update.predicted.values()), before, atol=1e-10)
    assert update.rmse == pytest.approx(np.sqrt(np.mean((before - [1.0, 2.0]) ** 2)))
    again = predict_all(model)
    assert again.values[again.nodes.tolist().index("new")] == 1.0
    assert again.is_known.sum() == 62


def test_update_ignores_or_refuses_nodes_that_are_not_in_the_graph(
    data: GraphDataset, known: dict[str, float]
) -> None:
    model = predict_nodes(data, known).model
    update = update_nodes(model, data, {"alone": 4.0}, unknown_nodes="ignore")
    assert (update.learned, update.predicted, update.rmse) == ({}, {}, None)
    assert "alone" not in model.nodes_.tolist()
    with pytest.raises(UnknownNodesError, match="'alone'"):
        update_nodes(model, data, {"alone": 4.0})


def test_update_is_partial_fit_on_the_new_rows(job: tuple[Any, ...]) -> None:
    edges, values, known, result = job
    new = {name: values[name] for name in list(values)[1:9:2]}
    assert not set(new) & set(known)
    model = predict_nodes(edges, known, model=LEARNER).model
    update = update_nodes(model, edges, new)
    assert (update.learned, update.graph_changed) == (new, False)
    by_hand = predict_nodes(edges, known, model=LEARNER).model.skg_
    vectors = adjacency_vectors(edges)
    rows = [i for i, name in enumerate(vectors.nodes) if name in new]
    by_hand.partial_fit(
        vectors.rows[rows],
        np.array([new[vectors.nodes[i]] for i in rows]) - result.model.offset_,
        references=vectors.references.tolist(),
    )
    np.testing.assert_array_equal(model.skg_.coef_, by_hand.coef_)
    assert model.skg_.n_seen_ == result.model.skg_.n_seen_ + 4
    assert model.nodes_.tolist() == result.nodes.tolist()


def test_update_with_nothing_known_changes_nothing(job: tuple[Any, ...]) -> None:
    edges, _, known, _ = job
    model = predict_nodes(edges, known, model=LEARNER).model
    before = model.skg_.coef_.copy()
    update_nodes(model, edges, {})
    update_nodes(model, edges, known)
    np.testing.assert_array_equal(model.skg_.coef_, before)


def test_update_adds_new_nodes_by_their_edges(job: tuple[Any, ...]) -> None:
    edges, _, known, _ = job
    model = predict_nodes(edges, known, model=LEARNER).model
    more = [("new", "n01"), ("new", "n02"), ("new", "n03")]
    update_nodes(model, more, {"new": 5.0})
    assert "new" in model.skg_.references_
    assert model.values_[model.nodes_.tolist().index("new")] == 5.0


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
