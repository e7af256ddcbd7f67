"""Changes that cannot be kept: a full disk, and too many at once."""

import contextlib
import os
import signal
import subprocess
from typing import Any

import pytest
import requests

from gradraker.exceptions import LiveRequestError
from live_service import HEADERS, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


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
