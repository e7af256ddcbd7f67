"""Loops on threads: every row once, in order, in its own memory, and errors are raised."""

import threading
import time
from concurrent.futures import Future
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


@pytest.mark.parametrize("n_threads", [1, 2, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 30])
@pytest.mark.parametrize("n_slots", [1, 2, 5])
def test_prefetch_map_keeps_order_and_slots(
    monkeypatch: pytest.MonkeyPatch, n_threads: int, n: int, n_slots: int
) -> None:
    monkeypatch.setattr(threads, "count_threads", lambda: n_threads)
    slots = [None] * n_slots
    clashes = []

    def compute(number: Any) -> None:
        if slots[number % n_slots] is not None:
            clashes.append(number)
        time.sleep(0.0005 * (number % 3))  # some are late
        slots[number % n_slots] = number

    yielded: list[Any] = []
    for number in threads.prefetch_map(compute, n, n_slots):
        assert slots[number % n_slots] == number
        slots[number % n_slots] = None
        yielded.append(number)
    assert yielded == list(range(n))
    assert clashes == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_prefetch_map_raises_error_in_its_turn(
    monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    monkeypatch.setattr(threads, "count_threads", lambda: n_threads)

    def compute(number: Any) -> None:
        if number == 3:
            raise KeyError("three")

    yielded: list[Any] = []
    with pytest.raises(KeyError, match="three"):
        yielded.extend(threads.prefetch_map(compute, 10, 4))
    assert yielded == [0, 1, 2]


def test_prefetch_map_stops_with_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "count_threads", lambda: 2)
    computed: list[Any] = []
    ahead = threads.prefetch_map(computed.append, 100, 4)
    assert [next(ahead), next(ahead)] == [0, 1]
    ahead.close()  # type: ignore[attr-defined]
    n_computed = len(computed)
    time.sleep(0.01)
    assert len(computed) == n_computed <= 5


def test_prefetch_map_works_without_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoHelpers:
        def submit(self, *_: Any) -> Any:
            return Future()  # which never runs

    monkeypatch.setattr(threads, "count_threads", lambda: 2)
    monkeypatch.setattr(threads, "_get_pool", lambda *_: NoHelpers())
    computed: list[Any] = []
    assert list(threads.prefetch_map(computed.append, 7, 3)) == list(range(7))
    assert computed == list(range(7))
