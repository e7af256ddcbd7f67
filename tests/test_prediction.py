"""The whole job in memory by SKG: predictions, held-out nodes, contributors and updates."""

import numpy as np
import pytest

import gradraker
from gradraker import SKGRegressor, adjacency_vectors, predict_nodes
from gradraker.workflow import contributors, predict_unknown
from gradraker.workflow.contributors import explained, top_contributors
from gradraker.workflow.skg_job import update_by_skg

LEARNER = SKGRegressor(sigma2=2.0, n_frequencies=300, random_state=0)


def ring(n=40, *, names=None):
    """A ring in which node i points to the next three, and its values, a wave."""
    named = [f"n{i:02d}" for i in range(n)] if names is None else names
    edges = [(named[i], named[(i + k) % n]) for i in range(n) for k in (1, 2, 3)]
    return edges, {name: float(np.sin(2 * np.pi * i / n)) for i, name in enumerate(named)}


@pytest.fixture(scope="module")
def job():
    edges, values = ring()
    known = {name: values[name] for name in list(values)[::2]}
    return edges, values, known, predict_unknown(edges, known, model=LEARNER)


def test_predictions_are_those_of_the_steps_by_hand(job):
    edges, _, known, result = job
    vectors = adjacency_vectors(edges)
    rows = [i for i, name in enumerate(vectors.nodes) if name in known]
    y = np.array([known[vectors.nodes[i]] for i in rows])
    model = SKGRegressor(sigma2=2.0, n_frequencies=300, random_state=0)
    references = vectors.references.tolist()
    model.fit(vectors.rows[rows], y - y.mean(), references=references)
    expected = model.predict(vectors.rows, references=references) + y.mean()
    np.testing.assert_array_equal(result.predictions, expected)
    assert result.offset == y.mean()
    assert result.is_known.sum() == 20


def test_a_smooth_wave_is_learned_given_enough_epochs(job):
    # Three epochs over 20 nodes leave most of the way to go, so this one takes more.
    edges, values, known, _ = job
    learner = SKGRegressor(sigma2=2.0, n_frequencies=300, n_epochs=30, random_state=0)
    result = predict_unknown(edges, known, model=learner)
    truth = np.array([values[name] for name in result.vectors.nodes])
    unknown = ~result.is_known
    errors = result.predictions[unknown] - truth[unknown]
    assert np.mean(errors**2) < 0.1 * np.var(truth)


def test_a_prediction_is_the_mean_and_weighted_differences(job):
    _, _, known, result = job
    found = result.contributors(len(known))
    sums = result.offset + (found.weights * found.values).sum(axis=1)
    np.testing.assert_allclose(sums, result.predictions, atol=1e-10)
    for names, values in zip(found.names, found.values, strict=True):
        expected = [known[name] - result.offset for name in names]
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_a_constant_moves_with_the_values(job):
    edges, _, known, result = job
    moved = predict_unknown(edges, {k: v + 1000.0 for k, v in known.items()}, model=LEARNER)
    np.testing.assert_allclose(moved.predictions, result.predictions + 1000.0, atol=1e-8)


def test_a_node_like_no_other_gets_about_the_mean():
    edges, values = ring()
    far = [("alone", f"elsewhere {i}") for i in range(30)]
    moved = {k: v + 50.0 for k, v in values.items()}
    result = predict_unknown([*edges, *far], moved, method="skg")
    at = result.vectors.nodes.tolist().index("alone")
    assert result.predictions[at] == pytest.approx(50.0, abs=0.5)


def test_held_out_nodes_were_not_seen(job):
    _, _, known, result = job
    held_out = result.held_out
    names = set(result.vectors.nodes[held_out.rows].tolist())
    assert len(names) == held_out.rows.size == round(0.2 * len(known))
    assert names < set(known)
    seen = explained(held_out.model, result.vectors, held_out.rows).observed_names
    assert set(seen) == set(known) - names
    assert held_out.offset == pytest.approx(np.mean([known[name] for name in seen]))
    expected = held_out.model.predict(
        result.vectors.rows[held_out.rows], references=result.vectors.references.tolist()
    )
    np.testing.assert_array_equal(held_out.predictions, expected + held_out.offset)


