"""A command that serves, in a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from forked_process import start_python

PROGRAM = "from gradraker.cli import main; main()"


class ServiceProcess:
    """``gradraker serve`` or ``gradraker studio``, with all that it printed.

    A process that is forked is there and gone sooner, but does not start and stop as for a user.
    """

    def __init__(
        self,
        *words: Any,
        environment: Mapping[str, str],
        forked: bool = False,
        **options: Any,
    ) -> None:
        options |= {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "env": os.environ | environment,
        }
        self._forked = forked
        self.process: Any
        if forked:
            self.process = start_python(PROGRAM, *words, **options)
        else:
            command = [sys.executable, "-c", PROGRAM, *map(str, words)]
            self.process = subprocess.Popen(command, text=True, **options)
        assert self.process.stdout is not None
        self._stdout = self.process.stdout
        self.output = ""

    def stop(self, how: signal.Signals = signal.SIGINT) -> Any:
        """Stop it as Ctrl-C would, or otherwise; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output += self._stdout.read()
        self._stdout.close()
        return self.process.returncode

    def wait_until_ready(self) -> Any:
        """Wait until questions can be answered."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        return self.wait_until_ready()

    def __exit__(self, *_: Any) -> None:
        if not self._stdout.closed:
            self.stop(signal.SIGKILL if self._forked else signal.SIGINT)
