"""predict_nodes and update_nodes with SKG: predictions, held-out nodes, contributors."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGNodeRegressor, SKGRegressor, adjacency_vectors, predict_nodes
from gradraker.exceptions import TooFewValuesError, UnknownNodesError
from gradraker.models.left_out import LeftOut
from gradraker.workflow import node_predictions, update_nodes

LEARNER = SKGNodeRegressor(sigma2=2.0, n_frequencies=300, random_state=0)


def ring(n: Any = 40, *, names: list[int] | None = None) -> tuple[Any, ...]:
    """A ring in which node i points to the next three, and its values, a wave."""
    named = [f"n{i:02d}" for i in range(n)] if names is None else names
    edges = [(named[i], named[(i + k) % n]) for i in range(n) for k in (1, 2, 3)]
    return edges, {name: float(np.sin(2 * np.pi * i / n)) for i, name in enumerate(named)}


@pytest.fixture(scope="module")
def job() -> tuple[Any, ...]:
    edges, values = ring()
    known = {name: values[name] for name in list(values)[::2]}
    return edges, values, known, predict_nodes(edges, known, model=LEARNER)


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


def test_frame_has_one_row_per_node_and_columns_of_contributors(job: tuple[Any, ...]) -> None:
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


def test_integer_names_stay_integers_in_the_frame() -> None:
    edges, values = ring(names=list(range(40)))
    known = {name: values[name] for name in list(values)[::2]}
    frame = predict_nodes(edges, known, model=LEARNER).to_frame(n_contributors=1)
    assert frame.node.tolist() == list(range(40))
    assert set(frame.contributor_1) <= set(known)


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
