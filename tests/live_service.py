"""Start, ask, stop and kill a live service, as a user would."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import requests

from gradraker.live import connect

TOKEN = "a token for tests"
COMMAND = [sys.executable, "-c", "from gradraker.cli import main; main()", "serve"]


class LiveService:
    """A service in a process of its own."""

    def __init__(self, *arguments, journal, port=0, token=TOKEN, cwd=None, **options):
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
        self.output = ""
        self.url = self._read_url()
        self.port = int(self.url.rsplit(":", 1)[1])

    def _read_url(self):
        for line in self.process.stdout:
            self.output += line
            if found := re.search(r"(https?://\S+?)/ \(API", line):
                return found[1]
        raise AssertionError(f"the service did not start: {self.output}")

    def wait_until_ready(self, seconds=120.0, **options):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with contextlib.suppress(requests.ConnectionError):
                if requests.get(f"{self.url}/ready", timeout=5, **options).status_code == 200:
                    return self
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.05)
        raise AssertionError("the service is not ready")

    def connect(self, **options):
        return connect(self.url, token=TOKEN, **options)

    def find_learner(self):
        """Return the process that learns: the child that is not Python's resource tracker."""
        for children in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                for child in children.read_text().split():
                    if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                        return int(child)
        return None

    def kill(self):
        """Kill it as a power cut would; nothing is tidied up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output += self.process.stdout.read()
        self.process.stdout.close()
        return self.process.returncode

    def __enter__(self):
        return self.wait_until_ready()

    def __exit__(self, *_):
        if not self.process.stdout.closed:
            self.stop()
