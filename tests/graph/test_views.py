"""Views of a graph side by side: hops and layers."""

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from gradraker import GradrakerRegressor, SKGRegressor, adjacency_vectors, load, load_temperature
from gradraker.datasets import make_block_graph
from gradraker.graph import hop_views, layer_views

EDGES = [("a", "b", 2.0), ("a", "c", 0.5), ("c", "b", 1.0), ("c", "c", 3.0)]
ROAD = [("Bern", "Thun", 2.0), ("Thun", "Bern", 2.0)]
RAIL = [("Bern", "Thun", 1.0), ("Bern", "Olten", 3.0)]


@pytest.mark.parametrize("hop_weights", ["count", "binary", "random_walk"])
@pytest.mark.parametrize(
    "arguments", [{}, {"nodes": ["c", "a"], "references": ["b", "c"], "self_loops": "add"}]
)
def test_each_view_holds_the_adjacency_vectors_of_its_hops(
    hop_weights: Any, arguments: Any
) -> None:
    views = hop_views(EDGES, hops=3, hop_weights=hop_weights, **arguments)
    assert list(views.views) == ["1 hop", "2 hops", "3 hops"]
    for hops, name in enumerate(views.views, start=1):
        alone = adjacency_vectors(EDGES, hops=hops, hop_weights=hop_weights, **arguments)
        view = views.get_view(name)
        assert np.array_equal(view.rows.toarray(), alone.rows.toarray())
        assert view.references.tolist() == alone.references.tolist()
        assert view.nodes.tolist() == alone.nodes.tolist() == views.nodes.tolist()
        assert views.views[name] == alone.rows.shape[1]


def test_columns_have_names_that_do_not_depend_on_other_views() -> None:
    two, three = hop_views(EDGES, hops=2), hop_views(EDGES, hops=3)
    assert two.references.tolist() == three.references.tolist()[:6]
    assert two.references[0] == ("1 hop", "a")
    assert two.references[3] == ("2 hops", "a")
    assert len(set(three.references.tolist())) == three.rows.shape[1] == sum(three.views.values())
    assert repr(two) == "GraphViews(3 nodes, 8 entries, {'1 hop': 3, '2 hops': 3})"


def test_numbered_nodes_keep_their_numbers() -> None:
    views = hop_views(np.diag([1.0, 0, 2, 3]), hops=2)
    assert views.references[5] == ("2 hops", 1)
    assert views.get_view("2 hops").references.tolist() == [0, 1, 2, 3]


def test_rows_of_a_single_learner_do_not_depend_on_the_order_of_views() -> None:
    data = load_temperature()
    y = data.scale_values()
    views = hop_views(data, hops=2, hop_weights="random_walk")
    back = np.r_[89:178, 0:89]
    one = SKGRegressor(sigma2=1.0, random_state=0)
    one.fit(views.rows, y, references=views.references)
    other = SKGRegressor(sigma2=1.0, random_state=0)
    other.fit(views.rows[:, back], y, references=views.references[back])
    np.testing.assert_allclose(one.predict(views.rows), other.predict(views.rows[:, back]))


def test_layers_have_the_nodes_of_any_layer() -> None:
    views = layer_views({"road": ROAD, "rail": RAIL})
    assert views.nodes.tolist() == ["Bern", "Olten", "Thun"]
    assert views.views == {"road": 3, "rail": 3}
    assert views.get_view("road").rows.toarray().tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    assert views.get_view("rail").rows.toarray().tolist() == [[0, 3, 1], [0, 0, 0], [0, 0, 0]]
    assert views.references[4] == ("rail", "Olten")


def test_a_layer_may_have_no_edges() -> None:
    views = layer_views({"road": ROAD, "rail": []})
    assert views.views == {"road": 2, "rail": 2}
    assert views.get_view("rail").rows.nnz == 0


def test_layers_may_be_graphs_of_different_kinds() -> None:
    rail = nx.Graph()
    rail.add_edge("Bern", "Olten", weight=3.0)
    views = layer_views({"road": ROAD, "rail": rail})
    assert views.get_view("rail").rows.toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    # One of them is a list of edges, so a node without edges may be chosen.
    assert not layer_views({"road": ROAD, "rail": rail}, nodes=["Chur"]).rows.toarray().any()
    with pytest.raises(ValueError, match=r"layer 'rail': nodes holds names .* 'Chur'"):
        layer_views({"rail": rail}, nodes=["Chur"])


def test_layers_with_several_hops() -> None:
    views = layer_views({"road": ROAD, "rail": RAIL}, hops=2, hop_weights="binary")
    assert list(views.views) == ["road, 1 hop", "road, 2 hops", "rail, 1 hop", "rail, 2 hops"]
    assert views.get_view("road, 2 hops").rows.toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert views.get_view("rail, 2 hops").rows.nnz == 0


def test_layers_take_the_same_arguments() -> None:
    arguments: dict[str, Any] = {
        "direction": "both",
        "weight": False,
        "self_loops": "add",
        "references": ["Thun"],
    }
    views = layer_views({"road": ROAD, "rail": RAIL}, **arguments)
    for layer in ("road", "rail"):  # there and back is one 1
        assert views.get_view(layer).rows.toarray().tolist() == [[1], [0], [1]]
    with pytest.raises(ValueError, match="layer 'rail': edge 'Bern' → 'Thun' is given more than"):
        layer_views({"rail": [*RAIL, RAIL[0]]}, duplicates="error")


