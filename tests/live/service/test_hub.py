"""Events about new states."""

from typing import Any


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
