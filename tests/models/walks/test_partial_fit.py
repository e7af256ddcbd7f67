"""The same nodes one at a time, in chunks or at once: the same predictions."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor

N = 40
GIVEN: dict[str, Any] = {
    "blocks": ("hop1", "hop3", "degree"),
    "width": 0.7,
    "alpha": 0.05,
    "n_frequencies": 12,
}
SETTINGS = {
    "automatic": {},
    "automatic ridge": {"solver": "ridge", "n_frequencies": 12},
    "kernel": GIVEN,
    "ridge": GIVEN | {"solver": "ridge"},
    "ridge, fewer features than nodes": GIVEN | {"solver": "ridge", "n_frequencies": 2},
    "ridge, a few features": GIVEN | {"solver": "ridge", "n_frequencies": 1},
    "local": GIVEN | {"neighbours": "known"},
    "kernel, renewed": GIVEN | {"reselect": "doubled"},
    "ridge, renewed": GIVEN | {"reselect": "doubled", "solver": "ridge"},
}


def _links(seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (90, 2))
    edges = [(f"n{i}", f"n{j}") for i, j in ends.tolist() if i != j]
    edges = list(dict.fromkeys(edges))
    nodes = sorted({node for edge in edges for node in edge})
    values = dict(zip(nodes, rng.normal(size=len(nodes)).tolist(), strict=True))
    known = [nodes[i] for i in rng.permutation(len(nodes))[:24].tolist()]
    return edges, {node: values[node] for node in known}


def _by_name(model: NodeRegressor) -> dict[str, Any]:
    return dict(zip(model.nodes_.tolist(), model.predict(model.nodes_), strict=True))


def _assert_same(model: NodeRegressor, expected: dict[str, Any]) -> None:
    found = _by_name(model)
    assert found.keys() == expected.keys()
    for node, value in expected.items():
        assert found[node] == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("asked", [False, True], ids=["asked at the end", "asked between"])
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_values_one_at_a_time_in_chunks_or_at_once_are_the_same(
    setting: dict[Any, Any], size: int, asked: bool
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
def test_nodes_and_edges_that_arrive_later_are_as_if_they_had_been_there(
    setting: dict[Any, Any],
) -> None:
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
def test_a_value_given_again_replaces_the_old_one(setting: dict[Any, Any]) -> None:
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


def test_the_order_of_nodes_and_edges_does_not_count() -> None:
    edges, values = _links(4)
    for setting in SETTINGS.values():
        model = NodeRegressor(**setting).fit(edges[::-1], dict(list(values.items())[::-1]))
        _assert_same(model, _by_name(NodeRegressor(**setting).fit(edges, values)))


def test_classes_that_appear_later_are_learned() -> None:
    edges, values = _links(5)
    labels = {node: "abc"[int(value > 0) + int(value > 1)] for node, value in values.items()}
    whole = NodeClassifier(**GIVEN).fit(edges, labels)
    model = NodeClassifier(**GIVEN).partial_fit(edges)
    for node, label in sorted(labels.items(), key=lambda item: item[1]):
        model.partial_fit(values={node: label})
        model.predict()
    assert model.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(
        model.predict_proba(whole.nodes_), whole.predict_proba(whole.nodes_), atol=1e-8
    )


def test_a_choice_is_kept_until_the_known_values_have_doubled() -> None:
    edges, values = _links(6)
    listed = list(values.items())
    model = NodeRegressor(reselect="doubled").fit(edges, dict(listed[:8]))
    first = model.choice_
    model.partial_fit(values=dict(listed[8:15]))
    assert model.choice_ is first
    assert model.choice_.n_used == 8
    model.partial_fit(values=dict(listed[15:16]))
    assert model.choice_.n_used == 16
    always = NodeRegressor().fit(edges, dict(listed[:8])).partial_fit(values=dict(listed[8:9]))
    assert always.choice_.n_used == 9


def test_lms_learns_arriving_nodes_in_their_order_whenever_it_is_asked() -> None:
    edges, values = _links(7)
    listed = list(values.items())
    setting: dict[str, Any] = GIVEN | {"solver": "lms", "reselect": "doubled"}
    patient, curious = (NodeRegressor(**setting).fit(edges, dict(listed[:9])) for _ in range(2))
    for node, value in listed[9:]:
        patient.partial_fit(values={node: value})
        curious.partial_fit(values={node: value}).predict()
    _assert_same(patient, _by_name(curious))
    assert patient.solver_ == "lms"


def test_a_refused_call_leaves_the_model_as_it_was() -> None:
    edges, values = _links(8)
    model = NodeRegressor(**GIVEN).fit(edges, values)
    before = _by_name(model)
    with pytest.raises(ValueError, match="not in the graph"):
        model.partial_fit(values={"nobody": 1.0})
    with pytest.raises(ValueError, match="must be finite"):
        model.partial_fit([("n1", "n2", np.inf)], {})
    _assert_same(model, before)
