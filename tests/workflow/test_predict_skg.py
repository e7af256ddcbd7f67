"""predict_nodes and update_nodes with SKG: predictions, held-out nodes, contributors."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGNodeRegressor, SKGRegressor, adjacency_vectors, predict_nodes
from gradraker.exceptions import TooFewValuesError, UnknownNodesError
from gradraker.models.left_out import LeftOut
from skg_ring import LEARNER, ring


def test_predictions_equal_those_of_skg_regressor_on_adjacency_vectors(
    job: tuple[Any, ...],
) -> None:
    edges, _, known, result = job
    vectors = adjacency_vectors(edges)
    rows = [i for i, name in enumerate(vectors.nodes) if name in known]
    y = np.array([known[vectors.nodes[i]] for i in rows])
    model = SKGRegressor(sigma2=2.0, n_frequencies=300, random_state=0)
    references = vectors.references.tolist()
    model.fit(vectors.rows[rows], y - y.mean(), references=references)
    expected = model.predict(vectors.rows, references=references) + y.mean()
    np.testing.assert_array_equal(result.predictions, expected)
    assert result.model.offset_ == y.mean()
    assert result.is_known.sum() == 20


def test_a_smooth_wave_is_learned_given_enough_epochs(job: tuple[Any, ...]) -> None:
    # Three epochs over 20 nodes leave most of the way to go, so this one takes more.
    edges, values, known, _ = job
    learner = SKGNodeRegressor(sigma2=2.0, n_frequencies=300, n_epochs=30, random_state=0)
    result = predict_nodes(edges, known, model=learner)
    truth = np.array([values[name] for name in result.nodes])
    unknown = ~result.is_known
    errors = result.predictions[unknown] - truth[unknown]
    assert np.mean(errors**2) < 0.1 * np.var(truth)


def test_a_prediction_is_the_mean_and_weighted_differences(job: tuple[Any, ...]) -> None:
    _, _, known, result = job
    found = result.find_contributors(len(known))
    mean = result.model.offset_
    sums = mean + (found.weights * (found.values - mean)).sum(axis=1)
    np.testing.assert_allclose(sums, result.predictions, atol=1e-10)
    for names, values in zip(found.names, found.values, strict=True):
        np.testing.assert_allclose(values, [known[name] for name in names], atol=1e-12)


def test_shifting_all_values_shifts_all_predictions(job: tuple[Any, ...]) -> None:
    edges, _, known, result = job
    moved = predict_nodes(edges, {k: v + 1000.0 for k, v in known.items()}, model=LEARNER)
    np.testing.assert_allclose(moved.predictions, result.predictions + 1000.0, atol=1e-8)


def test_a_node_unlike_all_known_nodes_gets_about_the_mean() -> None:
    edges, values = ring()
    far = [("alone", f"elsewhere {i}") for i in range(30)]
    moved = {k: v + 50.0 for k, v in values.items()}
    result = predict_nodes([*edges, *far], moved, model=SKGNodeRegressor())
    at = result.nodes.tolist().index("alone")
    assert result.predictions[at] == pytest.approx(50.0, abs=0.5)


def test_nine_known_nodes_are_too_few_to_hold_out() -> None:
    edges, values = ring()
    names = list(values)
    nine = predict_nodes(edges, {name: values[name] for name in names[:9]}, model=LEARNER)
    assert nine.left_out is None
    assert "left-out" not in repr(nine)
    ten = predict_nodes(edges, {name: values[name] for name in names[:10]}, model=LEARNER)
    assert ten.left_out is not None
    assert ten.left_out.rows.size == 2
    assert "left-out RMSE" in repr(ten)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10])
def test_similarity_transfer_needs_enough_known_nodes(n: int) -> None:
    edges, values = ring()
    known = {name: values[name] for name in list(values)[:n]}
    transfer = predict_nodes(edges, known, model=LEARNER).model.measure_transfer()
    assert (transfer is None) == (n < 3)
    if transfer is not None:
        assert transfer.n_neighbors == min(5, n - 2)


def test_similarity_transfer_is_none_if_all_values_are_equal() -> None:
    edges, values = ring()
    result = predict_nodes(edges, dict.fromkeys(values, 3.0), model=LEARNER)
    assert result.model.measure_transfer() is None
    np.testing.assert_allclose(result.predictions, 3.0)
    assert isinstance(result.left_out, LeftOut)
    assert np.isnan(result.left_out.error.gnmse)


def test_no_known_value_is_refused() -> None:
    edges, _ = ring()
    with pytest.raises(ValueError, match="no node of the graph has a known value"):
        predict_nodes(edges, {"n00": np.nan})


def test_predict_nodes_does_not_change_the_given_model() -> None:
    edges, values = ring()
    learner = SKGNodeRegressor(sigma2=1.0, random_state=0)
    result = predict_nodes(edges, values, model=learner)
    assert not hasattr(learner, "skg_")
    assert result.model.skg_.sigma2_ == 1.0


def test_integer_names_stay_integers_in_the_frame() -> None:
    edges, values = ring(names=list(range(40)))
    known = {name: values[name] for name in list(values)[::2]}
    frame = predict_nodes(edges, known, model=LEARNER).to_frame(n_contributors=1)
    assert frame.node.tolist() == list(range(40))
    assert set(frame.contributor_1) <= set(known)


def test_values_of_nodes_without_edges_are_refused_kept_or_ignored() -> None:
    links = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    known = {"a": 1.0, "c": 3.0, "alone": 2.5}
    with pytest.raises(UnknownNodesError, match="'alone'"):
        predict_nodes(links, known, model=SKGNodeRegressor())
    result = predict_nodes(links, known, unknown_nodes="isolated", model=SKGNodeRegressor())
    assert result.nodes.tolist()[-1] == "alone"
    assert result.model.adjacency_[[6]].nnz == 0
    assert result.values[6] == 2.5
    ignored = predict_nodes(links, known, unknown_nodes="ignore", model=SKGNodeRegressor())
    assert "alone" not in ignored.nodes.tolist()


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"a": 1.0}, "values: only 1 value is known"),
        ({"a": 1.0, "b": 2.0}, "values: all known nodes have the same edges"),
    ],
)
def test_too_few_nodes_to_choose_sigma2_are_refused(known: dict[str, float], message: str) -> None:
    links = [("a", "x"), ("b", "x"), ("c", "y")]
    with pytest.raises(TooFewValuesError, match=message):
        predict_nodes(links, known, model=SKGNodeRegressor())
    given = predict_nodes(links, known, model=SKGNodeRegressor(sigma2=1.0))
    assert np.isfinite(given.predictions).all()
