"""Thousands of small attempts in few processes; one that ends a process is found and counted."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torture.attempts import Budget, Counts, make_folder, start_child, wait_for_child

# Attempts that a process makes before the next one; long enough that starting costs little.
_BATCH = 2000
_N_PROCESSES = 2
_SECONDS = 10


class TooSlowError(Exception):
    """An attempt took longer than it may."""


# Makes attempts in a folder: called with a number, returns what failed, or None, and a word for
# the outcome.
Attempt = Callable[[int], tuple[str | None, str]]


def try_many(budget: Budget, prepare: Callable[[Path], Attempt], counts: Counts) -> dict[str, int]:
    """Make attempts until the budget is over; return how often each outcome came."""
    outcomes: dict[str, int] = {}
    end = time.monotonic() + budget.seconds
    numbers = _batches(budget.most)
    with make_folder() as folder:
        running: dict[int, tuple[Path, Path]] = {}
        while True:
            while len(running) < _N_PROCESSES and (time.monotonic() < end or not counts.tried):
                batch = next(numbers, None)
                if batch is None:
                    break
                _start(folder, prepare, batch, end, running)
            if not running:
                return outcomes
            _collect(running, counts, outcomes)


def _batches(most: int) -> Iterator[range]:
    for start in range(0, most, _BATCH):
        yield range(start, min(start + _BATCH, most))


def _start(folder: Any, prepare: Any, batch: range, end: float, running: Any) -> None:
    log = folder / f"log{batch.start}"
    work = folder / f"work{batch.start}"
    work.mkdir()

    def attempt_all() -> None:
        for late in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(late, _raise_too_slow)
        attempt = prepare(work)
        with log.open("a", encoding="utf-8", buffering=1) as file:
            for number in batch:
                if time.monotonic() > end and number > batch.start:
                    return
                file.write(f"{number}\n")
                # Time of the processor, since others may use it too; and a wait without end.
                signal.setitimer(signal.ITIMER_PROF, _SECONDS)
                signal.alarm(20 * _SECONDS)
                try:
                    failure, outcome = attempt(number)
                except TooSlowError:
                    failure, outcome = f"number {number} took more than {_SECONDS} s", "slow"
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.alarm(0)
                file.write(json.dumps([failure, outcome]) + "\n")

    child, errors = start_child(attempt_all)
    running[child] = errors, log


def _raise_too_slow(number: Any, frame: Any) -> None:
    raise TooSlowError


def _collect(running: Any, counts: Counts, outcomes: dict[str, int]) -> None:
    child = next(iter(running))
    errors, log = running.pop(child)
    # A process that hangs where Python cannot interrupt it is killed.
    ended = wait_for_child(child, errors, seconds=3600)
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    for line in lines[1::2]:
        failure, outcome = json.loads(line)
        counts.add(failure)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    if ended.code:
        at = lines[-1] if len(lines) % 2 else "none"
        counts.add(f"number {at} ended the process with {ended.code}: {ended.text}")
        outcomes["crash"] = outcomes.get("crash", 0) + 1
    if log.exists():
        os.unlink(log)
