"""Guarantees under faults: kills, a full disk, too many changes."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from typing import Any

import pytest
import requests

from gradraker.exceptions import LiveRequestError
from live_kills import kill_often
from live_service import TOKEN, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def test_kills_under_load_lose_nothing_and_apply_nothing_twice(tmp_path: Any) -> None:
    findings = kill_often(4, folder=tmp_path, seed=1, most_seconds=1.0)
    assert findings.acknowledged > 20
    assert findings.lost == []
    assert findings.twice == []
    assert findings.largest_difference < 1e-8
    assert findings.largest_difference_of_replay < 1e-8


def test_killed_learner_is_restarted(model_file: Any, tmp_path: Any) -> None:
    with LiveService("--model", model_file, journal=tmp_path / "live.db") as service:
        client = service.connect()
        learner = service.find_learner()
        os.kill(learner, signal.SIGKILL)
        kept = client.partial_fit(values={"e": 2.0})
        assert client.predict(["e"]).shape == (1,)  # answered without a learner
        client.wait(kept)
        assert service.find_learner() != learner
        assert client.state()["trouble"] is None
        client.close()


def test_changes_are_kept_before_the_first_state_is_learned(model_file: Any, tmp_path: Any) -> None:
    service = LiveService("--model", model_file, journal=tmp_path / "live.db")
    body = {"values": {"e": 2.0}}
    answer = requests.put(f"{service.url}/values", json=body, headers=HEADERS, timeout=30)
    assert answer.status_code == 200, answer.text
    question = requests.get(f"{service.url}/predict?node=e", timeout=30)
    assert question.status_code in (200, 503)  # 503 unless the first state was quick
    service.kill()
    with LiveService(journal=tmp_path / "live.db") as again, again.connect() as client:
        client.wait(answer.json()["last_seq"])
        assert [one["value"] for one in client.history("e")] == [2.0]


def test_restart_continues_without_a_model(model_file: Any, tmp_path: Any) -> None:
    journal = tmp_path / "live.db"
    with LiveService("--model", model_file, journal=journal) as service:
        with service.connect() as client:
            client.wait(client.partial_fit([("new", "x")], {"e": 2.0}))
            before = client.predict(["new", "y", "v"])
        assert service.stop() == 130, service.output
        assert "Traceback" not in service.output
    with LiveService(journal=journal) as service:
        with service.connect() as client:
            assert client.predict(["new", "y", "v"]).tolist() == pytest.approx(before.tolist())
            assert client.errors()["n"] == 1
        assert service.stop(signal.SIGTERM) == 0, service.output


@pytest.fixture
def small_disk(tmp_path: Any) -> Any:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this user may not mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_full_disk_refuses_changes_predicts_and_recovers(model_file: Any, small_disk: Any) -> None:
    with LiveService("--model", model_file, journal=small_disk / "live.db") as service:
        client = service.connect(timeout=5.0)
        client.wait(client.partial_fit(values={"e": 2.0}))
        filler = small_disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        names = [f"{i}-{'long' * 50}" for i in range(1000)]
        with pytest.raises(LiveRequestError, match="the disk of the journal is full") as caught:
            client.partial_fit([(name, "x") for name in names])
        assert caught.value.status == 507
        assert client.predict(["e"]).shape == (1,)
        health = requests.get(f"{service.url}/health", timeout=5).json()
        assert health == {"status": "trouble", "token_for": "changes"}
        filler.unlink()
        client.wait(client.partial_fit([("new", "x")], {"e": 3.0}))
        assert client.predict(["new"]).shape == (1,)
        health = requests.get(f"{service.url}/health", timeout=5).json()
        assert health == {"status": "ok", "token_for": "changes"}
        assert [one.get("value") for one in client.history("e")[:2]] == [3.0, 2.0]
        client.close()


def test_too_many_changes_are_answered_by_429(model_file: Any, tmp_path: Any) -> None:
    options = ("--model", model_file, "--max-pending", 50)
    with LiveService(*options, journal=tmp_path / "live.db") as service:
        os.kill(service.find_learner(), signal.SIGSTOP)  # nothing is learned
        statuses = []
        for i in range(60):
            answer = requests.put(
                f"{service.url}/values", json={"values": {"e": i}}, headers=HEADERS, timeout=10
            )
            statuses.append(answer.status_code)
        assert statuses == [200] * 50 + [429] * 10
        assert answer.headers["Retry-After"]
        assert requests.get(f"{service.url}/predict?node=e", timeout=10).status_code == 200
        os.kill(service.find_learner(), signal.SIGCONT)
        with service.connect() as client:  # tries again until it is taken
            client.wait(client.partial_fit(values={"e": 100.0}))


def test_learning_does_not_block_predictions(model_file: Any, tmp_path: Any) -> None:
    with LiveService("--model", model_file, journal=tmp_path / "live.db") as service:
        learner = service.find_learner()
        os.kill(learner, signal.SIGSTOP)
        kept = requests.put(
            f"{service.url}/values", json={"values": {"e": 1.0}}, headers=HEADERS, timeout=10
        ).json()
        answer = requests.get(f"{service.url}/predict?node=e", timeout=10).json()
        assert answer["state"] < kept["last_seq"]  # the last finished state, and it says so
        assert answer["predictions"][0]["known"] is False
        os.kill(learner, signal.SIGCONT)


def test_two_services_on_one_file_share_it(model_file: Any, tmp_path: Any) -> None:
    journal = tmp_path / "live.db"
    with (
        LiveService("--model", model_file, "--lease", 1, journal=journal) as first,
        LiveService("--lease", 1, journal=journal) as second,
        first.connect() as one,
        second.connect() as other,
    ):
        kept = other.partial_fit([("new", "x")], {"e": 2.0})
        one.wait(kept)
        other.wait(kept)
        assert one.predict(["new"]).tolist() == other.predict(["new"]).tolist()
        assert one.state()["is_learning_here"] is True
        assert other.state()["is_learning_here"] is False
        first.kill()
        other.wait(other.partial_fit(values={"y": 2.0}))
        assert other.state()["is_learning_here"] is True


def test_concurrent_requests_get_their_own_answers(service: Any) -> None:
    with service.connect() as client:
        expected = {node: client.predict_new({"same name": [node]})["same name"] for node in "xyuv"}
    found, errors = [], []

    def ask(node: Any) -> Any:
        try:
            with service.connect() as client:
                for i in range(10):
                    name = "same name" if i % 2 else f"{node}{i}"
                    found.append((node, client.predict_new({name: [node]})[name]))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(node,)) for node in "xyuv" * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 120
    for node, prediction in found:
        assert prediction == pytest.approx(expected[node], rel=1e-9)


def test_empty_journal_learns_a_graph_from_nothing(tmp_path: Any) -> None:
    with LiveService(journal=tmp_path / "live.db") as service, service.connect() as client:
        with pytest.raises(LiveRequestError, match="no value is known yet"):
            client.predict()
        client.wait(client.partial_fit([("a", "b"), ("b", "c"), ("c", "d")]))
        with pytest.raises(LiveRequestError, match="no value is known yet"):
            client.predict(["a"])
        client.wait(client.partial_fit(values={"a": 1.0, "d": 4.0}))
        assert client.predict(["b", "c"]).shape == (2,)
        client.wait(client.forget(values=["a", "d"]))
        with pytest.raises(LiveRequestError, match="no value is known yet"):
            client.predict(["a"])
        client.wait(client.forget(nodes=["a", "b", "c", "d"]))
        client.wait(client.partial_fit([("a", "b")], {"a": 1.0}))
        assert client.predict(["b"]).shape == (1,)


def test_demo_streams_automatically(tmp_path: Any) -> None:
    started = time.monotonic()
    with LiveService("--demo", journal=tmp_path / "live.db") as service:
        with service.connect() as client:
            client.wait(3)
            assert client.state()["nodes"] == 89
            assert client.errors()["n"] >= 1
        assert time.monotonic() - started < 120
