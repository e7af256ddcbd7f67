"""More edges, values and attributes for a fitted model, each value predicted beforehand."""

from typing import Any

import numpy as np
import pytest

from gradraker import adjacency_vectors, predict_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.exceptions import UnknownNodesError
from gradraker.workflow import predict_all, update_nodes
from skg_ring import LEARNER


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


def test_update_leaves_out_or_refuses_unknown_nodes_as_asked(
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


def test_update_brings_new_nodes(job: tuple[Any, ...]) -> None:
    edges, _, known, _ = job
    model = predict_nodes(edges, known, model=LEARNER).model
    more = [("new", "n01"), ("new", "n02"), ("new", "n03")]
    update_nodes(model, more, {"new": 5.0})
    assert "new" in model.skg_.references_
    assert model.values_[model.nodes_.tolist().index("new")] == 5.0
