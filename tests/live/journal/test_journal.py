"""The journal in SQLite and in PostgreSQL: the same guarantees with the same code."""

import itertools
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gradraker.exceptions import JournalError
from gradraker.live.journal.changes import Change, compute_effect
from gradraker.live.journal.journal import Batch, Journal, Snapshot
from gradraker.live.journal.lease import Lease
from gradraker.live.journal.validation import (
    Validation,
    has_outcome,
    read_validations,
    record_outcome,
    summarize_errors,
)
from gradraker.live.journal.writing import KeyConflict, Receipt, Submission, UnknownNode, append

FACTS = {"values": "numbers", "edges": "directed", "names": "text"}
_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: Any, tmp_path: Any) -> Any:
    if request.param == "sqlite":
        return str(tmp_path / "live.db")
    return request.getfixturevalue("postgres").make_database(f"journal{next(_numbers)}")


# Tests that wait for a time to pass.
TIMED = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True
)


@pytest.fixture
def journal(url: Any) -> Any:
    opened = Journal.open(url)
    assert opened.is_new()
    assert opened.create(b"model", ["a", "b"], FACTS)
    yield opened
    opened.close()


def put(node: Any, value: Any, key: Any = None) -> Any:
    return Submission((Change("put_value", node, value=value),), key)


def test_new_journal_holds_its_model_and_facts(journal: Any, url: Any) -> None:
    assert not journal.is_new()
    assert journal.read_facts() == FACTS | {"format": "1"}
    assert journal.read_snapshot() == Snapshot(0, 0, b"model")
    assert not journal.create(b"other", [], FACTS)
    again = Journal.open(url)
    assert not again.is_new()
    assert again.read_snapshot().model == b"model"
    again.close()


def test_changes_are_numbered_without_gaps(journal: Any) -> None:
    answers = append(journal, [put("a", 1.0), put("b", "red"), put("a", 2)])
    assert answers == [Receipt(1, 1), Receipt(2, 2), Receipt(3, 3)]
    found = journal.read_changes(0, limit=10)
    assert [(one.seq, one.change.node, one.change.value) for one in found] == [
        (1, "a", 1.0),
        (2, "b", "red"),
        (3, "a", 2),
    ]
    assert journal.get_last_seq() == 3
    assert [one.seq for one in journal.read_changes(1, upto=2, limit=10)] == [2]
    assert [one.seq for one in journal.read_history("a", before=None, limit=10)] == [3, 1]
    assert [one.seq for one in journal.read_history("a", before=3, limit=10)] == [1]


def test_submission_with_an_unknown_node_writes_nothing(journal: Any) -> None:
    edge = Change("put_edge", "c", "a", 1.0)
    wrong = Submission((edge, Change("put_value", "nobody", value=1.0)))
    assert append(journal, [wrong, put("c", 1.0)]) == [
        UnknownNode(1, "nobody"),
        UnknownNode(0, "c"),
    ]
    assert journal.get_last_seq() == 0
    right = Submission((edge, Change("put_value", "c", value=1.0)))
    assert append(journal, [right, put("c", 2.0)]) == [Receipt(1, 2), Receipt(3, 3)]
    gone = Submission((Change("remove_node", "c"),))
    assert append(journal, [gone, put("c", 2.0)]) == [Receipt(4, 4), UnknownNode(0, "c")]
    assert append(journal, [put("c", 2.0)]) == [UnknownNode(0, "c")]
    assert append(journal, [Submission((edge,)), put("c", 2.0)])[1] == Receipt(6, 6)


def test_requests_with_the_same_key_count_once(journal: Any) -> None:
    first, again = append(journal, [put("a", 1.0, "k"), put("a", 1.0, "k")])
    assert (first, again) == (Receipt(1, 1), Receipt(1, 1, is_repeat=True))
    assert append(journal, [put("a", 1.0, "k")]) == [Receipt(1, 1, is_repeat=True)]
    assert append(journal, [put("a", 2.0, "k")]) == [KeyConflict("k")]
    assert journal.get_last_seq() == 1


def test_writers_of_several_processes_get_different_numbers(journal: Any, url: Any) -> None:
    errors = []

    def write(number: Any) -> Any:
        try:
            own = Journal.open(url)
            for i in range(20):
                append(own, [put("a", float(i), f"{number}-{i}")])
            own.close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        found = journal.read_changes(seen, limit=1000)
        # Whoever sees a number has seen all before it.
        assert [one.seq for one in found] == list(range(seen + 1, seen + 1 + len(found)))
        seen += len(found)
    for thread in threads:
        thread.join()
    assert not errors
    assert journal.get_last_seq() == 80


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


