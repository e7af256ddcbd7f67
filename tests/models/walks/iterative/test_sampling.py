"""A part of a large graph to choose on."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import NodeRegressor
from gradraker.datasets import make_geometric_graph
from gradraker.features.walks import describe_walks
from gradraker.models.walks.iterative import selection
from gradraker.models.walks.iterative.sampling import sample_region, take_region


def _walks(graph: Any, names: Any = None, seed: Any = 1) -> Any:
    n = len(graph)
    names = np.arange(n) if names is None else names
    A = csr_array(nx.to_numpy_array(graph))
    return describe_walks(A, names, direction="both", seed=seed)


def test_sample_region_is_connected_where_the_graph_is() -> None:
    graph = nx.connected_watts_strogatz_graph(100, 4, 0.1, seed=0)
    nodes = sample_region(_walks(graph), 30)
    assert nodes.size == 30
    assert (np.diff(nodes) > 0).all()
    assert nx.is_connected(graph.subgraph(nodes.tolist()))


@pytest.mark.parametrize("n_nodes", [1, 7, 24, 100])
def test_sample_region_takes_further_components(n_nodes: Any) -> None:
    graph = nx.disjoint_union_all([nx.path_graph(4) for _ in range(6)])
    nodes = sample_region(_walks(graph), n_nodes)
    assert nodes.size == min(n_nodes, 24)
    assert np.unique(nodes).size == nodes.size


def test_sample_region_depends_on_names_and_seed_only() -> None:
    graph = nx.disjoint_union_all([nx.complete_graph(3) for _ in range(10)])
    order = np.random.default_rng(0).permutation(30)
    A = nx.to_numpy_array(graph)
    moved = nx.from_numpy_array(A[np.ix_(order, order)])
    # Whole components, since which nodes of a component come first depends on the order of edges.
    first = set(sample_region(_walks(graph), 9).tolist())
    again = set(order[sample_region(_walks(moved, order), 9)].tolist())
    assert first == again
    assert first != set(sample_region(_walks(graph, seed=2), 9).tolist())


def test_take_region_keeps_edges_names_and_hidden_nodes() -> None:
    graph = nx.gnm_random_graph(20, 60, seed=0)
    hidden = np.arange(20) % 3 == 0
    walks = describe_walks(
        csr_array(nx.to_numpy_array(graph)), np.arange(20), direction="out", seed=4, hidden=hidden
    )
    nodes = np.array([2, 3, 6, 11, 19])
    part = take_region(walks, nodes)
    A = nx.to_numpy_array(graph)
    np.testing.assert_array_equal(part.matrices.A.toarray(), A[np.ix_(nodes, nodes)])
    np.testing.assert_array_equal(part.identities, walks.identities[nodes])
    np.testing.assert_array_equal(part.matrices.hidden, hidden[nodes])
    assert (part.n, part.seed, part.matrices.direction) == (5, 4, "out")


def test_a_choice_on_a_part_predicts_about_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_geometric_graph(600, random_state=0)
    y = data.scale_values()
    values = np.where(np.random.default_rng(0).random(600) < 0.7, y, np.nan)
    tested = np.isnan(values)
    whole = NodeRegressor(solver="operators").fit(data, values)
    monkeypatch.setattr(selection, "MOST_NODES", 500)
    monkeypatch.setattr(selection, "PART_NODES", 400)
    part = NodeRegressor(solver="operators").fit(data, values)
    assert part.choice_.n_used < whole.choice_.n_used == int((~tested).sum())
    errors = [np.mean((y[tested] - model.predict()) ** 2) for model in (whole, part)]
    assert errors[1] < 1.3 * errors[0]
    # The error is estimated on all known nodes, whatever part the choice was made on.
    assert part.left_out_error_.n_nodes == whole.left_out_error_.n_nodes
    assert part.left_out_error_.rmse == pytest.approx(np.sqrt(errors[1]), rel=0.4)


def test_a_part_with_too_few_known_nodes_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_geometric_graph(300, random_state=0)
    values = np.where(np.arange(300) % 4 == 0, data.scale_values(), np.nan)
    monkeypatch.setattr(selection, "MOST_NODES", 200)
    monkeypatch.setattr(selection, "PART_NODES", 100)
    model = NodeRegressor(solver="operators").fit(data, values)
    assert model.choice_.n_used == 75
