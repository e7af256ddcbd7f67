"""Journals in SQLite and in PostgreSQL."""

import itertools
from typing import Any

import pytest

from gradraker.live.journal.journal import Journal
from journal_examples import FACTS

_numbers = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: Any, tmp_path: Any) -> Any:
    if request.param == "sqlite":
        return str(tmp_path / "live.db")
    return request.getfixturevalue("postgres").make_database(f"journal{next(_numbers)}")


@pytest.fixture
def journal(url: Any) -> Any:
    opened = Journal.open(url)
    assert opened.is_new()
    assert opened.create(b"model", ["a", "b"], FACTS)
    yield opened
    opened.close()