def test_snapshots_are_pruned_and_damaged_ones_skipped(journal: Any, url: Any) -> None:
    for number in range(1, 5):
        journal.write_snapshot(Snapshot(number, 10 * number, b"model %d" % number))
    journal.write_snapshot(Snapshot(4, 40, b"another"))
    assert journal.read_snapshot() == Snapshot(4, 40, b"model 4")
    if "://" not in url:
        with sqlite3.connect(url) as database:
            kept = database.execute("SELECT batch FROM snapshot ORDER BY batch").fetchall()
            assert kept == [(0,), (3,), (4,)]
            database.execute("UPDATE snapshot SET model = x'00' WHERE batch = 4")
        database.close()
        assert journal.read_snapshot() == Snapshot(3, 30, b"model 3")


def test_outcomes_are_written_once(journal: Any) -> None:
    append(journal, [put("a", 1.0), put("b", 2.0), put("a", 3.0)])
    batch = Batch(1, 1, 3)
    assert not has_outcome(journal, batch)
    found = [
        Validation(1, "a", 1.0, 1.5, True, 0.5, 1.0),
        Validation(3, "a", 3.0, 1.0, False, -2.0, 1.0),
    ]
    for _ in range(2):
        record_outcome(journal, found, {2: "refused"})
    assert has_outcome(journal, batch)
    assert read_validations(journal, last=10) == found[::-1]
    assert journal.read_refusals(batch) == {2: "refused"}
    assert len(journal.read_refusals(Batch(1, 1, 2**62))) == 1
    errors = summarize_errors(journal, last=10, is_label=False)
    assert (errors["n"], errors["rmse"], errors["rmse_of_mean"]) == (1, 0.5, 1.0)
    labels = summarize_errors(journal, last=10, is_label=True)
    assert labels["accuracy"] == 0.75


def test_other_files_are_refused(tmp_path: Any) -> None:
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(JournalError, match="is not a journal: file is not a database"):
        Journal.open(str(text))
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")
    database.close()
    with pytest.raises(JournalError, match="is a database of another program"):
        Journal.open(str(other))
    with pytest.raises(JournalError, match="is in a folder that does not exist"):
        Journal.open(str(tmp_path / "nothing" / "live.db"))
    for url in ("mysql://u:secret@h/d", "nonsense://u:secret@h", "postgresql://u:secret@:x/"):
        with pytest.raises(JournalError) as caught:
            Journal.open(url)
        assert "secret" not in str(caught.value)
    with pytest.raises(JournalError, match="cannot be opened") as caught:
        Journal.open("postgresql://user:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_only_its_user_can_read_the_file(journal: Any, url: Any) -> None:
    append(journal, [put("a", 1.0)])
    files = list(Path(url).parent.glob("live.db*"))
    assert len(files) == 3  # the log beside it
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_newer_format_is_refused(journal: Any, url: Any) -> None:
    with sqlite3.connect(url) as database:
        database.execute("UPDATE fact SET text = '2' WHERE name = 'format'")
    database.close()
    with pytest.raises(JournalError, match="has format '2', and this version reads '1'"):
        journal.read_facts()


def test_compute_effect_combines_changes() -> None:
    effect = compute_effect(
        [
            Change("put_edge", "a", "b", 1.0),
            Change("put_edge", "a", "b", 2.0),
            Change("put_edge", "c", "a", 1.0),
            Change("put_value", "a", value=1.0),
            Change("remove_value", "b"),
            Change("put_value", "b", value=2.0),
            Change("put_attributes", "a", value={"x": 1}),
            Change("remove_node", "c"),
            Change("remove_edge", "a", "d"),
        ]
    )
    assert effect.edges == {("a", "b"): 2.0}
    assert effect.values == {"a": 1.0, "b": 2.0}
    assert list(effect.nodes) == ["a", "b"]
    assert list(effect.forgotten_nodes) == ["c"]
    assert list(effect.forgotten_edges) == [("a", "d")]
    assert not effect.forgotten_values
    twice = [Change("put_value", "a", value=1), Change("put_value", "a", value=2)]
    assert compute_effect(twice).values == {"a": 2}
    again = compute_effect([Change("remove_node", "c"), Change("put_edge", "c", "a", 1.0)])
    assert list(again.forgotten_nodes) == ["c"]  # its old edges and value are gone
    assert again.edges == {("c", "a"): 1.0}
