"""Spread a compiled loop over rows on short-lived threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from numba import config


def n_threads() -> int:
    """Return how many threads to use: what the machine grants, at most NUMBA_NUM_THREADS.

    joblib's worker processes set NUMBA_NUM_THREADS to their share of the cores.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(granted or 1, int(config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]


def over_rows(loop: Callable[[int, int], None], n_rows: int, rows_a_thread: int) -> None:
    """Call ``loop(start, stop)`` on contiguous parts of [0, n_rows).

    A thread gets at least ``rows_a_thread`` rows, so that little work stays on this thread.
    The loop must release the lock, and must compute each row on its own.
    """
    n_parts = min(n_threads(), n_rows // max(1, rows_a_thread))
    if n_parts <= 1:
        loop(0, n_rows)
        return
    cuts = [n_rows * part // n_parts for part in range(n_parts + 1)]
    # A pool of its own each time: threads do not survive a fork, and starting them takes 0.1 ms.
    with ThreadPoolExecutor(n_parts - 1) as pool:
        others = [pool.submit(loop, cuts[p], cuts[p + 1]) for p in range(1, n_parts)]
        loop(cuts[0], cuts[1])
        for other in others:
            other.result()
