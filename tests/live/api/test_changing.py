"""Changes that a client sends: learned, removed, kept wholly or not at all."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gradraker import NodeRegressor
from live_service import LiveService, ask_predictions


def test_edges_and_values_are_learned_and_removed(send: Any, learn: Any) -> None:
    learn("PUT", "/edges", {"edges": [{"source": "put1", "target": "x"}]})
    before = ask_predictions(send, "put1")[0]
    assert before["known"] is False
    learn("PUT", "/values", {"values": {"put1": 4.0}})
    learn("PUT", "/values", {"values": {"put1": 5.0}})
    assert ask_predictions(send, "put1")[0]["value"] == 5.0
    changes = send("GET", "/history?node=put1").json()["changes"]
    assert [one.get("value") for one in changes] == [5.0, 4.0, None]
    assert changes[-1] | {"time": 0, "seq": 0} == {
        "op": "put_edge", "source": "put1", "target": "x", "weight": 1.0, "time": 0, "seq": 0,
    }  # fmt: skip
    learn("POST", "/remove", {"values": ["put1"]})
    after = ask_predictions(send, "put1")[0]
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


def test_changes_of_every_kind_may_come_as_one_json_object(send: Any, learn: Any) -> None:
    ops = [
        {"op": "put_edge", "source": "js1", "target": "u"},
        {"op": "put_value", "node": "js1", "value": 7},
        {"op": "remove_value", "node": "js1"},
        {"op": "remove_node", "node": "js1"},
    ]
    found = learn("POST", "/changes", {"changes": ops})
    assert found["last_seq"] - found["first_seq"] == 3


def test_other_content_types_are_refused(send: Any) -> None:
    answer = send(
        "PUT", "/values", data=b'{"values": {"e": 1}}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 422
    answer = send("POST", "/changes", data=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert send("GET", "/nothing").status_code == 404
    assert send("DELETE", "/values").status_code == 405
