"""Panels of nodes: exact sums, and imagined links, which do not change the model."""

import base64
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, load_temperature
from gradraker.report.explorer import pack
from gradraker.studio.answers.node_panel import explain_node, imagine_changes


def unpack(text: str, kind: str) -> Any:
    """Read an array as the page does."""
    return np.frombuffer(base64.b64decode(text), dtype=kind)


@pytest.fixture(scope="module")
def values() -> Any:
    data = load_temperature()
    return data, dict(zip(data.node_names[:50], data.values[:50].tolist(), strict=True))


@pytest.mark.parametrize("kind", [NodeRegressor, SKGNodeRegressor])
def test_weights_sum_to_the_prediction(values: Any, kind: Any) -> None:
    data, known = values
    model = kind().fit(data, known)
    row = 60
    has_intervals = kind is NodeRegressor
    found = explain_node(model, row, left_out=False, has_intervals=has_intervals)
    weights, rows = unpack(found["weights"], "<f8"), unpack(found["known"], "<u4")
    total = found["offset"][0] + weights @ model.values_[rows].astype(float)
    (expected,) = model.predict([data.node_names[row]])
    assert total == pytest.approx(float(expected), abs=1e-8)
    assert found["prediction"][0] == pytest.approx(float(expected), abs=1e-8)
    assert (found["lower"] is not None) == has_intervals
    neighbours = {j for j, _, _ in found["neighbours"]}
    assert neighbours == set(np.flatnonzero(data.adjacency[[row]].toarray()[0]).tolist())


def test_weights_sum_to_the_scores_of_classes(values: Any) -> None:
    data, known = values
    labels = {name: "cold" if value < -2.0 else "mild" for name, value in known.items()}
    model = NodeClassifier().fit(data, labels)
    found = explain_node(model, 70, left_out=False, has_intervals=False)
    weights, rows = unpack(found["weights"], "<f8"), unpack(found["known"], "<u4")
    scores = np.array(found["offset"])
    for weight, row in zip(weights, rows, strict=True):
        scores[model.classes_.tolist().index(model.values_[row])] += weight
    np.testing.assert_allclose(scores, found["prediction"], atol=1e-9)
    assert sum(found["probabilities"]) == pytest.approx(1.0)


def test_imagined_link_equals_the_prediction_of_a_trained_copy(values: Any) -> None:
    data, known = values
    model = NodeRegressor().fit(data, known)
    before = model.predict(model.nodes_)
    row, other = data.node_names.index("Davos"), data.node_names.index("Lugano")
    found = imagine_changes(model, row, {other: 2.0}, {})
    np.testing.assert_array_equal(model.predict(model.nodes_), before)
    changed = NodeRegressor().fit(data, known)
    changed.partial_fit([("Davos", "Lugano", 2.0), ("Lugano", "Davos", 2.0)])
    expected = changed.predict(["Davos"])[0]
    assert found["after"] == pytest.approx(float(expected), abs=1e-9)
    assert found["before"] == pytest.approx(float(before[row]))
    sizes = [abs(after - old) for _, old, after in found["moved"]]
    assert sizes == sorted(sizes, reverse=True)


def test_pack_writes_little_endian_numbers() -> None:
    assert pack([1, 2], "<u4") == "AQAAAAIAAAA="


def test_values_in_another_scale_add_up_there(values: Any) -> None:
    data, known = values
    sizes = {name: float(np.exp(value / 4.0)) for name, value in known.items()}
    model = NodeRegressor(transform="log").fit(data, sizes)
    found = explain_node(model, 60, left_out=False, has_intervals=True)
    assert found["scale"].startswith("log(1 + value")
    weights, scaled = unpack(found["weights"], "<f8"), unpack(found["scaled"], "<f8")
    total = found["offset"][0] + weights @ scaled
    assert total == pytest.approx(found["prediction"][0], abs=1e-9)
    (expected,) = model.predict([data.node_names[60]])
    assert found["in_units"] == pytest.approx(float(expected))
    row = int(unpack(found["known"], "<u4")[0])
    imagined = imagine_changes(model, 60, {}, {row: 3.0})
    changed = NodeRegressor(transform="log").fit(data, sizes)
    changed.partial_fit(values={data.node_names[row]: 3.0})
    after = float(changed.predict([data.node_names[60]])[0])
    assert imagined["after"] == pytest.approx(after, abs=1e-9)
    assert imagined["before"] == pytest.approx(float(expected))
