"""Several processes share a journal in PostgreSQL: one learns, all predict, another takes over."""

import time
from typing import Any

import numpy as np
import pytest
import requests

from gradraker import load
from live_kills import kill_often
from live_service import TOKEN, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


def test_another_process_takes_over_and_nothing_is_lost(postgres: Any, model_file: Any) -> None:
    url = postgres.make_database("takeover")
    services = [
        LiveService("--model", model_file, "--lease", 2, journal=url).wait_until_ready()
        for _ in range(2)
    ]
    try:
        clients = [one.connect() for one in services]
        kept = clients[1].partial_fit([("new", "x")], {"e": 2.0})
        for client in clients:
            client.wait(kept)
        assert [client.state()["is_learning_here"] for client in clients] == [True, False]
        assert (
            clients[0].predict(["new", "y"]).tolist() == clients[1].predict(["new", "y"]).tolist()
        )
        values = {"a": 2.0, "y": 3.0}
        kept = [
            clients[i % 2].partial_fit(values={n: v}) for i, (n, v) in enumerate(values.items())
        ]
        services[0].kill()
        started = time.monotonic()
        clients[1].wait(max(one.last_seq for one in kept))
        kept = clients[1].partial_fit(values={"v": 7.0})
        clients[1].wait(kept, timeout=30.0)
        assert time.monotonic() - started < 20.0
        assert clients[1].state()["is_learning_here"] is True
        model = load(model_file).partial_fit([("new", "x")], {"e": 2.0})
        model.partial_fit(values=values | {"v": 7.0})
        found = clients[1].predict(["new", "x", "u"])
        np.testing.assert_allclose(found, model.predict(["new", "x", "u"]), rtol=1e-8)
        numbers = [one["seq"] for one in clients[1].history("e")]
        assert len(numbers) == len(set(numbers)) == 1
    finally:
        for client in clients:
            client.close()
        services[1].stop()


def test_without_the_database_changes_are_refused_and_predictions_continue(
    postgres: Any, model_file: Any
) -> None:
    url = postgres.make_database("away")
    with LiveService("--model", model_file, "--lease", 2, journal=url) as service:
        client = service.connect()
        client.wait(client.partial_fit(values={"e": 2.0}))
        postgres.stop()
        try:
            answer = requests.put(
                f"{service.url}/values",
                json={"values": {"e": 3.0}},
                headers={"Authorization": f"Bearer {TOKEN}"},
                timeout=30,
            )
            assert answer.status_code == 503
            assert "not kept" in answer.json()["error"]
            assert client.predict(["e"]).shape == (1,)
        finally:
            postgres.start()
        client.wait(client.partial_fit(values={"e": 4.0}))
        assert [one["value"] for one in client.history("e")] == [4.0, 2.0]
        client.close()


def test_killed_processes_lose_no_change(postgres: Any, tmp_path: Any) -> None:
    url = postgres.make_database("kills")
    findings = kill_often(3, folder=tmp_path, journal=url, most_seconds=1.0)
    assert findings.acknowledged > 10
    assert findings.lost == []
    assert findings.twice == []
    assert findings.largest_difference < 1e-8
