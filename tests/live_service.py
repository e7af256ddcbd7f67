"""Start, ask, stop and kill a live service, as a user would."""

import contextlib
import re
import signal
import time
from pathlib import Path
from typing import Any

import requests

from gradraker.live import connect
from service_process import ServiceProcess

TOKEN = "a token for tests"


HEADERS = {"Authorization": f"Bearer {TOKEN}"}


class LiveService(ServiceProcess):
    """A service in a process of its own."""

    def __init__(
        self,
        *arguments: Any,
        journal: Any,
        port: Any = 0,
        token: Any = TOKEN,
        cwd: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(
            *("serve", "--journal", journal, "--port", port, *arguments),
            environment={"GRADRAKER_TOKEN": token} if token else {},
            cwd=cwd,
            **options,
        )
        self.token = token
        self.url = self._read_url()
        self.port = int(self.url.rsplit(":", 1)[1])

    def _read_url(self) -> Any:
        for line in self._stdout:
            self.output += line
            if found := re.search(r"(https?://\S+?)/ \(API", line):
                return found[1]
        raise AssertionError(f"the service did not start: {self.output}")

    def wait_until_ready(self, seconds: Any = 120.0, **options: Any) -> Any:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with contextlib.suppress(requests.ConnectionError):
                if requests.get(f"{self.url}/ready", timeout=5, **options).status_code == 200:
                    return self
            assert self.process.poll() is None, self._stdout.read()
            time.sleep(0.05)
        raise AssertionError("the service is not ready")

    def connect(self, **options: Any) -> Any:
        return connect(self.url, token=TOKEN, **options)

    def find_learner(self) -> Any:
        """Return the process that learns: the child that is not Python's resource tracker."""
        for children in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                for child in children.read_text().split():
                    if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                        return int(child)
        return None

    def kill(self) -> None:
        """Kill it as a power cut would; nothing is tidied up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._stdout.close()


def ask_predictions(send: Any, *nodes: Any, **options: Any) -> Any:
    answer = send("POST", "/predict", {"nodes": list(nodes), **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["predictions"]
