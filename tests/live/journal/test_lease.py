"""The lease: one process holds it, and another takes it over when the first has ended."""

import threading
import time
from typing import Any

import pytest

from gradraker.live.journal.journal import Batch, Journal
from gradraker.live.journal.lease import Lease
from gradraker.live.journal.writing import append
from journal_examples import put

# Tests that wait for a time to pass.
TIMED = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)


@TIMED
def test_lease_is_held_by_one_and_taken_when_it_expires(journal: Any, url: Any) -> None:
    other = Journal.open(url)
    first, second = Lease(journal, seconds=1.5), Lease(other, seconds=1.5)
    assert first.acquire()
    assert not second.acquire()
    assert first.acquire()
    time.sleep(1.7)
    assert second.acquire()
    assert second.epoch == first.epoch + 1
    # The first one slept: it may not decide anything more.
    append(journal, [put("a", 1.0)])
    batch = Batch(1, 1, 1)
    assert not journal.record_batch(batch, holder=first.holder, epoch=first.epoch)
    assert other.record_batch(batch, holder=second.holder, epoch=second.epoch)
    assert not other.record_batch(batch, holder=second.holder, epoch=second.epoch)
    assert journal.read_batches(0) == [batch]
    second.release()
    first.epoch = 0
    assert first.acquire()
    other.close()


@TIMED
def test_lease_is_renewed_while_the_process_is_busy(journal: Any, url: Any) -> None:
    other = Journal.open(url)
    # It may come 1.3 s late to renew it: on a busy machine threads wait.
    lease, rival = Lease(journal, seconds=2.0), Lease(other, seconds=2.0)
    assert lease.acquire()
    lease.keep()
    ends = time.monotonic() + 2.5
    while time.monotonic() < ends:
        assert not rival.acquire()
        time.sleep(0.05)
    lease.release()
    assert rival.acquire()
    other.close()


class LateLock:
    """A lock that the thread which renews a lease comes to late: after ``go`` is set."""

    def __init__(self) -> None:
        self.came, self.go, self.left = threading.Event(), threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if threading.current_thread().name == "gradraker-lease":
            self.came.set()
            assert self.go.wait(60.0)
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()
        if threading.current_thread().name == "gradraker-lease":
            self.left.set()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_released_lease_is_not_taken_again_by_a_late_renewal(
    journal: Any, monkeypatch: Any
) -> None:
    lease, rival = Lease(journal, seconds=0.3), Lease(journal, seconds=60.0)
    lock = LateLock()
    monkeypatch.setattr(lease, "_lock", lock)
    assert lease.acquire()
    lease.keep()
    assert lock.came.wait(60.0)
    lease.release()
    lock.go.set()
    assert lock.left.wait(60.0)
    assert not lease.is_held
    assert rival.acquire()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_lease_of_a_dead_process_is_taken_at_once(journal: Any) -> None:
    lease, dead = Lease(journal, seconds=60.0), Lease(journal, seconds=60.0)
    host = dead.holder.partition(":")[0]
    dead.holder = f"{host}:{2**22 + 1}:gone"  # no process has this number
    assert dead.acquire()
    assert lease.acquire()
