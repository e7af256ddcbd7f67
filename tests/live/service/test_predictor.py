"""Questions while a model learns, and concurrent questions."""

import os
import signal
import threading
from typing import Any

import pytest
import requests

from live_service import HEADERS, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


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
