"""Predictions of nodes: their errors, contributors and tables."""

from typing import Any

import numpy as np
import pytest

from gradraker import (
    NodeRegressor,
    SKGNodeRegressor,
    SKGRegressor,
    adjacency_vectors,
    predict_nodes,
)
from gradraker.datasets.dataset import GraphDataset
from gradraker.models.left_out import LeftOut
from gradraker.workflow import node_predictions
from gradraker.workflow.node_predictions import NodePredictions
from skg_ring import LEARNER


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


def test_held_out_nodes_are_predicted_by_a_model_trained_without_them(job: tuple[Any, ...]) -> None:
    edges, _, known, result = job
    left_out = result.left_out
    names = result.nodes[left_out.rows].tolist()
    assert len(set(names)) == left_out.rows.size == round(0.2 * len(known))
    assert set(names) < set(known)
    explained = result.model.explain(names, left_out=True)
    assert set(explained.known_names) == set(known) - set(names)
    others = {name: known[name] for name in explained.known_names}
    assert left_out.mean == pytest.approx(np.mean(list(others.values())))
    np.testing.assert_allclose(left_out.predictions, explained.prediction, atol=1e-12)
    # By hand: SKG trained on the others, in the order in which they were drawn.
    vectors = adjacency_vectors(edges)
    at = {name: i for i, name in enumerate(vectors.nodes.tolist())}
    model = SKGRegressor(sigma2=2.0, n_frequencies=300, random_state=0)
    references = vectors.references.tolist()
    rows = vectors.rows[[at[name] for name in others]]
    model.fit(rows, np.array(list(others.values())) - left_out.mean, references=references)
    expected = model.predict(vectors.rows[[at[name] for name in names]], references=references)
    np.testing.assert_allclose(left_out.predictions, expected + left_out.mean, atol=1e-12)


def test_held_out_errors_equal_their_definition(job: tuple[Any, ...]) -> None:
    _, _, known, result = job
    left_out = result.left_out
    error = left_out.error
    errors = left_out.predictions - left_out.values
    assert error.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
    of_mean = left_out.mean - left_out.values
    assert error.rmse_of_mean == pytest.approx(np.sqrt(np.mean(of_mean**2)))
    low, high = min(known.values()), max(known.values())
    energy = np.sum(((left_out.values - low) / (high - low)) ** 2)
    assert error.gnmse == pytest.approx(np.sum((errors / (high - low)) ** 2) / energy)
    assert error.gnmse_of_mean == pytest.approx(np.sum((of_mean / (high - low)) ** 2) / energy)


def test_contributors_do_not_depend_on_batches(
    job: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = job[3]
    whole = result.find_contributors(3)
    monkeypatch.setattr(node_predictions, "_BATCH_BYTES", 24 * 20 * 7)  # 7 rows of 20 known nodes
    calls = []
    explain = SKGNodeRegressor.explain

    def count(model: Any, nodes: Any, **options: Any) -> Any:
        calls.append(len(nodes))
        return explain(model, nodes, **options)

    monkeypatch.setattr(SKGNodeRegressor, "explain", count)
    parts = result.find_contributors(3)
    assert calls[1:] == [7, 7, 7, 7, 7, 5]
    assert parts.names == whole.names
    # A product with fewer rows may add in another order.
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-13)


def test_contributors_are_sorted_by_weight(job: tuple[Any, ...]) -> None:
    result = job[3]
    found = result.find_contributors(4, nodes=["n00", "n05"])
    assert found.weights.shape == (2, 4)
    assert np.all(np.diff(np.abs(found.weights), axis=1) <= 0.0)
    weights = result.explain(["n00", "n05"]).weights
    np.testing.assert_allclose(
        np.abs(found.weights), np.sort(np.abs(weights), axis=1)[:, :-5:-1], atol=1e-13
    )
    assert repr(found) == "Contributors(4 for each of 2 predictions)"


def test_contributors_of_no_rows_and_of_few_nodes(job: tuple[Any, ...]) -> None:
    result = job[3]
    assert result.find_contributors(3, nodes=[]).names == []
    assert result.find_contributors(100, nodes=["n01"]).weights.shape == (1, 20)


def test_frame_has_values_predictions_and_contributors(job: tuple[Any, ...]) -> None:
    edges, _, known, result = job
    frame = predict_nodes(edges, known, model=LEARNER).to_frame(n_contributors=2)
    assert list(frame.columns) == [
        "node",
        "known",
        "value",
        "prediction",
        "contributor_1",
        "weight_1",
        "contributor_2",
        "weight_2",
    ]
    assert frame.node.tolist() == result.nodes.tolist()
    np.testing.assert_array_equal(frame.prediction, result.predictions)
    assert frame.value[~frame.known].isna().all()
    assert list(result.to_frame().columns) == ["node", "known", "value", "prediction"]
