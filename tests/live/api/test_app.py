"""Every verb of the API, as a client sees it."""

import math
from typing import Any

from live_service import ask_predictions


def test_state_errors_and_metrics(send: Any, learn: Any) -> None:
    learn("PUT", "/edges", {"edges": [{"source": "err1", "target": "x"}]})
    n_before = send("GET", "/errors").json()["n"]
    guess = ask_predictions(send, "err1")[0]["prediction"]
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
