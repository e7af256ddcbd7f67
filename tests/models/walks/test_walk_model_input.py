"""What node models are given: all kinds of graphs and values, and clear refusals."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from gradraker import NodeRegressor, load_temperature

EDGES = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "z"), ("c", "z"), ("e", "x")]
VALUES = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 6.0}
GIVEN: dict[str, Any] = {"blocks": ("hop1", "hop2"), "width": 1.0, "alpha": 0.1}


def _predictions(graph: Any, values: Any, **options: Any) -> Any:
    model = NodeRegressor(**GIVEN).fit(graph, values, **options)
    return dict(zip(model.nodes_.tolist(), model.predict(model.nodes_), strict=True))


def test_graphs_and_values_of_all_kinds_give_the_same_predictions() -> None:
    expected = _predictions(EDGES, VALUES)
    mapping = {"a": ["x"], "b": ["x", "y"], "c": ["y", "z"], "d": ["z"], "e": ["x"]}
    frame = pd.DataFrame(EDGES, columns=["source", "target"])
    graph = nx.DiGraph(EDGES)
    names = sorted({node for edge in EDGES for node in edge})
    A = np.zeros((8, 8))
    for source, target in EDGES:
        A[names.index(source), names.index(target)] = 1.0
    array = np.array([VALUES.get(name, np.nan) for name in names])
    for found in (
        _predictions(mapping, VALUES),
        _predictions(frame, pd.Series(VALUES)),
        _predictions(graph, pd.DataFrame({"node": list(VALUES), "value": VALUES.values()})),
        _predictions(csr_array(A), array, names=names),
        _predictions(EDGES, array),
    ):
        assert found.keys() == expected.keys()
        for node, value in expected.items():
            assert found[node] == pytest.approx(value, abs=1e-12)


def test_one_known_value_is_predicted_everywhere() -> None:
    model = NodeRegressor().fit(EDGES, {"b": 7.0})
    assert model.predict().tolist() == [7.0] * 7
    assert (model.blocks_, model.alpha_, model.kernel_) == ((), np.inf, ())
    assert "mean" in repr(model.choice_)


@pytest.mark.parametrize("solver", ["auto", "exact", "operators"])
def test_equal_values_are_predicted_everywhere(solver: Any) -> None:
    model = NodeRegressor(solver=solver).fit(EDGES, dict.fromkeys("abc", 3.0))
    np.testing.assert_allclose(model.predict(), 3.0, atol=1e-12)
    assert model.left_out_error_.rmse == pytest.approx(0.0, abs=1e-12)


def test_two_values_are_enough_to_choose() -> None:
    predictions = NodeRegressor().fit(EDGES, {"a": 1.0, "d": 3.0}).predict()
    assert np.isfinite(predictions).all()


def test_nodes_without_edges_have_predictions() -> None:
    graph = nx.Graph(EDGES)
    graph.add_nodes_from(["lonely", "alone"])
    model = NodeRegressor(**GIVEN).fit(graph, VALUES | {"alone": 9.0})
    assert np.isfinite(model.predict(["lonely"])).all()
    empty = nx.empty_graph(5)
    model = NodeRegressor().fit(empty, {0: 1.0, 1: 3.0})
    np.testing.assert_allclose(model.predict(), 2.0, atol=1e-9)


def test_all_values_known_leaves_nothing_to_predict() -> None:
    nodes = sorted({node for edge in EDGES for node in edge})
    model = NodeRegressor(**GIVEN).fit(EDGES, {node: float(i) for i, node in enumerate(nodes)})
    assert model.predict().shape == (0,)
    predictions, intervals = model.predict(return_interval=True)
    assert (predictions.shape, intervals.shape) == ((0,), (0, 2))
    assert model.predict([]).shape == (0,)


def test_known_nodes_may_be_asked_and_nodes_twice() -> None:
    model = NodeRegressor(**GIVEN).fit(EDGES, VALUES)
    first, second, third = model.predict(["x", "a", "x"])
    assert first == third != second


def test_values_of_nodes_that_are_not_there_are_refused_left_out_or_isolated() -> None:
    more = VALUES | {"island": 50.0}
    with pytest.raises(ValueError, match="not in the graph: 'island'; pass unknown_nodes"):
        NodeRegressor().fit(EDGES, more)
    ignored = NodeRegressor(**GIVEN).fit(EDGES, more, unknown_nodes="ignore")
    assert "island" not in ignored.nodes_.tolist()
    isolated = NodeRegressor(**GIVEN).fit(EDGES, more, unknown_nodes="isolated")
    assert isolated.nodes_.tolist()[-1] == "island"
    with pytest.raises(ValueError, match="unknown_nodes must be"):
        NodeRegressor().fit(EDGES, more, unknown_nodes="maybe")


def test_a_dataset_is_a_graph() -> None:
    data = load_temperature()
    model = NodeRegressor(**GIVEN).fit(data, data.values)
    assert model.nodes_.tolist() == list(data.node_names)


REFUSED = {
    "no value": ({}, EDGES, {"a": np.nan}, ValueError, "no node of the graph has a known value"),
    "infinite": ({}, EDGES, {"a": np.inf}, ValueError, "must be finite"),
    "type of names": ({}, [(1, 2)], {"1": 3.0}, ValueError, "'1' of type str"),
    "text": ({}, EDGES, {"a": "high"}, ValueError, "must hold numbers"),
    "rectangular": ({}, np.ones((4, 6)), [1.0] * 4, ValueError, "graph must be square"),
    "blocks": (
        {"blocks": "hop0"},
        EDGES,
        VALUES,
        ValueError,
        "blocks must be 'degree', 'attributes'",
    ),
    "no blocks": ({"blocks": ()}, EDGES, VALUES, ValueError, "blocks must be"),
    "number of blocks": ({"blocks": 3}, EDGES, VALUES, ValueError, "blocks must be"),
    "width": ({"width": 0.0}, EDGES, VALUES, ValueError, "width must be 'auto' or a positive"),
    "alpha": ({"alpha": "small"}, EDGES, VALUES, ValueError, "alpha must be 'auto'"),
    "solver": ({"solver": "svd"}, EDGES, VALUES, ValueError, "solver must be one of 'auto'"),
    "direction": ({"direction": "up"}, EDGES, VALUES, ValueError, "direction must be one of"),
    "neighbours": ({"neighbours": 3}, EDGES, VALUES, ValueError, "neighbours must be one of"),
    "reselect": ({"reselect": "never"}, EDGES, VALUES, ValueError, "reselect must be one of"),
    "large tol": ({"tol": 0.2}, EDGES, VALUES, ValueError, "tol must be a number from 1e-12"),
    "tol of zero": ({"tol": 0}, EDGES, VALUES, ValueError, "tol must be a number from 1e-12"),
    "tol as text": ({"tol": "low"}, EDGES, VALUES, ValueError, "tol must be a number"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_with_a_reason(case: Any) -> None:
    parameters, graph, values, error, message = case
    with pytest.raises(error, match=message):
        NodeRegressor(**parameters).fit(graph, values)


def test_bad_questions_are_refused_with_a_reason() -> None:
    model = NodeRegressor(**GIVEN)
    with pytest.raises(NotFittedError):
        model.predict()
    model.fit(EDGES, VALUES)
    coverages: list[Any] = [0.0, 1.0, 90, "high", True]
    for coverage in coverages:
        with pytest.raises(ValueError, match="coverage must be a number between"):
            model.predict(return_interval=True, coverage=coverage)
    with pytest.raises(ValueError, match="does not have: 'nobody'; predict_new"):
        model.predict(["nobody"])
    with pytest.raises(TypeError, match="nodes must be a list or array of names, got 'a'"):
        model.predict("a")
    with pytest.raises(ValueError, match="'a' → 'b' between nodes of the graph"):
        model.predict_new([("new", "a"), ("a", "b")])
    with pytest.raises(ValueError, match="no new node"):
        model.predict_new({"a": []})
    with pytest.raises(ValueError, match="no new node: it is empty"):
        model.predict_new({})
    with pytest.raises(ValueError, match="'new' → 'nobody' between two nodes that the graph does"):
        model.predict_new({"new": ["a", "nobody"]})
    assert model.predict_new([("new", "a"), ("new", "new")]).keys() == {"new"}  # a loop is none
    with pytest.raises(TypeError, match="'hops' is not an option of a graph"):
        model.fit(EDGES, VALUES, hops=2)
    with pytest.raises(ValueError, match="needs a graph, values or attributes"):
        model.partial_fit()
    with pytest.raises(ValueError, match="first call needs a graph"):
        NodeRegressor().partial_fit(None, VALUES)
    with pytest.raises(ValueError, match="no value is known yet"):
        NodeRegressor().partial_fit(EDGES).predict()


def test_a_new_node_without_links_has_a_prediction() -> None:
    model = NodeRegressor(**GIVEN).fit(EDGES, VALUES)
    assert np.isfinite(model.predict_new({"new": []})["new"])


@pytest.fixture
def both_ways() -> Any:
    """A graph given as a symmetric matrix: nobody said that it is undirected."""
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (2, 5)]
    A = np.zeros((6, 6))
    for source, target in pairs:
        A[source, target] = A[target, source] = 1.0
    return A


def test_symmetric_graph_is_undirected_unless_told(both_ways: Any) -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, np.nan, np.nan])
    assert not NodeRegressor(**GIVEN).fit(both_ways, values).is_directed_
    assert NodeRegressor(**GIVEN).fit(both_ways, values, directed=True).is_directed_
    both_ways[4, 1] = 0.0
    assert NodeRegressor(**GIVEN).fit(both_ways, values).is_directed_


def test_edges_added_to_a_symmetric_graph_lead_both_ways(both_ways: Any, tmp_path: Any) -> None:
    values, links = np.array([1.0, 2.0, 4.0, 3.0, np.nan, np.nan]), {6: [2, 5]}
    expected = NodeRegressor(**GIVEN).fit(both_ways, values, directed=False)
    model = NodeRegressor(**GIVEN).fit(both_ways, values)
    model.save(tmp_path / "model.gradraker")
    for found in (model, NodeRegressor.load(tmp_path / "model.gradraker")):
        assert found.predict_new(links) == expected.predict_new(links)
        found.partial_fit([(6, 2), (6, 5)])
        A = found.adjacency_.toarray()
        np.testing.assert_array_equal(A, A.T)
        assert A[2, 6] == 1.0
    one_way = NodeRegressor(**GIVEN).fit(both_ways, values, directed=True)
    assert one_way.partial_fit([(6, 2), (6, 5)]).adjacency_[2, 6] == 0.0
