"""Start, ask, stop and kill a live service, as a user would."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import requests

from gradraker.live import connect

TOKEN = "a token for tests"
COMMAND = [sys.executable, "-c", "from gradraker.cli import main; main()", "serve"]


class LiveService:
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
        words = ["--journal", str(journal), "--port", str(port), *map(str, arguments)]
        self._environment = os.environ | ({"GRADRAKER_TOKEN": token} if token else {})
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
            cwd=cwd,
            **options,
        )
        assert self.process.stdout is not None
        self._stdout = self.process.stdout
        self.output = ""
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

    def stop(self) -> Any:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output += self._stdout.read()
        self._stdout.close()
        return self.process.returncode

    def __enter__(self) -> Any:
        return self.wait_until_ready()

    def __exit__(self, *_: Any) -> None:
        if not self._stdout.closed:
            self.stop()
