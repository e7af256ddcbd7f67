"""Write changes to the journal: requests that wait together share one commit."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from gradraker.live.journal.engines import is_out_of_space
from gradraker.live.journal.journal import Journal
from gradraker.live.journal.writing import Answer, Submission, append


class TooBusyError(Exception):
    """Too much waits already; the client should try again in ``seconds``."""

    def __init__(self, what: str, seconds: int = 1) -> None:
        super().__init__(what)
        self.seconds = seconds


class NotKeptError(Exception):
    """A change could not be written, so it was not acknowledged."""

    def __init__(self, problem: str, *, is_full: bool) -> None:
        super().__init__(problem)
        self.is_full = is_full


def make_future() -> "Future[Any]":
    """Return a future that a thread settles, whether or not somebody still waits for it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


@dataclass(frozen=True)
class _Waiting:
    submission: Submission
    future: "Future[Answer]" = field(default_factory=make_future)


class Writer:
    """A thread that writes; ``on_written`` is called after each commit."""

    # One commit holds at most so many changes, so that a large batch does not delay small ones.
    _MOST_CHANGES = 20_000

    def __init__(
        self, journal: Journal, *, most_waiting: int, on_written: Callable[[Sequence[Answer]], None]
    ) -> None:
        self._journal = journal
        self._on_written = on_written
        self._waiting: queue.Queue[_Waiting | None] = queue.Queue(most_waiting)
        self._thread = threading.Thread(target=self._run, name="gradraker-writer", daemon=True)
        self.is_full = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, then end the thread."""
        self._waiting.put(None)
        self._thread.join()

    async def write(self, submission: Submission) -> Answer:
        """Return when the changes are on disk, or were refused."""
        waiting = _Waiting(submission)
        try:
            self._waiting.put_nowait(waiting)
        except queue.Full:
            raise TooBusyError("too many requests wait for the journal") from None
        return await asyncio.wrap_future(waiting.future)

    def _run(self) -> None:
        is_open = True
        while is_open:
            taken: list[_Waiting] = []
            n_changes = 0
            first = self._waiting.get()
            while first is not None:
                taken.append(first)
                n_changes += len(first.submission.changes)
                if n_changes >= self._MOST_CHANGES or self._waiting.empty():
                    break
                first = self._waiting.get()
            is_open = first is not None
            if taken:
                self._write(taken)

    def _write(self, taken: Sequence[_Waiting]) -> None:
        try:
            answers = append(self._journal, [one.submission for one in taken])
        except Exception as error:
            self.is_full = is_out_of_space(error)
            found = _describe(error, is_full=self.is_full)
            for one in taken:
                one.future.set_exception(found)
            return
        self.is_full = False
        for one, answer in zip(taken, answers, strict=True):
            one.future.set_result(answer)
        self._on_written(answers)


def _describe(error: Exception, *, is_full: bool) -> Exception:
    if is_full:
        return NotKeptError("the disk of the journal is full", is_full=True)
    if isinstance(error, DBAPIError | PoolTimeoutError):
        return NotKeptError("the journal cannot be reached", is_full=False)
    return error
