"""predict_nodes and update_nodes with the node model, which is the default."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import gradraker
from gradraker import NodeRegressor, SKGNodeRegressor, SKGRegressor, predict_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import UnknownNodesError
from gradraker.models.left_out import LeftOut
from gradraker.workflow import predict_all, predict_all_targets, update_nodes
from gradraker.workflow.node_predictions import NodePredictions


@pytest.fixture(scope="module")
def data() -> GraphDataset:
    return gradraker.load_temperature()


@pytest.fixture(scope="module")
def known(data: GraphDataset) -> dict[str, float]:
    return dict(zip(data.node_names[:60], data.values[:60].tolist(), strict=True))


@pytest.fixture(scope="module")
def result(data: GraphDataset, known: dict[str, float]) -> NodePredictions:
    return predict_nodes(data, known, coverage=0.8)


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


def test_left_out_nodes_are_predicted_as_by_a_model_without_them(
    data: GraphDataset, known: dict[str, float], result: NodePredictions
) -> None:
    model, held_out = result.model, result.left_out
    assert held_out is not None
    assert held_out.rows.tolist() == list(range(60))
    (width,) = {term.width for term in model.kernel_}
    assert len({term.share for term in model.kernel_}) == 1
    settings = {"blocks": model.blocks_, "width": width, "alpha": model.alpha_}
    for row in (0, 17, 59):
        others = {node: value for node, value in known.items() if node != data.node_names[row]}
        alone = NodeRegressor(**settings).fit(data, others).predict([data.node_names[row]])
        assert isinstance(held_out, LeftOut)
        assert held_out.predictions[row] == pytest.approx(alone[0], abs=1e-9)


def test_left_out_errors_equal_their_definition(
    data: Any, known: dict[str, float], result: Any
) -> None:
    held_out, error, y = result.left_out, result.left_out.error, data.values[:60]
    errors = held_out.predictions - y
    means = np.array([np.delete(y, i).mean() for i in range(60)])
    scaled = (y - y.min()) / np.ptp(y)
    assert error.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert error.rmse_of_mean == pytest.approx(np.sqrt(np.mean((y - means) ** 2)))
    size = np.sum(scaled**2)
    assert error.gnmse == pytest.approx(np.sum((errors / np.ptp(y)) ** 2) / size)
    assert error.gnmse_of_mean == pytest.approx(np.sum(((y - means) / np.ptp(y)) ** 2) / size)
    assert error.rmse < error.rmse_of_mean


def test_a_prediction_is_a_weighted_mean_of_known_values(
    known: Any, result: NodePredictions
) -> None:
    found = result.find_contributors(len(known))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-10)
    sums = (found.weights * found.values).sum(axis=1)
    np.testing.assert_allclose(sums, result.predictions, atol=1e-10)
    assert [known[name] for name in found.names[70]] == found.values[70].tolist()


def test_a_known_node_does_not_contribute_to_its_left_out_prediction(result: Any) -> None:
    nodes = result.nodes[[3, 12]].tolist()
    reasons = result.find_left_out_contributors(59, nodes=nodes)
    everyone = result.find_contributors(60, nodes=nodes)
    for i, own in enumerate(nodes):
        assert everyone.names[i][0] == own  # or leaving it out would say nothing
        assert set(reasons.names[i]) == set(everyone.names[i]) - {own}
        # The other weights of the prediction, scaled to sum 1: the left-out prediction exactly.
        others = everyone.weights[i, 1:]
        np.testing.assert_allclose(reasons.weights[i], others / others.sum(), atol=1e-12)
        (at,) = np.flatnonzero(result.nodes[result.left_out.rows] == own)
        total = reasons.weights[i] @ reasons.values[i]
        assert total == pytest.approx(result.left_out.predictions[at], abs=1e-9)


def test_frame_has_intervals_and_contributors(result: NodePredictions) -> None:
    frame = result.to_frame(n_contributors=1)
    expected = ["node", "known", "value", "prediction", "lower", "upper"]
    assert list(frame.columns) == [*expected, "contributor_1", "weight_1"]
    assert (frame.lower <= frame.prediction).mean() > 0.95
    inside = (frame.lower <= result.predictions) & (result.predictions <= frame.upper)
    assert inside.mean() > 0.95


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
