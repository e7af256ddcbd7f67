"""A model that learns the effect of changes equals one that was fitted on the outcome."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor
from gradraker.attributes import AttributeWarning
from gradraker.live.journal.changes import Change, compute_effect
from gradraker.live.learning.live_model import (
    LiveModel,
    describe_base,
    dump_base,
    read_live_model,
)

EDGES = [("a", "x"), ("b", "x"), ("c", "u"), ("d", "u"), ("a", "y"), ("c", "v"), ("e", "x")]
VALUES = {"a": 1.0, "b": 1.5, "c": 9.0, "d": 8.0}


def learn(live: Any, *changes: Any) -> Any:
    effect = compute_effect(changes)
    live.forget(effect)
    live.learn_graph(effect)
    live.learn_values(effect)


def put_edge(source: Any, target: Any, weight: Any = 1.0) -> Any:
    return Change("put_edge", source, target, weight)


def make_live(**options: Any) -> Any:
    return LiveModel(NodeRegressor().fit(EDGES, VALUES), is_directed=True, **options)


def assert_same(live: Any, model: Any) -> Any:
    names = sorted(live.names)
    assert sorted(model.nodes_.tolist()) == names
    np.testing.assert_allclose(live.model.predict(names), model.predict(names), rtol=1e-9)


def test_edges_and_values_are_learned_as_by_a_fit() -> None:
    live = make_live()
    learn(
        live, put_edge("f", "x", 2.0), Change("put_value", "f", value=3.0), put_edge("a", "x", 5.0)
    )
    edges = [(*e, 5.0 if e == ("a", "x") else 1.0) for e in EDGES] + [("f", "x", 2.0)]
    assert_same(live, NodeRegressor().fit(edges, VALUES | {"f": 3.0}))


def test_removed_edges_values_and_nodes_are_forgotten() -> None:
    live = make_live()
    learn(
        live,
        Change("remove_value", "b"),
        Change("remove_edge", "a", "y"),
        Change("remove_node", "v"),
    )
    edges = [e for e in EDGES if e not in (("a", "y"), ("c", "v"))]
    values = {node: value for node, value in VALUES.items() if node != "b"}
    names = ["a", "x", "b", "c", "u", "d", "e", "y"]  # y stays, without edges
    matrix = np.zeros((len(names), len(names)))
    for source, target in edges:
        matrix[names.index(source), names.index(target)] = 1.0
    assert_same(live, NodeRegressor().fit(matrix, values, names=names))
    assert "v" not in live.positions


def test_removing_missing_nodes_and_values_changes_nothing() -> None:
    live = make_live()
    model = live.model
    learn(live, Change("remove_value", "e"), Change("remove_edge", "a", "b"))
    learn(live, Change("remove_node", "nobody"))
    assert live.model is model


def test_node_that_only_a_removed_edge_named_exists() -> None:
    live = make_live()
    learn(live, put_edge("f", "g"), Change("remove_edge", "f", "g"))
    assert {"f", "g"} <= live.positions.keys()
    learn(live, Change("put_value", "f", value=1.0))
    assert live.n_known == 5


def test_undirected_edges_lead_both_ways() -> None:
    live = LiveModel(NodeRegressor().fit(EDGES, VALUES), is_directed=False)
    learn(live, put_edge("f", "x", 2.0))
    i, j = live.positions["f"], live.positions["x"]
    assert live.model.adjacency_[i, j] == live.model.adjacency_[j, i] == 2.0
    learn(live, Change("remove_edge", "x", "f"))
    i, j = live.positions["f"], live.positions["x"]
    assert live.model.adjacency_[i, j] == live.model.adjacency_[j, i] == 0.0


def test_a_graph_can_be_removed_and_learned_again() -> None:
    live = make_live()
    learn(live, *(Change("remove_value", node) for node in VALUES))
    assert live.n_known == 0
    learn(live, *(Change("remove_node", name) for name in list(live.names)))
    assert live.is_empty
    assert live.to_bytes() == b""
    learn(live, *(put_edge(*edge) for edge in EDGES))
    learn(live, *(Change("put_value", node, value=value) for node, value in VALUES.items()))
    assert_same(live, NodeRegressor().fit(EDGES, VALUES))


class ForgettingRegressor(NodeRegressor):
    """A model with a ``forget`` of its own."""

    def forget(self, *, values: Any = None, nodes: Any = None, edges: Any = None) -> Any:
        self.forgotten = values, nodes, edges


def test_forget_of_the_model_is_called() -> None:
    live = LiveModel(ForgettingRegressor().fit(EDGES, VALUES), is_directed=True)
    learn(
        live,
        Change("remove_value", "b"),
        Change("remove_edge", "a", "y"),
        Change("remove_node", "v"),
    )
    assert live.model.forgotten == (["b"], ["v"], [("a", "y")])


def test_attributes_reach_a_model_that_started_with_attributes() -> None:
    rows = {node: {"words": float(i), "kind": "x"} for i, node in enumerate("abcde")}
    with pytest.warns(AttributeWarning, match="'kind'"):
        model = NodeRegressor().fit(EDGES, VALUES, attributes=rows)
    live = LiveModel(model, is_directed=True)
    assert live.attributes_are_learned
    learn(live, Change("put_attributes", "a", value={"words": 7}))
    table, row = live.model.attributes_, live.positions["a"]
    assert table is not None
    assert table.matrix[row, table.names.index("words")] == 7.0
    learn(live, Change("remove_attributes", "a"))
    table = live.model.attributes_
    assert table is not None
    assert np.isnan(table.matrix[row, table.names.index("words")])
    assert not make_live().attributes_are_learned


@pytest.mark.parametrize("kind", [NodeRegressor, SKGNodeRegressor])
def test_learning_continues_from_a_snapshot(kind: Any) -> None:
    options = {"sigma2": 1.0} if kind is SKGNodeRegressor else {}
    model = kind(**options).fit(EDGES, VALUES)
    content, names = dump_base(model)
    assert names == model.nodes_.tolist()
    live = read_live_model(content, describe_base(model))
    for one in (live, LiveModel(model, is_directed=True)):
        learn(one, put_edge("f", "x"), Change("put_value", "f", value=3.0))
    np.testing.assert_allclose(live.model.predict(["e", "y"]), model.predict(["e", "y"]), rtol=1e-9)


def test_facts_of_a_journal_follow_from_its_model() -> None:
    numbers = {"values": "numbers", "edges": "directed", "names": "text"}
    assert describe_base(NodeRegressor().fit(EDGES, VALUES)) == numbers
    assert describe_base(None) == numbers
    assert describe_base(None, has_labels=True)["values"] == "labels"
    both = [(0, 1), (1, 0), (1, 2), (2, 1)]
    labels = NodeClassifier().fit(np.array(both, dtype=int), {0: "r", 2: "b"})
    assert describe_base(labels) == {"values": "labels", "edges": "undirected", "names": "integers"}
    mixed = NodeRegressor().fit([(("a", 1), ("b", 2)), (("b", 2), ("c", 3))], {("a", 1): 1.0})
    with pytest.raises(TypeError, match="neither all texts nor all integers"):
        describe_base(mixed)
