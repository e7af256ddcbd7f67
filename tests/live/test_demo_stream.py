"""The stream of the demonstration."""

import time
from itertools import islice
from typing import Any

import pytest

from gradraker.live.demo_stream import N_KNOWN_AT_FIRST, list_submissions, make_demo_model
from live_service import LiveService


def test_stations_arrive_one_by_one_then_the_next_month() -> None:
    n = len(make_demo_model().nodes_)
    first, second = list(islice(list_submissions(), n)), list(islice(list_submissions(), n, n + 2))
    nodes = [one.changes[0].node for one in first]
    assert len(set(nodes)) == n
    assert {one.op for one in second[0].changes} == {"put_value", "remove_value"}
    assert len(second[0].changes) == n
    assert sum(one.op == "put_value" for one in second[0].changes) == N_KNOWN_AT_FIRST
    assert len(second[1].changes) == 1
    assert make_demo_model().known_nodes_.size == N_KNOWN_AT_FIRST


@pytest.mark.process
@pytest.mark.slow
def test_demo_streams_automatically(tmp_path: Any) -> None:
    started = time.monotonic()
    with LiveService("--demo", journal=tmp_path / "live.db") as service:
        with service.connect() as client:
            client.wait(3)
            assert client.state()["nodes"] == 89
            assert client.errors()["n"] >= 1
        assert time.monotonic() - started < 120
