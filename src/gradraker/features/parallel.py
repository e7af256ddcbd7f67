"""How long work is done: rows in blocks on a few threads, pieces on a cluster, and who watches.

``partial_fit`` of 10 000 nodes (those of ``benchmarks/bench_online.py``), against the 354 ms of a
NumPy loop; medians of 25 turns on 2 cores, with nothing else running:

========================================================= ===== ===
features and training in turn, on one thread              41 ms  9×
:func:`parallel_for` on each chunk of features            31 ms 11×
:func:`prefetch_map`: next chunks while training goes on  22 ms 16×
========================================================= ===== ===
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from typing import Any

from numba import config
from threadpoolctl import ThreadpoolController

# On a busy machine, where a thread may come late, short blocks share the work evenly.
_BLOCKS_PER_THREAD = 4
# Linear algebra on matrices with fewer rows takes less time than setting its threads does; with
# more rows it is worth several threads, even if these wait for each other.
_SMALL, _LARGE = 128, 4000
# What a piece needs beside itself is shared by all pieces.
Task = Callable[[Any, Any], Any]
Mapper = Callable[[Task, Any, Sequence[Any]], list[Any]]
_MAPPER: ContextVar[Mapper | None] = ContextVar("mapper", default=None)
# Stage, how much is done, and of how much.
Watcher = Callable[[str, int, int], object]
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def count_threads() -> int:
    """Return how many threads to use: as many as there are cores, at most NUMBA_NUM_THREADS.

    joblib's worker processes set NUMBA_NUM_THREADS to their share of the cores.
    """
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(granted or 1, int(config.NUMBA_NUM_THREADS)))  # type: ignore[attr-defined]


@lru_cache(maxsize=1)
def _get_pool(process: int, n_helpers: int) -> ThreadPoolExecutor:
    # Kept, because starting a thread takes 0.1 ms, and milliseconds on a busy machine; for one
    # process, because threads do not survive a fork. Threads start when there is work.
    return ThreadPoolExecutor(n_helpers, thread_name_prefix="gradraker")


def parallel_for(loop: Callable[[int, int], None], n_rows: int, rows_per_block: int) -> None:
    """Call ``loop(start, stop)`` on contiguous blocks that make up [0, n_rows).

    A block has at least ``rows_per_block`` rows, so little work stays on this thread. The loop
    must release the lock, and must compute each row independently of the others.
    """
    n_blocks = n_rows // max(1, rows_per_block)
    n_threads = count_threads() if n_blocks > 1 else 1
    n_parts = min(n_threads, n_blocks)
    if n_parts <= 1:
        loop(0, n_rows)
        return
    n_blocks = min(n_blocks, _BLOCKS_PER_THREAD * n_parts)
    cuts = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    blocks = deque(pairwise(cuts))

    def work() -> None:
        while blocks:
            try:
                start, stop = blocks.popleft()
            except IndexError:  # another thread took the last one
                return
            loop(start, stop)

    pool = _get_pool(os.getpid(), n_threads - 1)
    helpers = [pool.submit(work) for _ in range(n_parts - 1)]
    try:
        work()
    finally:
        blocks.clear()  # after an error all threads stop
        for helper in helpers:
            if not helper.cancel():  # it has begun, so one of its blocks may not be ready
                helper.result()


def split_range(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most ``size`` that make up [0, n).

    Examples
    --------
    >>> from gradraker.features.parallel import split_range
    >>> list(split_range(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def prefetch_map(compute: Callable[[int], None], n: int, n_slots: int) -> Iterator[int]:
    """Yield 0, …, n − 1, each after ``compute`` of it, while helpers compute the next ones.

    Number i is computed after the caller is done with i − n_slots, so both may use the same
    memory. While this thread waits for a number, it computes later ones that no helper has begun.
    """
    if count_threads() == 1:
        for number in range(n):
            compute(number)
            yield number
        return
    pool = _get_pool(os.getpid(), count_threads() - 1)
    futures = {number: pool.submit(compute, number) for number in range(min(n, n_slots))}
    try:
        for number in range(n):
            for later in range(number, min(n, number + n_slots)):
                if futures[number].done():
                    break
                if futures[later].cancel():
                    futures[later] = _run_now(compute, later)
            futures.pop(number).result()
            yield number
            if number + n_slots < n:
                futures[number + n_slots] = pool.submit(compute, number + n_slots)
    finally:
        for future in futures.values():
            if not future.cancel():
                future.exception()  # waits until it is done


def _run_now(compute: Callable[[int], None], number: int) -> Future[None]:
    """Compute a number on this thread; its error is raised when its turn comes."""
    future: Future[None] = Future()
    try:
        compute(number)
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(None)
    return future


def use_one_blas_thread(n_rows: int | None = None) -> AbstractContextManager[Any]:
    """Use one BLAS thread in a ``with`` block: for small matrices, or always without ``n_rows``.

    A decomposition is thousands of short products, and the threads of BLAS wait for each other
    after each one: where another process has a core, up to thirty times as long as they work.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.parallel import use_one_blas_thread
    >>> with use_one_blas_thread(500):
    ...     np.linalg.inv(2.0 * np.eye(500))[0, 0].item()
    0.5
    """
    if n_rows is not None and not _SMALL <= n_rows <= _LARGE:
        return nullcontext()
    return _find_libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _find_libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes some ten milliseconds


@contextmanager
def use_mapper(mapper: Mapper) -> Iterator[None]:
    """Give pieces of fits in a ``with`` block to ``mapper``, which returns results in order."""
    token = _MAPPER.set(mapper)
    try:
        yield
    finally:
        _MAPPER.reset(token)


def is_spread() -> bool:
    """Whether pieces go elsewhere, so that it pays to try more of them at once."""
    return _MAPPER.get() is not None


def map_pieces(task: Task, shared: Any, pieces: Sequence[Any]) -> list[Any]:
    """Return ``task(shared, piece)`` of each piece; several may be done elsewhere.

    Examples
    --------
    >>> from gradraker.features.parallel import map_pieces
    >>> map_pieces(lambda shared, piece: shared * piece, 10, [1, 2])
    [10, 20]
    """
    mapper = _MAPPER.get()
    if mapper is None or len(pieces) < 2:
        return [task(shared, piece) for piece in pieces]
    return mapper(task, shared, pieces)


@contextmanager
def watch_progress(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher(stage, done, total)`` while long work goes on in this context.

    Node models tell the stages of a fit: kernels that are compared, known nodes that are walked
    from, the residual of a solve. What the watcher raises stops the work, and the model stays as
    it was.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import watch_progress
    >>> data = load_temperature()
    >>> stages = set()
    >>> with watch_progress(lambda stage, done, total: stages.add(stage)):
    ...     model = NodeRegressor(solver="operators").fit(data, data.values)
    >>> sorted(stages)
    ['choosing a kernel', 'solving', 'walking from known nodes']
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell_progress(stage: str, done: int, total: int) -> None:
    """Tell the watcher, if there is one."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, done, total)