def test_a_weight_may_be_named() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"source": ["a"], "target": ["b"], "cars": [7.0], "trams": [2.0]})
    views = layer_views({"all": table}, weight="cars")
    assert views.rows.toarray().tolist() == [[0, 7], [0, 0]]


# -- a bank over views ---------------------------------------------------------


def test_a_bank_over_hops_is_the_weighted_sum_of_learners_of_each_hop() -> None:
    data = load_temperature()
    y = data.scale_values()
    views = hop_views(data, hops=2, hop_weights="random_walk")
    bank = GradrakerRegressor(
        kernels=["theory", ("laplacian", 2.0)], views=views.views, random_state=0
    )
    bank.fit(views.rows, y, references=views.references)
    members = [(member.view, member.kernel) for member in bank.members_]
    assert members == [
        (view, kernel) for view in ("1 hop", "2 hops") for kernel in ("gaussian", "laplacian")
    ]
    total = np.zeros(89)
    for member, weight in zip(bank.members_, bank.kernel_weights_, strict=True):
        rows = views.get_view(member.view).rows
        columns = [(member.view, node) for node in data.node_names]
        alone = SKGRegressor(kernel=member.kernel, sigma2=member.sigma2, random_state=0)
        alone.fit(rows, y, references=columns)
        total += weight * alone.predict(rows, references=columns)
    np.testing.assert_allclose(bank.predict(views.rows), total, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", ["theory", "median"])
def test_each_view_takes_its_own_sigma2_by_the_same_rule(rule: str) -> None:
    data = load_temperature()
    y = data.scale_values()
    views = hop_views(data, hops=3)  # counts grow with the hops, and distances with them
    bank = GradrakerRegressor(kernels=[rule], views=views.views, random_state=0)
    bank.fit(views.rows, y, references=views.references)
    for member in bank.members_:
        rows = views.get_view(member.view).rows
        columns = [(member.view, node) for node in data.node_names]
        alone = SKGRegressor(sigma2=rule, random_state=0).fit(rows, y, references=columns)
        assert member.sigma2 == pytest.approx(alone.sigma2_, rel=1e-12)
    assert (np.diff(bank.sigma2_) > 0).all()


def test_the_bank_finds_the_layer_that_determines_the_values() -> None:
    data = make_block_graph(200, p_in=0.2, random_state=0)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(200)
    wrong = data.adjacency[shuffled][:, shuffled]  # a graph like it, of other nodes
    views = layer_views({"wrong": wrong, "right": data.adjacency})
    bank = GradrakerRegressor(kernels=["theory"], views=views.views, random_state=0)
    bank.fit(views.rows, data.scale_values() - data.scale_values().mean())
    weights = dict(zip(views.views, bank.kernel_weights_, strict=True))
    assert weights["right"] > 0.9


def test_a_bank_over_views_can_be_cloned_saved_and_loaded(tmp_path: Path) -> None:
    data = load_temperature()
    views = hop_views(data, hops=2)
    bank = clone(GradrakerRegressor(kernels=["theory"], views=views.views, random_state=0))
    bank.fit(views.rows, data.scale_values(), references=views.references)
    again = load(bank.save(tmp_path / "hops.bank"))
    assert np.array_equal(again.predict(views.rows), bank.predict(views.rows))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.permutations(range(5)))
def test_relabelling_nodes_permutes_rows_and_columns(seed: Any, order: Any) -> None:
    rng = np.random.default_rng(seed)
    layers = {name: rng.integers(0, 3, (5, 5)).astype(float) for name in ("one", "two")}
    turned = {name: layer[np.ix_(order, order)] for name, layer in layers.items()}
    original, relabelled = layer_views(layers, hops=2), layer_views(turned, hops=2)
    for name in original.views:
        expected = original.get_view(name).rows.toarray()[np.ix_(order, order)]
        assert np.array_equal(relabelled.get_view(name).rows.toarray(), expected)


@pytest.mark.parametrize(
    ("layers", "error", "message"),
    [
        (ROAD, TypeError, "layers must be a mapping .* got list: for a single graph take hop_vi"),
        ({}, ValueError, "layers is empty"),
        ({1: ROAD}, TypeError, "names of layers must be str, got 1 of int"),
        ({"road": 7}, TypeError, "layer 'road': graph must be one of"),
        ({"road": [("a", "b", np.nan)]}, ValueError, "layer 'road': the weight of edge 'a' → 'b'"),
    ],
)
def test_wrong_layers_are_named(layers: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        layer_views(layers)


@pytest.mark.parametrize("hops", [0, 1.5, True, "2"])
def test_wrong_hops_are_refused(hops: Any) -> None:
    with pytest.raises(ValueError, match="hops must be an integer of at least 1"):
        hop_views(EDGES, hops=hops)


def test_views_are_frozen_and_get_view_takes_their_names() -> None:
    views = hop_views(EDGES)
    with pytest.raises(ValueError, match="name must be one of '1 hop', '2 hops', got '3 hops'"):
        views.get_view("3 hops")
    with pytest.raises(FrozenInstanceError):
        views.rows = None  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        views.references[0] = "z"
