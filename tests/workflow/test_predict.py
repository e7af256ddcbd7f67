"""predict_nodes and update_nodes with the node model, which is the default."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, SKGRegressor, predict_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import UnknownNodesError
from gradraker.models import NodeModel
from gradraker.workflow import predict_all, predict_all_targets, predict_targets
from gradraker.workflow.node_predictions import NodePredictions
from two_targets import EDGES, KNOWN


def test_predictions_are_those_of_the_model(
    data: GraphDataset, known: dict[str, float], result: NodePredictions
) -> None:
    model = NodeRegressor(random_state=0).fit(data, known)
    expected, intervals = model.predict(data.node_names, return_interval=True, coverage=0.8)
    assert result.model.method == "nodes"
    np.testing.assert_array_equal(result.predictions, expected)
    np.testing.assert_array_equal(result.intervals, intervals)
    assert result.nodes.tolist() == list(data.node_names)
    assert (result.model.adjacency_ != data.adjacency).nnz == 0
    np.testing.assert_array_equal(result.values[:60], data.values[:60])
    assert np.isnan(result.values[60:]).all()


def test_node_model_beats_skg_on_the_unknown_stations(
    data: GraphDataset, known: dict[str, float], result: NodePredictions
) -> None:
    by_skg = predict_nodes(data, known, model=SKGNodeRegressor())
    errors = [np.mean((r.predictions[60:] - data.values[60:]) ** 2) for r in (result, by_skg)]
    assert errors[0] < 0.9 * errors[1]


def test_a_prediction_is_a_weighted_mean_of_known_values(
    known: Any, result: NodePredictions
) -> None:
    found = result.find_contributors(len(known))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-10)
    sums = (found.weights * found.values).sum(axis=1)
    np.testing.assert_allclose(sums, result.predictions, atol=1e-10)
    assert [known[name] for name in found.names[70]] == found.values[70].tolist()


def test_values_of_nodes_without_edges_are_refused_ignored_or_kept() -> None:
    links = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    values = {"a": 1.0, "c": 3.0, "alone": 2.5}
    with pytest.raises(UnknownNodesError, match="'alone'"):
        predict_nodes(links, values)
    isolated = predict_nodes(links, values, unknown_nodes="isolated")
    assert isolated.nodes.tolist()[-1] == "alone"
    assert isolated.values[-1] == 2.5
    ignored = predict_nodes(links, values, unknown_nodes="ignore")
    assert "alone" not in ignored.nodes.tolist()


def test_with_one_known_value_every_node_gets_it() -> None:
    frame = predict_nodes([("a", "b"), ("b", "c")], {"a": 3.5}).to_frame()
    assert frame.prediction.tolist() == [3.5, 3.5, 3.5]


def test_too_few_known_values_have_no_left_out_error(data: GraphDataset) -> None:
    few = dict(zip(data.node_names[:9], data.values[:9], strict=True))
    assert predict_nodes(data, few).left_out is None
    with pytest.raises(ValueError, match="no nodes were left out"):
        predict_nodes(data, few).find_left_out_contributors(1, nodes=[data.node_names[0]])


def test_the_given_model_sets_the_method_and_is_not_changed(
    data: GraphDataset, known: dict[str, float]
) -> None:
    base = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
    result = predict_nodes(data, known, model=base)
    assert result.model.method == "nodes"
    assert result.model.blocks_ == ("hop1",)
    assert not base.__sklearn_is_fitted__()
    by_skg = predict_nodes(data, known, model=SKGNodeRegressor(sigma2=2.0))
    assert by_skg.model.method == "skg"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coverage": 1.5}, "coverage must be"),
        ({"model": SKGNodeRegressor(), "coverage": 0.9}, "SKG has no intervals"),
        ({"unknown_nodes": "maybe"}, "unknown_nodes must be one of"),
    ],
)
def test_wrong_options_are_refused(
    data: GraphDataset, known: dict[str, float], options: dict[Any, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        predict_nodes(data, known, **options)


@pytest.mark.parametrize("model", [SKGRegressor(), clone, NodeRegressor])
def test_model_must_be_a_model_of_graphs(
    data: GraphDataset, known: dict[str, float], model: Any
) -> None:
    with pytest.raises(TypeError, match="model must be a model of graphs"):
        predict_nodes(data, known, model=model)


def test_option_of_a_graph_must_exist(data: GraphDataset, known: dict[str, float]) -> None:
    with pytest.raises(TypeError, match="'hops' is not an option of a graph"):
        predict_nodes(data, known, hops=2)


def test_each_of_several_targets_has_its_values_errors_and_reasons(data: GraphDataset) -> None:
    known = {
        name: {"day": value, "night": np.nan if i % 3 == 0 else value - 8.0}
        for i, (name, value) in enumerate(zip(data.node_names[:60], data.values, strict=False))
    }
    model = NodeRegressor().fit(data, known)
    found = predict_all_targets(model, coverage=0.9, lower=-10.0)
    assert list(found) == ["day", "night"]
    night = found["night"]
    assert night.is_known.sum() == 40
    expected, ends = model.predict(model.nodes_, return_interval=True, coverage=0.9)
    np.testing.assert_array_equal(night.predictions, np.maximum(expected[:, 1], -10.0))
    np.testing.assert_array_equal(night.intervals, np.maximum(ends[:, 1], -10.0))
    assert night.left_out is not None
    assert len(night.left_out.rows) == 40
    node = model.unknown_nodes_[0]
    reasons = night.find_contributors(3, nodes=[node])
    explanation = model.explain([node], target="night")
    assert reasons.predictions == pytest.approx(explanation.predicted_labels)
    assert night.explain([node]).weights.shape == (1, 40)
    with pytest.raises(ValueError, match="predict_all_targets predicts them"):
        predict_all(model)
    alone = NodeRegressor().fit(data, dict.fromkeys(known, 1.0))
    (one,) = predict_all_targets(alone).items()
    assert one[0] is None
    np.testing.assert_array_equal(one[1].predictions, predict_all(alone).predictions)


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
