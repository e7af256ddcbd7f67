"""Loops on threads: every row once, and errors are raised."""

import threading
from typing import Any

import numpy as np
import pytest

from gradraker.features import engine as threads


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n_rows", [0, 1, 2, 5, 100])
@pytest.mark.parametrize("rows_per_block", [0, 1, 3, 1000])
def test_parallel_for_visits_each_row_once(
    monkeypatch: pytest.MonkeyPatch, n_threads: int, n_rows: int, rows_per_block: int
) -> None:
    monkeypatch.setattr(threads, "count_threads", lambda: n_threads)
    visits, sizes, used = np.zeros(n_rows, dtype=int), [], set()

    def loop(start: Any, stop: Any) -> None:
        visits[start:stop] += 1
        sizes.append(stop - start)
        used.add(threading.get_ident())

    threads.parallel_for(loop, n_rows, rows_per_block)
    assert (visits == 1).all()
    assert len(sizes) == 1 or min(sizes) >= max(1, rows_per_block)
    assert len(used) <= n_threads
    if n_threads == 1:
        assert used == {threading.get_ident()}


def test_parallel_for_raises_error_of_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_threads", lambda: 2)
    this, begun = threading.get_ident(), threading.Event()

    def loop(start: Any, stop: Any) -> None:
        if threading.get_ident() == this:
            begun.wait(10)  # until the other thread has a part as well
        else:
            begun.set()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.parallel_for(loop, 10, 1)


def test_count_threads_respects_limit_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", 1)  # type: ignore[attr-defined]
    assert threads.count_threads() == 1
    monkeypatch.setattr(threads.config, "NUMBA_NUM_THREADS", 10**6)  # type: ignore[attr-defined]
    assert 1 <= threads.count_threads() < 10**6
