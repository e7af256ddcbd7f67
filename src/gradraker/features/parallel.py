"""Spread compiled loops over a few threads."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from queue import Empty, SimpleQueue

from numba import config

# Blocks a thread: on a busy machine a thread that comes late finds less left to do.
_BLOCKS_A_THREAD = 4
# A helper that gets nothing to do for so many seconds goes; the work is then done without it.
_PATIENCE = 1.0


def count_threads() -> int:
    """Return how many threads to use: what the machine grants, at most NUMBA_NUM_THREADS.

    joblib's worker processes set NUMBA_NUM_THREADS to their share of the cores.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(granted or 1, int(config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def _helpers(process: int) -> ThreadPoolExecutor:
    # Kept, since starting a thread takes 0.1 ms, and milliseconds on a busy machine; for one
    # process, since threads do not survive a fork. Threads start only when there is work.
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="gradraker")


def parallel_for(loop: Callable[[int, int], None], n_rows: int, rows_per_block: int) -> None:
    """Call ``loop(start, stop)`` on contiguous blocks that make up [0, n_rows).

    A block has at least ``rows_per_block`` rows, so that little work stays on this thread.
    The loop must release the lock, and must compute each row on its own.
    """
    n_blocks = n_rows // max(1, rows_per_block)
    n_parts = min(count_threads(), n_blocks)
    if n_parts <= 1:
        loop(0, n_rows)
        return
    n_blocks = min(n_blocks, _BLOCKS_A_THREAD * n_parts)
    cuts = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    blocks = deque(pairwise(cuts))

    def work() -> None:
        while blocks:
            try:
                start, stop = blocks.popleft()
            except IndexError:  # another thread took the last one
                return
            loop(start, stop)

    pool = _helpers(os.getpid())
    helpers = [pool.submit(work) for _ in range(n_parts - 1)]
    try:
        work()
    finally:
        blocks.clear()  # after an error nobody goes on
        for helper in helpers:
            if not helper.cancel():  # it has begun, so a block of it may not be ready
                helper.result()


def prefetch_map(compute: Callable[[int], None], n: int, n_slots: int) -> Iterator[int]:
    """Yield 0, …, n − 1 in order, each after ``compute`` of it, while helpers compute the next.

    Number i is computed after i − n_slots was used, so that it may take the same memory. No
    thread rests while there is something to compute, this one neither: that makes it a
    fifth faster than :func:`parallel_for` on one chunk after the other.
    """
    todo: SimpleQueue[tuple[int, Future[None]] | None] = SimpleQueue()
    waiting: deque[Future[None]] = deque()

    def enter(number: int) -> None:
        waiting.append(Future())
        todo.put((number, waiting[-1]))

    def run(number: int, future: Future[None]) -> None:
        try:
            compute(number)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)

    def help_along() -> None:
        with suppress(Empty):
            while (task := todo.get(timeout=_PATIENCE)) is not None:
                run(*task)

    for number in range(min(n, n_slots)):
        enter(number)
    pool = _helpers(os.getpid())
    helpers = [pool.submit(help_along) for _ in range(min(count_threads(), n) - 1)]
    try:
        for number in range(n):
            future = waiting.popleft()
            with suppress(Empty):
                while not future.done() and (task := todo.get_nowait()) is not None:
                    run(*task)
            future.result()
            yield number
            if number + n_slots < n:
                enter(number + n_slots)
    finally:
        with suppress(Empty):
            while True:
                todo.get_nowait()
        for _ in helpers:
            todo.put(None)
        for helper in helpers:
            if not helper.cancel():
                helper.result()
