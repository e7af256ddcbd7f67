"""Python processes that begin with the library imported: forked, not started.

Starting one takes two seconds of imports. What happens before and while the library is imported,
and what the environment tells Python when it starts, is tested with real starts.
"""

import array
import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Any, TextIO

SERVER = Path(__file__).with_name("fork_server.py")

# A process of one thread can be forked; Arrow starts another one when it is imported.
ONE_THREAD = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}


def can_fork() -> bool:
    """Whether processes are forked: on Linux, and not where coverage starts with each process."""
    return sys.platform == "linux" and not any(name.startswith("COV") for name in os.environ)


def start_python(program: str, *words: Any, **options: Any) -> Any:
    """Start ``python -c program words``; options are those of :class:`ForkedProcess`."""
    given = [str(word) for word in words]
    if can_fork():
        return ForkedProcess(program, *given, **options)
    command = [sys.executable, "-c", program, *given]
    return subprocess.Popen(command, text=True, encoding="utf-8", **options)


@functools.cache
def connect() -> socket.socket:
    """Start the server of this process; it ends when the socket is closed, soon after the tests."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        theirs.set_inheritable(True)
        command = [sys.executable, str(SERVER), str(theirs.fileno())]
        os.posix_spawn(sys.executable, command, os.environ | ONE_THREAD)
    atexit.register(ours.close)
    return ours


class ForkedProcess:
    """The part of :class:`subprocess.Popen` that tests use, with text in its streams.

    Its parent is a process of the server, which reports how it ends. ``stdin``, ``stdout`` and
    ``stderr`` are None, PIPE, DEVNULL or, the last, STDOUT.
    """

    def __init__(
        self,
        program: str,
        *words: str,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        cwd: str | Path | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.returncode: int | None = None
        self.stdin: TextIO | None = None
        self.stdout: TextIO | None = None
        self.stderr: TextIO | None = None
        request = {
            "program": program,
            "words": words,
            "folder": os.path.abspath(os.curdir if cwd is None else cwd),
            "environment": dict(os.environ if env is None else env),
        }
        self._reports, report = os.pipe()
        with contextlib.ExitStack() as theirs:
            theirs.callback(os.close, report)
            streams = [
                self._open("stdin", stdin, theirs),
                self._open("stdout", stdout, theirs),
            ]
            streams.append(streams[1] if stderr == STDOUT else self._open("stderr", stderr, theirs))
            socket.send_fds(connect(), [json.dumps(request).encode()], [report, *streams])
        self.pid = self._read_report()

    def _open(self, name: str, wanted: int | None, theirs: contextlib.ExitStack) -> int:
        """Return the descriptor of a stream of the process, which is ours if none is wanted."""
        if wanted is None:
            return ("stdin", "stdout", "stderr").index(name)
        if wanted == DEVNULL:
            stream = os.open(os.devnull, os.O_RDWR)
        else:
            assert wanted == PIPE
            ends = os.pipe()
            own, stream = reversed(ends) if name == "stdin" else ends
            mode = "w" if name == "stdin" else "r"
            setattr(self, name, os.fdopen(own, mode, encoding="utf-8"))
        theirs.callback(os.close, stream)
        return stream

    def _read_report(self) -> int:
        number = array.array("q", os.read(self._reports, 8))
        assert number, "the server of processes has ended"
        return number[0]

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._reports], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self.returncode = self._read_report()
            os.close(self._reports)
        return self.returncode

    def communicate(self, *, timeout: float = 120.0) -> tuple[str, str]:
        """Return what it prints to its two streams, when it has ended."""
        read = ["", ""]

        def read_all(place: int, stream: TextIO) -> None:
            read[place] = stream.read()

        threads = [
            threading.Thread(target=read_all, args=(place, stream))
            for place, stream in enumerate((self.stdout, self.stderr))
            if stream is not None and not stream.closed
        ]
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(timeout)
        self._close()
        return read[0], read[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> "ForkedProcess":
        return self

    def __exit__(self, *_: Any) -> None:
        self._close()
        self.wait()