def test_held_out_errors_by_hand(job):
    _, _, known, result = job
    held_out = result.held_out
    errors = held_out.predictions - held_out.values
    assert held_out.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
    of_mean = held_out.offset - held_out.values
    assert held_out.rmse_of_mean == pytest.approx(np.sqrt(np.mean(of_mean**2)))
    low, high = min(known.values()), max(known.values())
    energy = np.sum(((held_out.values - low) / (high - low)) ** 2)
    assert held_out.gnmse == pytest.approx(np.sum((errors / (high - low)) ** 2) / energy)
    assert held_out.gnmse_of_mean == pytest.approx(np.sum((of_mean / (high - low)) ** 2) / energy)


def test_nine_known_nodes_are_too_few_to_hold_out():
    edges, values = ring()
    names = list(values)
    nine = predict_unknown(edges, {name: values[name] for name in names[:9]}, model=LEARNER)
    assert nine.held_out is None
    assert "held-out" not in repr(nine)
    ten = predict_unknown(edges, {name: values[name] for name in names[:10]}, model=LEARNER)
    assert ten.held_out.rows.size == 2
    assert "held-out RMSE" in repr(ten)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10])
def test_few_known_nodes_have_a_verdict_or_none(n):
    edges, values = ring()
    known = {name: values[name] for name in list(values)[:n]}
    transfer = predict_unknown(edges, known, model=LEARNER).transfer
    assert (transfer is None) == (n < 3)
    if transfer is not None:
        assert transfer.n_neighbors == min(5, n - 2)


def test_equal_values_have_no_verdict():
    edges, values = ring()
    result = predict_unknown(edges, dict.fromkeys(values, 3.0), model=LEARNER)
    assert result.transfer is None
    np.testing.assert_allclose(result.predictions, 3.0)
    assert np.isnan(result.held_out.gnmse)


def test_no_known_value_is_an_error():
    edges, _ = ring()
    with pytest.raises(ValueError, match="no node of the graph has a known value"):
        predict_unknown(edges, {"n00": np.nan})


def test_the_given_learner_is_not_changed():
    edges, values = ring()
    learner = SKGRegressor(sigma2=1.0, random_state=0)
    result = predict_unknown(edges, values, model=learner)
    assert not hasattr(learner, "coef_")
    assert result.model.sigma2_ == 1.0


def test_contributors_do_not_depend_on_batches(job, monkeypatch):
    result = job[3]
    whole = result.contributors(3)
    monkeypatch.setattr(contributors, "_BATCH_BYTES", 24 * 20 * 7)  # 7 rows of 20 known nodes
    calls = []
    monkeypatch.setattr(
        contributors, "explained", lambda *given: calls.append(given[2].size) or explained(*given)
    )
    parts = top_contributors(result.model, result.vectors, np.arange(40), 3)
    assert calls[1:] == [7, 7, 7, 7, 7, 5]
    assert parts.names == whole.names
    # A product with fewer rows may add in another order.
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-13)


def test_contributors_are_the_heaviest_first(job):
    result = job[3]
    found = result.contributors(4, rows=[0, 5])
    assert found.weights.shape == (2, 4)
    assert np.all(np.diff(np.abs(found.weights), axis=1) <= 0.0)
    weights = result.explain([0, 5]).weights
    np.testing.assert_allclose(
        np.abs(found.weights), np.sort(np.abs(weights), axis=1)[:, :-5:-1], atol=1e-13
    )
    assert repr(found) == "Contributors(4 for each of 2 predictions)"


def test_contributors_of_no_rows_and_of_few_nodes(job):
    result = job[3]
    assert result.contributors(3, rows=[]).names == []
    assert result.contributors(100, rows=[1]).weights.shape == (1, 20)


