"""Services that restart, share a journal, or start with an empty one."""

import signal
from typing import Any

import pytest

from gradraker.exceptions import LiveRequestError
from live_service import LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]


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
