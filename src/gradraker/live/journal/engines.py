"""Connections to SQLite and PostgreSQL, set so that a commit is on disk when it returns."""

import errno
import os
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, func, literal
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.sql.elements import ColumnElement

from gradraker.exceptions import JournalError

_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class Engines:
    """Two engines for one database: ``write`` takes the lock when a transaction begins."""

    write: Engine
    read: Engine
    name: str  # for messages, without a password
    file: Path | None = None  # of SQLite

    @property
    def is_sqlite(self) -> bool:
        """Whether the journal is a file of this machine."""
        return self.file is not None

    @property
    def is_missing(self) -> bool:
        """Whether the file does not exist yet; connecting would create it."""
        return self.file is not None and not self.file.exists()

    def make_file(self) -> None:
        """Create an empty file that only this user can read; SQLite's other files inherit that."""
        if self.file is not None:
            os.close(os.open(self.file, os.O_CREAT | os.O_RDWR, 0o600))

    def get_now(self) -> ColumnElement[Any]:
        """Return the time of the database server, since clocks of machines may differ."""
        if self.is_sqlite:
            return literal(time.time())
        return func.extract("epoch", func.clock_timestamp())

    def dispose(self) -> None:
        """Close all connections."""
        self.write.dispose()
        self.read.dispose()


def open_engines(journal: str) -> Engines:
    """Connect to a journal: the name of a file, or a ``postgresql://`` URL."""
    url = _parse(journal)
    name = url.render_as_string(hide_password=True)
    if url.drivername.startswith("postgresql"):
        options: dict[str, Any] = {
            "pool_pre_ping": True,
            "connect_args": {"connect_timeout": _TIMEOUT_SECONDS},
        }
        try:
            engine = create_engine(url, **options)
        except ImportError:
            raise ImportError(
                "a journal in PostgreSQL needs psycopg: pip install 'gradraker[serve]'"
            ) from None
        return Engines(engine, engine, name)
    path = Path(url.database or "")
    _check_file(path)
    write, read = (
        create_engine(url, connect_args={"timeout": _TIMEOUT_SECONDS, "check_same_thread": False})
        for _ in range(2)
    )
    for engine, begin in ((write, "BEGIN IMMEDIATE"), (read, "BEGIN")):
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", lambda c, begin=begin: c.exec_driver_sql(begin))
    return Engines(write, read, str(path), path)


def _check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before a model is trained for it."""
    folder = path.absolute().parent
    if not path.name:
        raise JournalError(str(path), "is not the name of a file")
    if not folder.is_dir():
        raise JournalError(str(path), "is in a folder that does not exist")
    if path.is_dir():
        raise JournalError(str(path), "is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise JournalError(str(path), "cannot be written")


def _parse(journal: str) -> URL:
    if "://" not in journal:
        return URL.create("sqlite", database=journal)
    try:
        url = make_url(journal)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise JournalError(_hide(journal), "is not a URL of a database") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise JournalError(_hide(journal), "must be a file or a postgresql:// URL")
    return url


def _hide(journal: str) -> str:
    """Return a URL without user and password."""
    scheme, _, rest = journal.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def _set_up_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy begins transactions
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")  # the log is synced at every commit


def is_out_of_space(error: BaseException) -> bool:
    """Return whether a change could not be written because the disk is full."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, OSError):
        return cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        # SQLite reports a log that cannot grow as an I/O error.
        return (code & 0xFF) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return getattr(cause, "sqlstate", None) in ("53100", "58030")
