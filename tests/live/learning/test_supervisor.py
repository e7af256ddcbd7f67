"""A learning process that dies is restarted."""

import os
import signal
from typing import Any

import pytest

from live_service import LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


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
