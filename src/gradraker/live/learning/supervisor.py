"""Start the learning process, receive its states, and restart it if it dies."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from gradraker.live.learning.states import State, read_state
from gradraker.live.settings import Settings

_THREAD_VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_MAX_PAUSE = 30.0


class Supervisor:
    """The learning process, as the serving process sees it.

    Parameters
    ----------
    settings : Settings
        Settings of the service.
    on_state : callable
        Called with each new state and whether the learner holds the lease.
    on_trouble : callable
        Called with a message, or with None when the trouble is over.
    on_start : callable
        Called when a learning process starts.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        on_state: Callable[[State, bool], None],
        on_trouble: Callable[[str | None], None],
        on_start: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._on_state, self._on_trouble, self._on_start = on_state, on_trouble, on_start
        self._lock = threading.Lock()
        self._channel: Any = None
        self._is_stopping = threading.Event()
        self._has_ended = False
        self._thread = threading.Thread(target=self._run, name="gradraker-learner", daemon=True)

    def start(self) -> None:
        """Start the learning process."""
        self._thread.start()

    def wake(self) -> None:
        """Notify the learning process of new changes."""
        self._send("wake")

    def stop(self, *, seconds: float = 20.0) -> None:
        """Ask the learning process to write a snapshot and end."""
        self._is_stopping.set()
        self._send("stop")
        self._thread.join(seconds)

    def _send(self, message: str) -> None:
        # If it is gone, its successor reads the journal anyway.
        with self._lock, suppress(OSError):
            if self._channel is not None:
                self._channel.send(message)

    def _run(self) -> None:
        pause = 0.5
        while not self._is_stopping.is_set():
            started = time.monotonic()
            self._run_once()
            if self._is_stopping.is_set():
                return
            self._has_ended = True
            self._on_trouble("the learning process ended; it is started again")
            pause = 0.5 if time.monotonic() - started > 60.0 else min(2 * pause, _MAX_PAUSE)
            self._is_stopping.wait(pause)

    def _run_once(self) -> None:
        """Run one learning process to its end."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_start_learner,
            args=(self._settings, theirs),
            name="gradraker-learner",
            daemon=True,
        )
        with _limit_threads():
            process.start()
        theirs.close()
        self._on_start()
        with self._lock:
            self._channel = ours
        if self._is_stopping.is_set():
            self._send("stop")
        try:
            while True:
                self._take(ours.recv(), ours)
        except (EOFError, OSError):
            pass
        finally:
            with self._lock:
                self._channel = None
            ours.close()
            process.join(5.0)
            if process.is_alive():
                process.kill()
                process.join()

    def _take(self, message: tuple[Any, ...], channel: Any) -> None:
        if message[0] == "trouble":
            self._on_trouble(message[1])
            return
        try:
            descriptor = recv_handle(channel)
        except RuntimeError:  # this process has too many open files
            raise EOFError from None
        try:
            state = read_state(descriptor)
        finally:
            os.close(descriptor)
        self._on_state(state, message[1])
        if self._has_ended:
            self._has_ended = False
            self._on_trouble(None)


def _start_learner(settings: Settings, channel: Connection) -> None:
    """Run the learning process; its imports are not loaded in the serving process."""
    from gradraker.live.learning.learner import run_learner

    run_learner(settings, channel)


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Set the number of threads of a process that is started: leave a core to this one."""
    n_threads = str(max(1, (os.cpu_count() or 1) - 1))
    added = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, n_threads))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
