"""Pieces computed ahead: in order, in their own memory, and errors are raised in their turn."""

import time
from concurrent.futures import Future
from typing import Any

import pytest

from gradraker.features import prefetching
from gradraker.features.prefetching import prefetch_map


@pytest.mark.parametrize("n_threads", [1, 2, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 30])
@pytest.mark.parametrize("n_slots", [1, 2, 5])
def test_prefetch_map_keeps_order_and_slots(
    monkeypatch: pytest.MonkeyPatch, n_threads: int, n: int, n_slots: int
) -> None:
    monkeypatch.setattr(prefetching, "count_threads", lambda: n_threads)
    slots = [None] * n_slots
    clashes = []

    def compute(number: Any) -> None:
        if slots[number % n_slots] is not None:
            clashes.append(number)
        time.sleep(0.0005 * (number % 3))  # some are late
        slots[number % n_slots] = number

    yielded: list[Any] = []
    for number in prefetch_map(compute, n, n_slots):
        assert slots[number % n_slots] == number
        slots[number % n_slots] = None
        yielded.append(number)
    assert yielded == list(range(n))
    assert clashes == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_prefetch_map_raises_error_in_its_turn(
    monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    monkeypatch.setattr(prefetching, "count_threads", lambda: n_threads)

    def compute(number: Any) -> None:
        if number == 3:
            raise KeyError("three")

    yielded: list[Any] = []
    with pytest.raises(KeyError, match="three"):
        yielded.extend(prefetch_map(compute, 10, 4))
    assert yielded == [0, 1, 2]


def test_prefetch_map_stops_with_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetching, "count_threads", lambda: 2)
    computed: list[Any] = []
    ahead = prefetch_map(computed.append, 100, 4)
    assert [next(ahead), next(ahead)] == [0, 1]
    ahead.close()  # type: ignore[attr-defined]
    n_computed = len(computed)
    time.sleep(0.01)
    assert len(computed) == n_computed <= 5


def test_prefetch_map_works_without_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoHelpers:
        def submit(self, *_: Any) -> Any:
            return Future()  # which never runs

    monkeypatch.setattr(prefetching, "count_threads", lambda: 2)
    monkeypatch.setattr(prefetching, "get_pool", lambda *_: NoHelpers())
    computed: list[Any] = []
    assert list(prefetch_map(computed.append, 7, 3)) == list(range(7))
    assert computed == list(range(7))
