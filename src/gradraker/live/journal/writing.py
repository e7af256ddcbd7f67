"""Write requests of several clients in one transaction; each is accepted or refused as a whole."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select, update

from gradraker.live.journal.changes import Change
from gradraker.live.journal.journal import Journal, split
from gradraker.live.journal.tables import changes, counters, nodes, requests

_MAX_PARAMETERS = 500  # databases limit the parameters of a statement


@dataclass(frozen=True)
class Submission:
    """The changes of one request, and its key."""

    changes: tuple[Change, ...]
    key: str | None = None


@dataclass(frozen=True)
class Receipt:
    """Numbers of the changes in the journal; ``is_repeat`` if they were there already."""

    first_seq: int
    last_seq: int
    is_repeat: bool = False


@dataclass(frozen=True)
class UnknownNode:
    """A change names a node that does not exist: nothing of its request was written."""

    position: int
    name: str


@dataclass(frozen=True)
class KeyConflict:
    """The key was used before, for other changes."""

    key: str


Answer = Receipt | UnknownNode | KeyConflict


def append(journal: Journal, submissions: Sequence[Submission]) -> list[Answer]:
    """Write submissions in their order; those answered by a Receipt are on disk."""
    with journal.engines.write.begin() as connection:
        # Updating the row locks out all other writers until the transaction ends.
        same = update(counters).where(counters.c.id == 1).values(last_seq=counters.c.last_seq)
        last_seq = connection.execute(same.returning(counters.c.last_seq)).scalar_one()
        writer = _Writer(connection, last_seq, submissions)
        answers = [writer.take(submission) for submission in submissions]
        writer.write()
    return answers


@dataclass
class _Writer:
    """Collects the rows that a transaction writes."""

    connection: Connection
    last_seq: int
    submissions: Sequence[Submission]
    time: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        submitted = [change for submission in self.submissions for change in submission.changes]
        named = {name for change in submitted for name in (change.node, change.target)}
        self._before = {row.name for row in self._select(nodes, nodes.c.name, named)}
        self._nodes = set(self._before)
        keys = {submission.key for submission in self.submissions}
        self._requests: dict[str, tuple[str, Receipt]] = {
            row.key: (row.digest, Receipt(row.first_seq, row.last_seq, is_repeat=True))
            for row in self._select(requests, requests.c.key, keys)
        }
        self._new_changes: list[dict[str, Any]] = []
        self._new_requests: list[dict[str, Any]] = []

    def _select(self, table: Table, column: Any, names: set[Any]) -> Iterator[Any]:
        """Yield the rows of a table whose column has one of the names."""
        for some in split(sorted(names - {None}), _MAX_PARAMETERS):
            yield from self.connection.execute(select(table).where(column.in_(some)))

    def take(self, submission: Submission) -> Answer:
        """Number the changes of a submission, unless it is refused or a repetition."""
        # Equal lists of changes have equal digests.
        plain = [[c.op, c.node, c.target, c.value] for c in submission.changes]
        digest = sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
        if submission.key in self._requests:
            known_digest, receipt = self._requests[submission.key]
            return receipt if known_digest == digest else KeyConflict(submission.key)
        existing = _follow_nodes(self._nodes, submission.changes)
        if isinstance(existing, UnknownNode):
            return existing
        self._nodes = existing
        first_seq = self.last_seq + 1
        for change in submission.changes:
            self.last_seq += 1
            self._new_changes.append(
                {
                    "seq": self.last_seq,
                    "op": change.op,
                    "node": change.node,
                    "target": change.target,
                    "value": json.dumps(change.value),
                    "time": self.time,
                }
            )
        if submission.key is not None:
            numbers = {"first_seq": first_seq, "last_seq": self.last_seq}
            self._new_requests.append({"key": submission.key, "digest": digest, **numbers})
            repeat = Receipt(first_seq, self.last_seq, is_repeat=True)
            self._requests[submission.key] = digest, repeat
        return Receipt(first_seq, self.last_seq)

    def write(self) -> None:
        """Write the collected rows."""
        if not self._new_changes:
            return
        execute = self.connection.execute
        execute(update(counters).where(counters.c.id == 1).values(last_seq=self.last_seq))
        execute(insert(changes), self._new_changes)
        if self._new_requests:
            execute(insert(requests), self._new_requests)
        added, removed = self._nodes - self._before, self._before - self._nodes
        if added:
            execute(insert(nodes), [{"name": name} for name in sorted(added)])
        for some in split(sorted(removed), _MAX_PARAMETERS):
            execute(delete(nodes).where(nodes.c.name.in_(some)))


def _follow_nodes(existing: set[str], submitted: Sequence[Change]) -> set[str] | UnknownNode:
    """Return the nodes after some changes, or the first name that does not exist."""
    after = set(existing)
    for position, change in enumerate(submitted):
        names = [name for name in (change.node, change.target) if name is not None]
        if change.op == "put_edge":
            after.update(names)
            continue
        for name in names:
            if name not in after:
                return UnknownNode(position, name)
        if change.op == "remove_node":
            after.discard(change.node)
    return after
