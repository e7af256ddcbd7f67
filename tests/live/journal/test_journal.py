"""The journal in SQLite and in PostgreSQL: the same guarantees with the same code."""

import sqlite3
from typing import Any

import pytest

from gradraker.exceptions import JournalError
from gradraker.live.journal.journal import Journal, Snapshot
from journal_examples import FACTS


def test_new_journal_holds_its_model_and_facts(journal: Any, url: Any) -> None:
    assert not journal.is_new()
    assert journal.read_facts() == FACTS | {"format": "1"}
    assert journal.read_snapshot() == Snapshot(0, 0, b"model")
    assert not journal.create(b"other", [], FACTS)
    again = Journal.open(url)
    assert not again.is_new()
    assert again.read_snapshot().model == b"model"
    again.close()


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


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_newer_format_is_refused(journal: Any, url: Any) -> None:
    with sqlite3.connect(url) as database:
        database.execute("UPDATE fact SET text = '2' WHERE name = 'format'")
    database.close()
    with pytest.raises(JournalError, match="has format '2', and this version reads '1'"):
        journal.read_facts()
