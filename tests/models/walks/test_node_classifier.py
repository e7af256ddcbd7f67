"""NodeClassifier: labels of any kind, probabilities that say what they mean."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from examples import random_graph
from gradraker import NodeClassifier
from gradraker.datasets import make_block_graph
from gradraker.models.walks.calibration import calibration_error
from oracles import nodes as oracle

GIVEN: dict[str, Any] = {"blocks": ("hop1", "hop2"), "width": 1.0, "alpha": 0.1}


def _labelled(labels: Any, seed: Any = 0) -> Any:
    A, _, known = random_graph(seed)
    listed = [None] * 31
    for i, node in enumerate(known.tolist()):
        listed[node] = labels[i % len(labels)]
    return A, listed, known


def test_exact_scores_are_ridge_regressions_of_one_hot_labels() -> None:
    A, labels, known = _labelled(["b", "a", "c"])
    model = NodeClassifier(**GIVEN).fit(A, labels, kind="matrix")
    K = oracle.kernel(A, GIVEN["blocks"], 1.0)
    unknown = np.setdiff1d(np.arange(31), known)
    K_known, K_asked = K[np.ix_(known, known)], K[np.ix_(unknown, known)]
    scores = np.column_stack(
        [
            oracle.ridge(K_known, K_asked, np.array([labels[i] == c for i in known]) * 1.0, 0.1)
            for c in "abc"
        ]
    )
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict().tolist() == ["abc"[i] for i in scores.argmax(axis=1)]
    np.testing.assert_allclose(model.explain().prediction, scores, atol=1e-10)
    p = model.predict_proba()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p.argmax(axis=1) == scores.argmax(axis=1)).all()


def test_operator_scores_are_ridge_regressions_with_half_of_each_frequency() -> None:
    A, labels, known = _labelled(["b", "a", "c", "a"])
    blocks = ("same_targets", "hop1")  # their norms are exact
    options: dict[str, Any] = {"blocks": blocks, "width": 1.0, "alpha": 0.1, "solver": "operators"}
    model = NodeClassifier(**options, tol=1e-12).fit(A, labels, kind="matrix")
    K = sum(oracle.operator_kernel(A, block) for block in blocks) / 2
    unknown = np.setdiff1d(np.arange(31), known)
    Y = np.array([[labels[i] == c for c in "abc"] for i in known]) * 1.0
    scores = oracle.fixed_mean_ridge(K[np.ix_(known, known)], K[np.ix_(unknown, known)], Y, 0.1)
    scores += 0.5 * (1.0 / 3.0 - Y.mean(axis=0))
    explanation = model.explain()
    np.testing.assert_allclose(explanation.prediction, scores, atol=1e-9)
    np.testing.assert_allclose(explanation.prediction.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(
        explanation.weights @ explanation.values + explanation.offset, scores, atol=1e-9
    )
    assert explanation.parts is not None
    assert explanation.parts is not None
    assert explanation.parts is not None
    assert explanation.parts is not None
    assert explanation.parts is not None
    assert explanation.parts is not None
    parts = explanation.parts.sum(axis=1) + Y.mean(axis=0) + explanation.offset
    np.testing.assert_allclose(parts, scores, atol=1e-9)
    assert model.predict().tolist() == ["abc"[i] for i in scores.argmax(axis=1)]


@pytest.mark.parametrize("solver", ["exact", "operators"])
@pytest.mark.parametrize(
    "labels",
    [["x", "y"], [0, 1], [3, 1, 2], [True, False], [("a", 1), ("b", 2)], ["s", 1], [1.5, 2.5]],
    ids=str,
)
def test_labels_may_be_anything_that_hashes(labels: Any, solver: Any) -> None:
    A, listed, known = _labelled(labels)
    model = NodeClassifier(**GIVEN, solver=solver).fit(A, listed, kind="matrix")
    assert set(model.classes_.tolist()) == set(labels)
    assert set(model.predict().tolist()) <= set(labels)
    mapping = {node: listed[node] for node in known.tolist()}
    again = NodeClassifier(**GIVEN, solver=solver).fit(A, mapping, kind="matrix")
    assert again.predict().tolist() == model.predict().tolist()


def test_labels_come_as_series_table_or_array() -> None:
    A, listed, known = _labelled(["x", "y"])
    expected = NodeClassifier(**GIVEN).fit(A, listed, kind="matrix").predict().tolist()
    names = known.tolist()
    labels = [listed[i] for i in names]
    forms = [
        pd.Series(labels, index=names),
        pd.DataFrame({"node": names, "value": labels}),
        np.array(listed, dtype=object),
        pd.Series(listed),
    ]
    for form in forms:
        model = NodeClassifier(**GIVEN).fit(A, form, kind="matrix")
        assert model.predict().tolist() == expected
    numbers = [float("nan") if label is None else "xy".index(label) for label in listed]
    model = NodeClassifier(**GIVEN).fit(A, np.array(numbers), kind="matrix")
    assert ["xy"[int(i)] for i in model.predict()] == expected


@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_one_class_is_certain(solver: Any) -> None:
    A, listed, _ = _labelled(["only"])
    model = NodeClassifier(solver=solver).fit(A, listed, kind="matrix")
    assert set(model.predict().tolist()) == {"only"}
    assert model.predict_proba().tolist() == [[1.0]] * 18
    one = NodeClassifier(solver=solver).fit(A, {3: "first"}, kind="matrix")
    assert set(one.predict().tolist()) == {"first"}
    assert one.left_out_error_.n_nodes == 1


@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_predict_new_returns_labels_and_probabilities(solver: Any) -> None:
    A, listed, _ = _labelled(["x", "y"])
    model = NodeClassifier(**GIVEN, solver=solver).fit(A, listed, kind="matrix")
    links = {"new": [1, 2], "newer": [4]}
    labels, p = model.predict_new(links), model.predict_new(links, proba=True)
    assert labels.keys() == p.keys() == links.keys()
    assert all(labels[node] == "xy"[int(p[node].argmax())] for node in links)


@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_classes_of_a_block_graph_are_found_with_honest_probabilities(solver: Any) -> None:
    data = make_block_graph(300, n_blocks=3, random_state=0)
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    y = data.positions[:, 0].astype(int)  # the block
    known = np.random.default_rng(0).permutation(300)[:120]
    model = NodeClassifier(solver=solver).fit(data, {data.node_names[i]: int(y[i]) for i in known})
    tested = [data.node_names.index(name) for name in model.unknown_nodes_]
    accuracy = model.score(model.unknown_nodes_, y[tested])
    assert accuracy > 1.5 * model.left_out_error_.accuracy_of_most_common
    # Left-out and tested nodes are alike: both are within 3 standard errors, 0.04 each.
    assert abs(model.left_out_error_.accuracy - accuracy) < 0.15
    codes = np.searchsorted(model.classes_, y[tested])
    assert calibration_error(model.predict_proba(), codes) < 0.15
    assert model.calibration_error_ == model.left_out_error_.calibration_error < 0.15


def test_more_than_eight_classes_are_chosen_on_sums_of_scores() -> None:
    data = make_block_graph(400, n_blocks=10, p_in=0.5, p_out=0.005, random_state=0)
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    assert data.positions is not None
    y = data.positions[:, 0].astype(int)
    known = np.random.default_rng(0).permutation(400)[:200]
    labels = {data.node_names[i]: int(y[i]) for i in known}
    model = NodeClassifier(solver="operators").fit(data, labels)
    tested = [data.node_names.index(name) for name in model.unknown_nodes_]
    assert model.score(model.unknown_nodes_, y[tested]) > 0.8
    assert model.predict_proba().shape == (200, 10)
    # 200 left-out and 200 tested nodes: 4 standard errors of the difference, 0.03 each.
    assert model.left_out_error_.n_nodes == 200
    accuracy = model.score(model.unknown_nodes_, y[tested])
    assert model.left_out_error_.accuracy == pytest.approx(accuracy, abs=0.12)


def test_unhashable_or_contradicting_labels_are_refused() -> None:
    edges = [("a", "b"), ("b", "c")]
    with pytest.raises(TypeError, match=r"label \[1\] of type list"):
        NodeClassifier().fit(edges, {"a": [1]})
    with pytest.raises(ValueError, match="2 labels, but there are 3 nodes"):
        NodeClassifier().fit(edges, ["x", "y"])
    table = pd.DataFrame({"node": ["a", "a"], "value": ["x", "y"]})
    with pytest.raises(ValueError, match="two labels, 'x' and 'y'"):
        NodeClassifier().fit(edges, table)
    with pytest.raises(ValueError, match="no node of the graph has a known value"):
        NodeClassifier().fit(edges, {"a": None})
