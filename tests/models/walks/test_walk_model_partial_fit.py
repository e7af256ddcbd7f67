"""The same nodes one at a time, in chunks or at once: the same predictions."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor
from gradraker.datasets import make_geometric_graph
from gradraker.models.walks.walk_model import MOST_RESELECTED

N = 40
GIVEN: dict[str, Any] = {"blocks": ("hop1", "hop3", "degree"), "width": 0.7, "alpha": 0.05}
# Predictions are to agree to 1e-8: operators solve to a relative residual of 1e-10.
OPERATORS = {"solver": "operators", "tol": 1e-10}
SETTINGS = {
    "automatic": {},
    "automatic operators": OPERATORS,
    "exact": GIVEN,
    "operators": GIVEN | OPERATORS,
    "exact, local": GIVEN | {"neighbours": "known"},
    "operators, local": GIVEN | OPERATORS | {"neighbours": "known"},
    "operators, directed": GIVEN | OPERATORS | {"direction": "out"},
    "exact, doubled": GIVEN | {"reselect": "doubled", "transform": "none"},
    "operators, doubled": GIVEN | OPERATORS | {"reselect": "doubled", "transform": "none"},
}


def _links(seed: Any = 0) -> Any:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (90, 2))
    edges = [(f"n{i}", f"n{j}") for i, j in ends.tolist() if i != j]
    edges = list(dict.fromkeys(edges))
    nodes = sorted({node for edge in edges for node in edge})
    values = dict(zip(nodes, rng.normal(size=len(nodes)).tolist(), strict=True))
    known = [nodes[i] for i in rng.permutation(len(nodes))[:24].tolist()]
    return edges, {node: values[node] for node in known}


def _by_name(model: Any) -> Any:
    return dict(zip(model.nodes_.tolist(), model.predict(model.nodes_), strict=True))


def _assert_same(model: Any, expected: Any) -> None:
    found = _by_name(model)
    assert found.keys() == expected.keys()
    for node, value in expected.items():
        assert found[node] == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(
    ("size", "asked"),
    [
        pytest.param(1, True, id="1-asked between"),
        pytest.param(7, False, id="7-asked at the end"),
        pytest.param(1, False, id="1-asked at the end", marks=pytest.mark.slow),
        pytest.param(7, True, id="7-asked between", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_values_one_at_a_time_in_chunks_or_at_once_are_the_same(
    setting: Any, size: Any, asked: Any
) -> None:
    edges, values = _links()
    whole = NodeRegressor(**setting).fit(edges, values)
    model = NodeRegressor(**setting).partial_fit(edges)
    listed = list(values.items())[::-1]
    for start in range(0, len(listed), size):
        model.partial_fit(None, dict(listed[start : start + size]))
        if asked:
            model.predict()
    _assert_same(model, _by_name(whole))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_nodes_and_edges_that_arrive_later_are_as_if_they_had_been_there(setting: Any) -> None:
    edges, values = _links(1)
    whole = NodeRegressor(**setting).fit(edges, values)
    model = NodeRegressor(**setting)
    for start in range(0, len(edges), 30):
        part = edges[start : start + 30]
        there = {node for edge in edges[: start + 30] for node in edge}
        news = {node: value for node, value in values.items() if node in there}
        model.partial_fit(part, news)
        model.predict()
    _assert_same(model, _by_name(whole))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_value_given_again_replaces_the_old_one(setting: Any) -> None:
    edges, values = _links(2)
    wrong = {node: value + 5.0 for node, value in list(values.items())[:6]}
    model = NodeRegressor(**setting).fit(edges, values | wrong)
    model.partial_fit(values={node: values[node] for node in wrong})
    _assert_same(model, _by_name(NodeRegressor(**setting).fit(edges, values)))


def test_an_edge_given_again_replaces_the_old_weight() -> None:
    edges, values = _links(3)
    weighted = [(a, b, 1.0) for a, b in edges]
    changed = [(a, b, 4.0) for a, b in edges[:5]]
    model = NodeRegressor(**GIVEN).fit(weighted, values).partial_fit(changed)
    whole = NodeRegressor(**GIVEN).fit(changed + weighted[5:], values)
    _assert_same(model, _by_name(whole))
    # The whole graph again changes nothing.
    _assert_same(model.partial_fit(changed + weighted[5:]), _by_name(whole))


def test_predictions_do_not_depend_on_the_order_of_edges_and_values() -> None:
    edges, values = _links(4)
    for setting in SETTINGS.values():
        model = NodeRegressor(**setting).fit(edges[::-1], dict(list(values.items())[::-1]))
        _assert_same(model, _by_name(NodeRegressor(**setting).fit(edges, values)))


@pytest.mark.parametrize("setting", [GIVEN, GIVEN | OPERATORS], ids=["exact", "operators"])
def test_classes_that_appear_later_are_learned(setting: Any) -> None:
    edges, values = _links(5)
    labels = {node: "abc"[int(value > 0) + int(value > 1)] for node, value in values.items()}
    whole = NodeClassifier(**setting).fit(edges, labels)
    model = NodeClassifier(**setting).partial_fit(edges)
    for node, label in sorted(labels.items(), key=lambda item: item[1]):
        model.partial_fit(values={node: label})
        model.predict()
    assert model.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict_proba(whole.nodes_), whole.predict_proba(whole.nodes_), atol=1e-8
    )


@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_reselect_doubled_chooses_again_at_powers_of_two(solver: Any) -> None:
    edges, values = _links(6)
    listed = list(values.items())
    model = NodeRegressor(reselect="doubled", solver=solver).fit(edges, dict(listed[:8]))
    first = model.choice_
    model.partial_fit(values=dict(listed[8:15]))
    assert model.choice_ is first
    assert model.choice_.n_used == 8
    model.partial_fit(values=dict(listed[15:16]))
    assert model.choice_.n_used == 16
    always = NodeRegressor(solver=solver).fit(edges, dict(listed[:8]))
    always.partial_fit(values=dict(listed[8:9]))
    assert always.choice_.n_used == 9


@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_reselect_auto_chooses_always_up_to_a_number_of_values(
    monkeypatch: pytest.MonkeyPatch, solver: Any
) -> None:
    monkeypatch.setattr("gradraker.models.walks.walk_model.MOST_RESELECTED", 9)
    edges, values = _links(6)
    listed = list(values.items())
    model = NodeRegressor(solver=solver).fit(edges, dict(listed[:8]))
    used = []
    for node, value in listed[8:17]:
        model.partial_fit(values={node: value})
        used.append(model.choice_.n_used)
    assert used == [9, 9, 9, 9, 9, 9, 9, 16, 16]


def test_reselect_auto_chooses_always_up_to_256_values() -> None:
    assert MOST_RESELECTED == 256


@pytest.mark.parametrize("asked", [False, True], ids=["asked at the end", "asked between"])
@pytest.mark.parametrize("setting", [GIVEN, GIVEN | OPERATORS], ids=["exact", "operators"])
def test_left_out_error_online_is_that_of_all_known_values(setting: Any, asked: Any) -> None:
    edges, values = _links(7)
    listed = list(values.items())
    model = NodeRegressor(**setting).fit(edges, dict(listed[:4]))
    for node, value in listed[4:]:
        model.partial_fit(values={node: value})
        if asked:
            model.predict(return_interval=True)
    whole = NodeRegressor(**setting).fit(edges, values)
    assert model.left_out_error_.n_nodes == whole.left_out_error_.n_nodes == 24
    assert model.left_out_error_.rmse == pytest.approx(whole.left_out_error_.rmse, rel=1e-6)


@pytest.mark.parametrize("setting", [GIVEN, GIVEN | OPERATORS], ids=["exact", "operators"])
def test_a_new_class_at_a_new_node_is_learned(setting: Any) -> None:
    edges, values = _links(5)
    labels = {node: "ab"[int(value > 0)] for node, value in values.items()}
    model = NodeClassifier(**setting).fit(edges, labels)
    model.predict_proba()
    more, label = [("late", edges[0][0])], {"late": "c"}
    model.partial_fit(more, label)
    whole = NodeClassifier(**setting).fit(edges + more, labels | label)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict_proba(whole.nodes_), whole.predict_proba(whole.nodes_), atol=1e-8
    )


@pytest.mark.parametrize("seed", range(3))
def test_one_value_moves_predictions_beside_it_as_a_full_solve_does(seed: int) -> None:
    data = make_geometric_graph(400, random_state=seed)
    rng = np.random.default_rng(seed)
    known = rng.permutation(400)[:200]
    late = int(known[0])
    values = {data.node_names[i]: float(data.values[i]) for i in known[1:]}
    options: dict[str, Any] = {"blocks": ("hop1", "hop4", "hop16"), "width": 1.0, "alpha": 0.1}
    model = NodeRegressor(**options, solver="operators").fit(data, values)  # the default tol
    neighbours = data.adjacency[[late]].indices
    beside = [data.node_names[i] for i in (late, *neighbours)]
    before = model.predict(beside)
    more = {data.node_names[late]: float(data.values[late]) + 3.0 * np.std(data.values)}
    move = model.partial_fit(values=more).predict(beside) - before
    fine = [
        NodeRegressor(**options, solver="operators", tol=1e-10).fit(data, known).predict(beside)
        for known in (values, values | more)
    ]
    expected = fine[1] - fine[0]
    assert np.abs(expected).max() > 0.1 * np.std(data.values)
    assert np.linalg.norm(move - expected) < 0.05 * np.linalg.norm(expected)


def test_default_tol_agrees_online_and_at_once_to_the_tolerance() -> None:
    data = make_geometric_graph(200, random_state=1)
    known = np.random.default_rng(1).permutation(200)[:80]
    listed = [(data.node_names[i], float(data.values[i])) for i in known]
    options: dict[str, Any] = {"blocks": ("hop1", "hop16", "degree"), "width": 1.0, "alpha": 0.5}
    options["solver"] = "operators"
    whole = NodeRegressor(**options).fit(data, dict(listed)).predict(data.node_names)
    for size in (1, 20):
        model = NodeRegressor(**options).fit(data, dict(listed[:40]))
        for start in range(40, 80, size):
            model.partial_fit(values=dict(listed[start : start + size])).predict()
        # Residuals of 1e-3 of the values each, which solves amplify by at most ‖K‖/α < 20.
        error = model.predict(data.node_names) - whole
        assert np.sqrt(np.mean(error**2)) < 0.02 * np.std(data.values)


def test_a_refused_call_leaves_the_model_as_it_was() -> None:
    edges, values = _links(8)
    model = NodeRegressor(**GIVEN).fit(edges, values)
    before = _by_name(model)
    with pytest.raises(ValueError, match="not in the graph"):
        model.partial_fit(values={"nobody": 1.0})
    with pytest.raises(ValueError, match="must be finite"):
        model.partial_fit([("n1", "n2", np.inf)], {})
    _assert_same(model, before)
