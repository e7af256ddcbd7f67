"""Questions about nodes, answered from the last finished state."""

import math
from typing import Any

import numpy as np
import pytest
import requests

from gradraker import load
from live_service import HEADERS, ask_predictions


@pytest.fixture(scope="module")
def ask_untouched(closed_service: Any) -> Any:
    """Send a request to a service that no test changes: new nodes would move its predictions."""
    running, trust = closed_service

    def send(method: Any, path: Any, body: Any) -> Any:
        url = f"{running.url}{path}"
        return requests.request(method, url, json=body, headers=HEADERS, timeout=30, **trust)

    return send


def test_predictions_are_those_of_the_model(ask_untouched: Any, model_file: Any) -> None:
    send, model = ask_untouched, load(model_file)
    found = ask_predictions(send, "e", "y", coverage=0.5)
    expected, intervals = model.predict(["e", "y"], return_interval=True, coverage=0.5)
    np.testing.assert_allclose([one["prediction"] for one in found], expected, rtol=1e-9)
    np.testing.assert_allclose([[one["lower"], one["upper"]] for one in found], intervals)
    assert [one["known"] for one in ask_predictions(send, "a", "e")] == [True, False]
    assert ask_predictions(send, "a")[0]["value"] == 1.0


def test_intervals_at_the_default_coverage_and_infinite_ends(
    ask_untouched: Any, model_file: Any
) -> None:
    send = ask_untouched
    intervals = load(model_file).predict(["e"], return_interval=True, coverage=0.9)[1]
    assert not np.isfinite(intervals).any()  # four values are too few for 90 %
    found = ask_predictions(send, "e", coverage=0.9)[0]
    assert found["lower"] is None
    assert found["upper"] is None


def test_predict_without_nodes_predicts_all_unknown_ones(send: Any, learn: Any) -> None:
    found = send("POST", "/predict", {}).json()
    names = [one["node"] for one in found["predictions"]]
    assert {"e", "x", "y", "u", "v"} <= set(names)
    assert not {"a", "b", "c", "d"} & set(names)


def test_predict_by_query(send: Any) -> None:
    found = send("GET", "/predict?node=e&node=u").json()
    assert [one["node"] for one in found["predictions"]] == ["e", "u"]
    assert found["predictions"][0]["prediction"] == ask_predictions(send, "e")[0]["prediction"]


def test_predict_new_is_that_of_the_model(ask_untouched: Any, model_file: Any) -> None:
    send = ask_untouched
    links = {"new": ["x"], "other": {"u": 2.0, "v": 1.0}}
    found = send("POST", "/predict-new", {"links": links, "coverage": 0.5}).json()
    expected = load(model_file).predict_new(
        {"new": {"x": 1.0}, "other": {"u": 2.0, "v": 1.0}}, return_interval=True, coverage=0.5
    )
    for one in found["predictions"]:
        got = [one["prediction"], one["lower"], one["upper"]]
        np.testing.assert_allclose(got, expected[one["node"]], rtol=1e-9)
    plain = send("POST", "/predict-new", {"links": {"new": ["x"]}}).json()["predictions"][0]
    assert math.isclose(plain["prediction"], expected["new"][0], rel_tol=1e-9)


def test_explanations_add_up(send: Any) -> None:
    found = send("POST", "/explain", {"nodes": ["e", "v"], "top": 2}).json()
    for one in found["explanations"]:
        assert len(one["known"]) == 2
        total = one["offset"] + one["rest"]
        total += sum(part["weight"] * part["value"] for part in one["known"])
        assert math.isclose(total, one["prediction"], rel_tol=1e-9)


@pytest.mark.parametrize("links", [{"n": []}, {"n": {}}])
def test_new_node_without_links_is_answered(send: Any, links: Any) -> None:
    assert send("POST", "/predict-new", {"links": links}).status_code in (200, 422)