def test_frame(job):
    edges, _, known, result = job
    frame = predict_nodes(edges, known, model=LEARNER, n_contributors=2)
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
    assert frame.node.tolist() == result.vectors.nodes.tolist()
    np.testing.assert_array_equal(frame.prediction, result.predictions)
    assert frame.value[~frame.known].isna().all()
    assert list(result.frame().columns) == ["node", "known", "value", "prediction"]


def test_names_do_not_matter_but_the_kind_does():
    edges, values = ring(names=list(range(40)))
    known = {name: values[name] for name in list(values)[::2]}
    frame = predict_nodes(edges, known, model=LEARNER, n_contributors=1)
    assert frame.node.tolist() == list(range(40))
    assert set(frame.contributor_1) <= set(known)


def test_update_is_partial_fit_on_the_new_rows(job):
    edges, values, known, result = job
    new = {name: values[name] for name in list(values)[1:9:2]}
    assert not set(new) & set(known)
    copy = predict_unknown(edges, known, model=LEARNER)
    vectors = update_by_skg(copy.model, edges, new, offset=copy.offset)
    by_hand = predict_unknown(edges, known, model=LEARNER).model
    rows = [i for i, name in enumerate(vectors.nodes) if name in new]
    by_hand.partial_fit(
        vectors.rows[rows],
        np.array([new[vectors.nodes[i]] for i in rows]) - result.offset,
        references=vectors.references.tolist(),
    )
    np.testing.assert_array_equal(copy.model.coef_, by_hand.coef_)
    assert copy.model.n_seen_ == result.model.n_seen_ + 4
    assert vectors.nodes.tolist() == result.vectors.nodes.tolist()


def test_update_with_nothing_known_changes_nothing(job):
    edges, _, known, _ = job
    result = predict_unknown(edges, known, model=LEARNER)
    before = result.model.coef_.copy()
    update_by_skg(result.model, edges, {}, offset=result.offset)
    np.testing.assert_array_equal(result.model.coef_, before)


def test_update_brings_new_nodes(job):
    edges, _, known, _ = job
    result = predict_unknown(edges, known, model=LEARNER)
    more = [*edges, ("new", "n01"), ("new", "n02"), ("new", "n03")]
    update_by_skg(result.model, more, {"new": 5.0}, offset=result.offset)
    assert "new" in result.model.references_
    assert gradraker.workflow.NodePredictions is type(result)


def test_nodes_without_edges_may_have_values():
    links = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    known = {"a": 1.0, "c": 3.0, "alone": 2.5}
    with pytest.raises(ValueError, match="'alone'"):
        predict_unknown(links, known, method="skg")
    result = predict_unknown(links, known, unknown_nodes="isolated", method="skg")
    assert result.vectors.nodes.tolist()[-1] == "alone"
    assert set(result.vectors.references.tolist()) == set("abcdxy")
    assert result.vectors.rows[[6]].nnz == 0
    assert result.values[6] == 2.5
    ignored = predict_unknown(links, known, unknown_nodes="ignore", method="skg")
    assert "alone" not in ignored.vectors.nodes.tolist()
    with pytest.raises(TypeError, match="unknown_nodes='isolated' needs values as a mapping"):
        predict_unknown(links, [1.0] * 6, unknown_nodes="isolated", method="skg")


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"a": 1.0}, "values: only 1 value is known"),
        ({"a": 1.0, "b": 2.0}, "values: all known nodes have the same edges"),
    ],
)
def test_too_few_nodes_to_choose_sigma2_from(known, message):
    links = [("a", "x"), ("b", "x"), ("c", "y")]
    with pytest.raises(ValueError, match=message):
        predict_unknown(links, known, method="skg")
    given = predict_unknown(links, known, model=SKGRegressor(sigma2=1.0, random_state=0))
    assert np.isfinite(given.predictions).all()
