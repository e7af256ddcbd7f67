"""Every verb of the API, as a client sees it."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from gradraker import NodeRegressor, load
from gradraker.live.api.strict_json import RepeatedNameError, load_json
from live_service import TOKEN, LiveService

HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def send(service: Any) -> Any:
    """Send a request: ``send("PUT", "/values", {...})``."""

    def send(
        method: Any, path: Any, body: Any = None, url: Any = service.url, **options: Any
    ) -> Any:
        headers = HEADERS | options.pop("headers", {})
        return requests.request(
            method, f"{url}{path}", json=body, headers=headers, timeout=30, **options
        )

    return send


@pytest.fixture
def learn(send: Any, service: Any) -> Any:
    """Send a change and wait until it is learned."""

    def learn(method: Any, path: Any, body: Any, **options: Any) -> Any:
        answer = send(method, path, body, **options)
        assert answer.status_code == 200, answer.text
        service.connect().wait(answer.json()["last_seq"])
        return answer.json()

    return learn


def predict(send: Any, *nodes: Any, **options: Any) -> Any:
    answer = send("POST", "/predict", {"nodes": list(nodes), **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["predictions"]


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
    found = predict(send, "e", "y", coverage=0.5)
    expected, intervals = model.predict(["e", "y"], return_interval=True, coverage=0.5)
    np.testing.assert_allclose([one["prediction"] for one in found], expected, rtol=1e-9)
    np.testing.assert_allclose([[one["lower"], one["upper"]] for one in found], intervals)
    assert [one["known"] for one in predict(send, "a", "e")] == [True, False]
    assert predict(send, "a")[0]["value"] == 1.0


def test_intervals_at_the_default_coverage_and_infinite_ends(
    ask_untouched: Any, model_file: Any
) -> None:
    send = ask_untouched
    intervals = load(model_file).predict(["e"], return_interval=True, coverage=0.9)[1]
    assert not np.isfinite(intervals).any()  # four values are too few for 90 %
    found = predict(send, "e", coverage=0.9)[0]
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
    assert found["predictions"][0]["prediction"] == predict(send, "e")[0]["prediction"]


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


def test_edges_and_values_are_learned_and_removed(send: Any, learn: Any) -> None:
    learn("PUT", "/edges", {"edges": [{"source": "put1", "target": "x"}]})
    before = predict(send, "put1")[0]
    assert before["known"] is False
    learn("PUT", "/values", {"values": {"put1": 4.0}})
    learn("PUT", "/values", {"values": {"put1": 5.0}})
    assert predict(send, "put1")[0]["value"] == 5.0
    changes = send("GET", "/history?node=put1").json()["changes"]
    assert [one.get("value") for one in changes] == [5.0, 4.0, None]
    assert changes[-1] | {"time": 0, "seq": 0} == {
        "op": "put_edge", "source": "put1", "target": "x", "weight": 1.0, "time": 0, "seq": 0,
    }  # fmt: skip
    learn("POST", "/remove", {"values": ["put1"]})
    after = predict(send, "put1")[0]
    assert after["known"] is False
    assert math.isclose(after["prediction"], before["prediction"], rel_tol=1e-9)
    learn("POST", "/remove", {"edges": [{"source": "put1", "target": "x"}]})
    learn("POST", "/remove", {"nodes": ["put1"]})
    assert send("POST", "/predict", {"nodes": ["put1"]}).status_code == 422
    assert send("PUT", "/values", {"values": {"put1": 4.0}}).status_code == 422
    assert len(send("GET", "/history?node=put1").json()["changes"]) == 6  # nothing is lost


@pytest.mark.slow
@pytest.mark.process
def test_attributes_are_learned_by_a_model_that_started_with_attributes(tmp_path: Path) -> None:
    edges = [(f"n{i}", f"n{(i + 1) % 12}") for i in range(12)]
    rows = {f"n{i}": {"age": float(i), "town": "x" if i % 2 else "y"} for i in range(12)}
    values = {f"n{i}": 2.0 * i + i % 3 for i in range(10)}
    model = NodeRegressor(random_state=0).fit(edges, values, attributes=rows)
    file = model.save(tmp_path / "model.gr")
    with LiveService("--model", file, journal=tmp_path / "live.db") as running:
        client = running.connect()
        assert client.state()["attributes_are_learned"]
        new = {"p": {"age": 3.0, "town": "x"}}
        expected = model.predict_new({"p": []}, attributes=new)["p"]
        assert client.predict_new({"p": []}, attributes=new)["p"] == pytest.approx(expected)
        with pytest.raises(ValueError, match="is not in links"):
            client.predict_new({"p": []}, attributes={"q": {}})
        client.wait(client.partial_fit(attributes={"n11": {"age": 0.0, "town": "y"}}))
        model.partial_fit(attributes={"n11": {"age": 0.0, "town": "y"}})
        (expected,) = model.predict(["n11"])
        assert client.predict(["n11"])[0] == pytest.approx(expected)
        client.wait(client.forget(attributes=["n11"]))
        model.partial_fit(attributes={"n11": {}})
        (expected,) = model.predict(["n11"])
        assert client.predict(["n11"])[0] == pytest.approx(expected)


def test_attributes_are_stored_in_the_history(send: Any, learn: Any) -> None:
    learn("PUT", "/edges", {"edges": [{"source": "attr1", "target": "x"}]})
    body = {"attributes": {"attr1": {"words": 3, "kind": "page", "open": True, "age": None}}}
    learn("PUT", "/attributes", body)
    change = send("GET", "/history?node=attr1").json()["changes"][0]
    assert change["attributes"] == body["attributes"]["attr1"]
    assert isinstance(send("GET", "/state").json()["attributes_are_learned"], bool)
    learn("POST", "/remove", {"attributes": ["attr1"]})
    learn("POST", "/remove", {"nodes": ["attr1"]})


def test_requests_with_the_same_key_count_once(send: Any) -> None:
    body = {"edges": [{"source": "key1", "target": "x"}]}
    headers = {"Idempotency-Key": "first-key"}
    first = send("PUT", "/edges", body, headers=headers).json()
    again = send("PUT", "/edges", body, headers=headers).json()
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert again["last_seq"] == first["last_seq"]
    other = {"edges": [{"source": "key2", "target": "x"}]}
    refused = send("PUT", "/edges", other, headers=headers)
    assert refused.status_code == 409
    assert refused.json()["fields"][0]["field"] == "Idempotency-Key"
    assert len(send("GET", "/history?node=key1").json()["changes"]) == 1


def test_ndjson_is_accepted_as_a_whole_or_refused(send: Any, learn: Any) -> None:
    def lines(*changes: Any) -> Any:
        text = "\n".join(json.dumps(one) for one in changes)
        headers = {"Content-Type": "application/x-ndjson"}
        return send("POST", "/changes", data=text.encode(), headers=headers)

    edge = {"op": "put_edge", "source": "nd1", "target": "u", "weight": 2.0}
    assert lines(edge, {"op": "put_value", "node": "nd1", "value": 7.0}).status_code == 200
    refused = lines(
        {"op": "put_edge", "source": "nd2", "target": "u"},
        {"op": "put_value", "node": "nd2", "value": 1e999},
    )
    assert refused.status_code == 422
    assert refused.json()["fields"][0]["field"] == "line 2: value"
    assert send("GET", "/history?node=nd2").status_code == 422
    refused = lines(edge, {"op": "put_value", "node": "nobody", "value": 1.0})
    assert refused.json()["fields"][0]["field"] == "line 2"
    headers = {"Content-Type": "application/x-ndjson"}
    twice = b'\n{"op": "put_value", "node": "x", "value": 1, "value": 2}'
    refused = send("POST", "/changes", data=twice, headers=headers)
    assert refused.json()["fields"] == [{"field": "line 2: value", "problem": "is given twice"}]


def test_load_json_names_repeated_members() -> None:
    with pytest.raises(RepeatedNameError, match=r"^'Davos' is given twice$"):
        load_json(b'{"values": {"Davos": 1, "Davos": 2}}')


def test_changes_as_json(send: Any, learn: Any) -> None:
    ops = [
        {"op": "put_edge", "source": "js1", "target": "u"},
        {"op": "put_value", "node": "js1", "value": 7},
        {"op": "remove_value", "node": "js1"},
        {"op": "remove_node", "node": "js1"},
    ]
    found = learn("POST", "/changes", {"changes": ops})
    assert found["last_seq"] - found["first_seq"] == 3


BAD = {
    "nan": ("PUT", "/values", b'{"values": {"e": NaN}}', 422, "values.e"),
    "infinite": ("PUT", "/values", b'{"values": {"e": 1e999}}', 422, "values.e"),
    "huge": ("PUT", "/values", b'{"values": {"e": 1e300}}', 422, "values.e"),
    "many digits": ("PUT", "/values", b'{"values": {"e": ' + b"9" * 400 + b"}}", 422, "values.e"),
    "too many digits": ("PUT", "/values", b'{"values": {"e": ' + b"9" * 9999 + b"}}", 400, None),
    "true": ("PUT", "/values", b'{"values": {"e": true}}', 422, "values.e"),
    "null": ("PUT", "/values", b'{"values": {"e": null}}', 422, "values.e"),
    "label": ("PUT", "/values", b'{"values": {"e": "red"}}', 422, "values.e"),
    "unknown node": ("PUT", "/values", b'{"values": {"nobody": 1}}', 422, "values.nobody"),
    "twice": ("PUT", "/values", b'{"values": {"e": 1, "e": 2}}', 422, "e"),
    "changes twice": ("POST", "/changes", b'{"changes": [], "changes": []}', 422, "changes"),
    "no values": ("PUT", "/values", b'{"values": {}}', 422, "values"),
    "other field": ("PUT", "/values", b'{"values": {"e": 1}, "wait": 1}', 422, "wait"),
    "not json": ("PUT", "/values", b'{"values": ', 400, "body"),
    "empty": ("PUT", "/values", b"", 422, "body"),
    "list": ("PUT", "/values", b"[]", 422, "body"),
    "deep": ("PUT", "/values", b"[" * 100_000, 400, None),
    "not utf-8": ("PUT", "/values", b'{"values": {"\xff": 1}}', 400, None),
    "half a character": ("PUT", "/values", b'{"values": {"\\ud800": 1}}', 422, None),
    "zero byte": ("PUT", "/values", b'{"values": {"a\\u0000": 1}}', 422, None),
    "long name": ("PUT", "/values", b'{"values": {"' + b"a" * 257 + b'": 1}}', 422, None),
    "number for a name": ("PUT", "/edges", b'{"edges": [{"source": 1, "target": "a"}]}', 422,
                          "edges.0.source"),
    "no target": ("PUT", "/edges", b'{"edges": [{"source": "a"}]}', 422, "edges.0.target"),
    "weight 0": ("PUT", "/edges", b'{"edges": [{"source": "a", "target": "b", "weight": 0}]}', 422,
                 "edges.0"),
    "nan weight": ("PUT", "/edges", b'{"edges": [{"source": "a", "target": "b", "weight": NaN}]}',
                   422, "edges.0.weight"),
    "text weight": ("PUT", "/edges", b'{"edges": [{"source": "a", "target": "b", "weight": "1"}]}',
                    422, "edges.0.weight"),
    "remove nobody": ("POST", "/remove", b'{"nodes": ["nobody"]}', 422, "nodes.0"),
    "remove nothing": ("POST", "/remove", b"{}", 422, "body"),
    "other op": ("POST", "/changes", b'{"changes": [{"op": "drop", "node": "a"}]}', 422,
                 "changes.0"),
    "attributes": ("PUT", "/attributes", b'{"attributes": {"a": {"b": [1]}}}', 422,
                   "attributes.a.b"),
    "predict nobody": ("POST", "/predict", b'{"nodes": ["e", "nobody"]}', 422, "nodes.1"),
    "coverage": ("POST", "/predict", b'{"nodes": ["e"], "coverage": 1}', 422, "coverage"),
    "nan coverage": ("POST", "/predict", b'{"nodes": ["e"], "coverage": NaN}', 422, "coverage"),
    "probabilities": ("POST", "/predict", b'{"nodes": ["e"], "probabilities": true}', 422,
                      "probabilities"),
    "new exists": ("POST", "/predict-new", b'{"links": {"e": ["x"]}}', 422, "links.e"),
    "new to nobody": ("POST", "/predict-new", b'{"links": {"n": ["x", "nobody"]}}', 422,
                      "links.n.nobody"),
    "explain nobody": ("POST", "/explain", b'{"nodes": ["nobody"]}', 422, "nodes.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_requests_are_refused_with_the_field(send: Any, name: Any) -> None:
    method, path, body, status, field = BAD[name]
    headers = {"Content-Type": "application/json"}
    answer = send(method, path, data=body, headers=headers)
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert problem["error"]
    if field is not None:
        assert problem["fields"][0]["field"] == field, problem
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("links", [{"n": []}, {"n": {}}])
def test_new_node_without_links_is_answered(send: Any, links: Any) -> None:
    assert send("POST", "/predict-new", {"links": links}).status_code in (200, 422)


def test_other_content_types_are_refused(send: Any) -> None:
    answer = send(
        "PUT", "/values", data=b'{"values": {"e": 1}}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 422
    answer = send("POST", "/changes", data=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert send("GET", "/nothing").status_code == 404
    assert send("DELETE", "/values").status_code == 405


def test_state_errors_and_metrics(send: Any, learn: Any) -> None:
    learn("PUT", "/edges", {"edges": [{"source": "err1", "target": "x"}]})
    n_before = send("GET", "/errors").json()["n"]
    guess = predict(send, "err1")[0]["prediction"]
    found = learn("PUT", "/values", {"values": {"err1": 3.0}})
    errors = send("GET", "/errors?last=1").json()
    assert math.isclose(errors["rmse"], abs(guess - 3.0), rel_tol=1e-9)
    assert send("GET", "/errors").json()["n"] == n_before + 1
    last = send("GET", "/learned?last=1").json()["learned"][0]
    assert (last["node"], last["value"], last["is_first"]) == ("err1", 3.0, True)
    state = send("GET", "/state").json()
    assert state["state"] >= found["last_seq"]
    assert state["pending"] == 0
    assert state["trouble"] is None
    assert state["is_learning_here"] is True
    metrics = send("GET", "/metrics").text
    assert f"gradraker_state_seq {float(state['state'])}" in metrics
    assert 'gradraker_requests_total{path="/values",status="200"}' in metrics
    assert send("GET", "/health").json() == {"status": "ok", "token_for": "changes"}


def test_events_report_new_states(service: Any, send: Any) -> None:
    events = service.connect().events()
    first = next(events)
    send("PUT", "/edges", {"edges": [{"source": "ev1", "target": "x"}]})
    kept = send("PUT", "/values", {"values": {"ev1": 2.0}}).json()
    for event in events:
        if event["state"] >= kept["last_seq"]:
            break
    assert event["state"] > first["state"]
    assert event["learned"][-1]["node"] == "ev1"
    events.close()


def test_pages_are_served(send: Any) -> None:
    page = send("GET", "/")
    assert page.status_code == 200
    assert "<h1>gradraker live" in page.text
    docs = send("GET", "/docs").text
    described = send("GET", "/openapi.json").json()
    for path in described["paths"]:
        assert f"<code>{path}</code>" in docs
    assert "Changes" in described["components"]["schemas"]
    for file in ("/live.js", "/live.css", "/favicon.ico"):
        assert send("GET", file).status_code == 200
