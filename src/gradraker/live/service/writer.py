"""Write changes to the journal: waiting requests share one commit."""

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
    """Too much is waiting already; the client should retry after ``seconds``."""

    def __init__(self, problem: str, seconds: int = 1) -> None:
        super().__init__(problem)
        self.seconds = seconds


class NotKeptError(Exception):
    """A change could not be written, so it was not acknowledged."""

    def __init__(self, problem: str, *, is_full: bool) -> None:
        super().__init__(problem)
        self.is_full = is_full


def make_future() -> "Future[Any]":
    """Return a future that a thread can always resolve, even if its caller is gone."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


@dataclass(frozen=True)
class _Job:
    submission: Submission
    future: "Future[Answer]" = field(default_factory=make_future)


class Writer:
    """A thread that writes; ``on_written`` is called after each commit."""

    # Limit of changes per commit, so that a large batch does not delay small ones.
    _MAX_CHANGES = 20_000

    def __init__(
        self, journal: Journal, *, max_waiting: int, on_written: Callable[[Sequence[Answer]], None]
    ) -> None:
        self._journal = journal
        self._on_written = on_written
        self._jobs: queue.Queue[_Job | None] = queue.Queue(max_waiting)
        self._thread = threading.Thread(target=self._run, name="gradraker-writer", daemon=True)
        self.is_full = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write the waiting changes, then end the thread."""
        self._jobs.put(None)
        self._thread.join()

    async def write(self, submission: Submission) -> Answer:
        """Return when the changes are on disk, or were refused."""
        job = _Job(submission)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise TooBusyError("too many requests wait for the journal") from None
        return await asyncio.wrap_future(job.future)

    def _run(self) -> None:
        is_open = True
        while is_open:
            taken: list[_Job] = []
            n_changes = 0
            job = self._jobs.get()
            while job is not None:
                taken.append(job)
                n_changes += len(job.submission.changes)
                if n_changes >= self._MAX_CHANGES or self._jobs.empty():
                    break
                job = self._jobs.get()
            is_open = job is not None
            if taken:
                self._write(taken)

    def _write(self, taken: Sequence[_Job]) -> None:
        try:
            answers = append(self._journal, [job.submission for job in taken])
        except Exception as error:
            self.is_full = is_out_of_space(error)
            problem = _describe(error, is_full=self.is_full)
            for job in taken:
                job.future.set_exception(problem)
            return
        self.is_full = False
        for job, answer in zip(taken, answers, strict=True):
            job.future.set_result(answer)
        self._on_written(answers)


def _describe(error: Exception, *, is_full: bool) -> Exception:
    if is_full:
        return NotKeptError("the disk of the journal is full", is_full=True)
    if isinstance(error, DBAPIError | PoolTimeoutError):
        return NotKeptError("the journal cannot be reached", is_full=False)
    return error
