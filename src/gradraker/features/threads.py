"""Spread a compiled loop over rows on a few threads."""

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise

from numba import config

# Blocks a thread: on a busy machine a thread that comes late finds less left to do.
_BLOCKS_A_THREAD = 4


def n_threads() -> int:
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


def over_rows(loop: Callable[[int, int], None], n_rows: int, rows_a_block: int) -> None:
    """Call ``loop(start, stop)`` on contiguous blocks that make up [0, n_rows).

    A block has at least ``rows_a_block`` rows, so that little work stays on this thread.
    The loop must release the lock, and must compute each row on its own.
    """
    n_blocks = n_rows // max(1, rows_a_block)
    n_parts = min(n_threads(), n_blocks)
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
