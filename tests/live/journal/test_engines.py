"""Files of journals: other databases are refused, and new files are private."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gradraker.exceptions import JournalError
from gradraker.live.journal.journal import Journal
from gradraker.live.journal.writing import append
from journal_examples import put


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
