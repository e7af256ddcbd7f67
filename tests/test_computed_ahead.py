"""Work computed ahead by helpers comes in order, in its own memory, and errors come through."""

import time

import pytest

from gradraker.features import parallel as threads


@pytest.mark.parametrize("n_threads", [1, 2, 8])
@pytest.mark.parametrize("n", [0, 1, 2, 30])
@pytest.mark.parametrize("n_slots", [1, 2, 5])
def test_numbers_come_in_order_and_slots_are_not_overwritten(monkeypatch, n_threads, n, n_slots):
    monkeypatch.setattr(threads, "n_threads", lambda: n_threads)
    slots = [None] * n_slots
    clashes = []

    def compute(number):
        if slots[number % n_slots] is not None:
            clashes.append(number)
        time.sleep(0.0005 * (number % 3))  # some are late
        slots[number % n_slots] = number

    seen = []
    for number in threads.computed_ahead(compute, n, n_slots):
        assert slots[number % n_slots] == number
        slots[number % n_slots] = None
        seen.append(number)
    assert seen == list(range(n))
    assert clashes == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_is_raised_in_its_turn(monkeypatch, n_threads):
    monkeypatch.setattr(threads, "n_threads", lambda: n_threads)

    def compute(number):
        if number == 3:
            raise KeyError("three")

    seen = []
    with pytest.raises(KeyError, match="three"):
        seen.extend(threads.computed_ahead(compute, 10, 4))
    assert seen == [0, 1, 2]


def test_nothing_is_computed_after_the_caller_stops(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    computed = []
    ahead = threads.computed_ahead(computed.append, 100, 4)
    assert [next(ahead), next(ahead)] == [0, 1]
    ahead.close()
    n_computed = len(computed)
    time.sleep(0.01)
    assert len(computed) == n_computed <= 5


def test_work_is_done_without_helpers_that_never_come(monkeypatch):
    class NoHelper:
        def submit(self, _):
            return self

        def cancel(self):
            return True

    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    monkeypatch.setattr(threads, "_helpers", lambda process: NoHelper())
    computed = []
    assert list(threads.computed_ahead(computed.append, 7, 3)) == list(range(7))
    assert computed == list(range(7))
