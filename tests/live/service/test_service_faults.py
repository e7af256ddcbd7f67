"""Guarantees under faults: kills, a full disk, too many changes."""

from typing import Any

import pytest
import requests

from live_kills import kill_often
from live_service import HEADERS, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


def test_kills_under_load_lose_nothing_and_apply_nothing_twice(tmp_path: Any) -> None:
    findings = kill_often(4, folder=tmp_path, seed=1, most_seconds=1.0)
    assert findings.acknowledged > 20
    assert findings.lost == []
    assert findings.twice == []
    assert findings.largest_difference < 1e-8
    assert findings.largest_difference_of_replay < 1e-8


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
