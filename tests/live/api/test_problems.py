"""Refused requests: the answer names the field."""

from typing import Any

import pytest

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
