"""The journal: all acknowledged changes, the batches in which they were learned, and snapshots.

The model is a function of the journal: the first snapshot, then each batch of changes in turn.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, Self

from sqlalchemy import Connection, delete, insert, inspect, select, text, update
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from gradraker.exceptions import JournalError
from gradraker.live.journal.changes import Change, Numbered
from gradraker.live.journal.engines import Engines, open_engines
from gradraker.live.journal.tables import (
    FORMAT,
    batches,
    changes,
    counters,
    facts,
    leases,
    nodes,
    refusals,
    schema,
    snapshots,
)

# Two snapshots, in case one is damaged, besides the first one.
_KEPT_SNAPSHOTS = 2
_CREATION_LOCK = 0x67726164  # any number that other programs do not use


@dataclass(frozen=True)
class Batch:
    """Changes ``first_seq`` to ``last_seq``, which are learned together."""

    number: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True)
class Snapshot:
    """A model file, and the batch after which it was written."""

    batch: int
    seq: int
    model: bytes


class Journal:
    """A journal in SQLite or PostgreSQL; :meth:`open` opens one."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines

    @classmethod
    def open(cls, journal: str) -> Self:
        """Open a journal; tables are made by :meth:`create`."""
        engines = open_engines(journal)
        if engines.is_missing:
            return cls(engines)
        try:
            with engines.read.connect() as connection:
                names = set(inspect(connection).get_table_names())
        except OperationalError as error:
            raise JournalError(engines.name, f"cannot be opened: {_format(error)}") from None
        except DatabaseError as error:
            raise JournalError(engines.name, f"is not a journal: {_format(error)}") from None
        if engines.is_sqlite and names and "fact" not in names:
            raise JournalError(engines.name, "is a database of another program")
        return cls(engines)

    def close(self) -> None:
        """Close all connections."""
        self.engines.dispose()

    # -- creation ----------------------------------------------------------------

    def is_new(self) -> bool:
        """Return whether nothing has been written yet."""
        if self.engines.is_missing:
            return True
        with self.engines.read.connect() as connection:
            return not inspect(connection).has_table("fact") or not _read_facts(connection)

    def create(self, model: bytes, names: Iterable[str], base: dict[str, str]) -> bool:
        """Create the journal with a model file and its nodes; False if another process did."""
        self.engines.make_file()
        with self.engines.write.begin() as connection:
            if not self.engines.is_sqlite:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"))
            schema.create_all(connection)
            if _read_facts(connection):
                return False
            rows = {"format": FORMAT} | base
            connection.execute(insert(facts), [{"name": n, "text": t} for n, t in rows.items()])
            connection.execute(insert(counters).values(id=1, last_seq=0))
            connection.execute(insert(leases).values(id=1, holder="", epoch=0, expires=0.0))
            connection.execute(insert(snapshots).values(_to_row(Snapshot(0, 0, model))))
            for some in split(names, 10_000):
                connection.execute(insert(nodes), [{"name": name} for name in some])
        return True

    def read_facts(self) -> dict[str, str]:
        """Return the facts that :meth:`create` wrote; JournalError if the format differs."""
        with self.engines.read.connect() as connection:
            found = _read_facts(connection)
        if found.get("format") != FORMAT:
            problem = f"has format {found.get('format')!r}, and this version reads {FORMAT!r}"
            raise JournalError(self.engines.name, problem)
        return found

    # -- changes -----------------------------------------------------------------

    def get_last_seq(self) -> int:
        """Return the number of the last change."""
        with self.engines.read.connect() as connection:
            return int(connection.execute(select(counters.c.last_seq)).scalar_one())

    def read_changes(self, after: int, *, upto: int | None = None, limit: int) -> list[Numbered]:
        """Return changes in their order, at most ``limit`` of them."""
        statement = select(changes).where(changes.c.seq > after).order_by(changes.c.seq)
        if upto is not None:
            statement = statement.where(changes.c.seq <= upto)
        return self._read(statement.limit(limit))

    def read_history(self, node: str, *, before: int | None, limit: int) -> list[Numbered]:
        """Return the last changes that name a node, the newest first."""
        statement = select(changes).where((changes.c.node == node) | (changes.c.target == node))
        if before is not None:
            statement = statement.where(changes.c.seq < before)
        return self._read(statement.order_by(changes.c.seq.desc()).limit(limit))

    def _read(self, statement: Any) -> list[Numbered]:
        with self.engines.read.connect() as connection:
            return [
                Numbered(seq, Change(op, node, target, json.loads(value)), written)
                for seq, op, node, target, value, written in connection.execute(statement)
            ]

    # -- batches -----------------------------------------------------------------

    def read_batches(self, after: int, *, limit: int = 1000) -> list[Batch]:
        """Return batches with larger numbers, in their order."""
        columns = batches.c.number, batches.c.first_seq, batches.c.last_seq
        statement = select(*columns).where(batches.c.number > after)
        with self.engines.read.connect() as connection:
            rows = connection.execute(statement.order_by(batches.c.number).limit(limit)).all()
        return [Batch(*row) for row in rows]

    def record_batch(self, batch: Batch, *, holder: str, epoch: int) -> bool:
        """Record the next batch to learn; False if another process has the lease."""
        holds = (leases.c.id == 1) & (leases.c.holder == holder) & (leases.c.epoch == epoch)
        try:
            with self.engines.write.begin() as connection:
                # The update locks the row: the lease cannot change until the batch is written.
                statement = update(leases).where(holds).values(epoch=leases.c.epoch)
                if connection.execute(statement).rowcount != 1:
                    return False
                row = asdict(batch) | {"epoch": epoch, "time": time.time()}
                connection.execute(insert(batches).values(row))
        except IntegrityError:  # another process wrote this number while it held the lease
            return False
        return True

    def read_refusals(self, batch: Batch) -> dict[int, str]:
        """Return changes of a batch that the model refused, and why."""
        inside = refusals.c.seq.between(batch.first_seq, batch.last_seq)
        with self.engines.read.connect() as connection:
            rows = connection.execute(select(refusals).where(inside)).all()
        return {row.seq: row.reason for row in rows}

    # -- snapshots ---------------------------------------------------------------

    def read_snapshot(self) -> Snapshot:
        """Return the newest snapshot that is complete."""
        newest = select(snapshots.c.batch).order_by(snapshots.c.batch.desc())
        with self.engines.read.connect() as connection:
            for batch in connection.execute(newest).scalars().all():
                row = connection.execute(select(snapshots).filter_by(batch=batch)).one()
                if sha256(row.model).hexdigest() == row.digest:
                    return Snapshot(row.batch, row.seq, row.model)
        raise JournalError(self.engines.name, "has no snapshot that is complete")

    def write_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot, and delete old ones."""
        with self.engines.write.begin() as connection:
            same = snapshots.c.batch == snapshot.batch
            if connection.execute(select(snapshots.c.batch).where(same)).first() is not None:
                return  # another process has written the same model
            connection.execute(insert(snapshots).values(_to_row(snapshot)))
            newest = select(snapshots.c.batch).order_by(snapshots.c.batch.desc())
            kept = connection.execute(newest.limit(_KEPT_SNAPSHOTS)).scalars().all()
            old = (snapshots.c.batch > 0) & (snapshots.c.batch < min(kept))
            connection.execute(delete(snapshots).where(old))


def _read_facts(connection: Connection) -> dict[str, str]:
    return {row.name: row.text for row in connection.execute(select(facts))}


def _to_row(snapshot: Snapshot) -> dict[str, Any]:
    return asdict(snapshot) | {"digest": sha256(snapshot.model).hexdigest()}


def _format(error: DatabaseError) -> str:
    return " ".join(str(error.orig).split())


def split(items: Iterable[Any], size: int) -> Iterator[Sequence[Any]]:
    """Yield lists of at most ``size`` items."""
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some
