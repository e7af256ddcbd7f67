"""The process that learns: it reads the journal, learns batches, and publishes states."""

import contextlib
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from typing import Any

import numpy as np
from sqlalchemy.exc import DBAPIError

from gradraker.live.journal.changes import Numbered, compute_effect
from gradraker.live.journal.journal import Batch, Journal, Snapshot
from gradraker.live.journal.lease import Lease
from gradraker.live.journal.validation import Validation, has_outcome, record_outcome
from gradraker.live.learning.live_model import LiveModel, read_live_model
from gradraker.live.learning.predicted import make_table
from gradraker.live.learning.states import StateTable, open_state_file, to_plain, write_state
from gradraker.live.settings import Settings

_READ_AT_ONCE = 100_000
# Outcomes of batches (errors, and changes that were refused) that a follower keeps, in case the
# process that should write them dies.
_KEPT_OUTCOMES = 100
_MOST_REPORTED = 100
# Trouble with the machine; by all other errors the model refuses what it was given.
_TROUBLE = (DBAPIError, OSError, MemoryError)
# Rest after a batch: a part of the time that it took, and the most seconds.
_REST, _LONGEST_REST = 0.5, 0.25


class Learner:
    """Applies batches of the journal to a model; the holder of the lease decides on them."""

    def __init__(self, journal: Journal, settings: Settings) -> None:
        self.journal = journal
        self.settings = settings
        self.lease = Lease(journal, seconds=settings.lease_seconds)
        snapshot = journal.read_snapshot()
        self.live: LiveModel = read_live_model(snapshot.model, journal.read_facts())
        self.batch, self.seq = snapshot.batch, snapshot.seq
        self._snapshot_seq, self._snapshot_time = snapshot.seq, time.monotonic()
        self._table: StateTable | None = None
        self._outcomes: deque[tuple[list[Validation], dict[int, str]]]
        self._outcomes = deque(maxlen=_KEPT_OUTCOMES)
        self._reported: list[dict[str, Any]] = []

    # -- one turn ----------------------------------------------------------------

    def catch_up(self) -> bool:
        """Apply batches that are in the journal; return whether there were any."""
        found = self.journal.read_batches(self.batch)
        for batch in found:
            self._apply(batch)
            if self.lease.is_held:
                self.lease.acquire()  # a long replay must not lose it
        return bool(found)

    def learn_next(self) -> bool:
        """Decide on the next batch and apply it, if we hold the lease and there are changes."""
        if not self.lease.acquire():
            return False
        self._write_outcomes()
        if self.catch_up():  # what the last holder decided, before it lost the lease
            self._write_outcomes()
            return True
        pending = self.journal.read_changes(self.seq, limit=self.settings.largest_batch)
        if not pending:
            return False
        batch = Batch(self.batch + 1, self.seq + 1, pending[-1].seq)
        if not self.journal.record_batch(batch, holder=self.lease.holder, epoch=self.lease.epoch):
            self.lease.epoch = 0
            return False
        self._apply(batch, pending)
        self._write_outcomes()
        return True

    def make_state(self) -> StateTable:
        """Predict all nodes by what was learned so far."""
        self._table = make_table(
            self.live, seq=self.seq, batch=self.batch, learned=self._reported[-_MOST_REPORTED:]
        )
        self._reported = []
        return self._table

    def write_snapshot(self, *, is_due: bool = False) -> None:
        """Write a snapshot if much has changed since the last one, or if it ``is_due``."""
        n_changes = self.seq - self._snapshot_seq
        age = time.monotonic() - self._snapshot_time
        is_due |= age >= self.settings.snapshot_seconds
        is_due |= n_changes >= self.settings.snapshot_changes
        if n_changes == 0 or not is_due or not self.lease.is_held or self._outcomes:
            return
        self.journal.write_snapshot(Snapshot(self.batch, self.seq, self.live.to_bytes()))
        self._snapshot_seq, self._snapshot_time = self.seq, time.monotonic()

    # -- a batch -----------------------------------------------------------------

    def _apply(self, batch: Batch, changes: Sequence[Numbered] | None = None) -> None:
        if changes is None:
            changes = self.journal.read_changes(
                batch.first_seq - 1, upto=batch.last_seq, limit=_READ_AT_ONCE
            )
            is_new = not has_outcome(self.journal, batch)
        else:
            is_new = True
        known_refusals = self.journal.read_refusals(batch)
        changes = [one for one in changes if one.seq not in known_refusals]
        refused: dict[int, str] = {}
        try:
            validations = self._learn(changes, is_new)
        except _TROUBLE:
            raise
        except Exception:
            validations, refused = self._learn_one_by_one(changes)
        self.batch, self.seq = batch.number, batch.last_seq
        self._table = None
        self._outcomes.append((validations, refused))
        self._reported += [
            {"seq": one.seq, "node": one.node, "value": one.value, "predicted": one.predicted}
            for one in validations
        ]

    def _learn(self, changes: Sequence[Numbered], is_new: bool = True) -> list[Validation]:
        effect = compute_effect(one.change for one in changes)
        before = self._table
        self.live.forget(effect)
        self.live.learn_graph(effect)
        put = [one for one in changes if one.change.op == "put_value"]
        put = [one for one in put if one.change.node in self.live.positions]
        # A replay has no need to predict what was predicted when the batch was new.
        validations = self._validate(put, before) if is_new else []
        self.live.learn_values(effect)
        return validations

    def _learn_one_by_one(
        self, changes: Sequence[Numbered]
    ) -> tuple[list[Validation], dict[int, str]]:
        """Learn each change alone, because the model refuses some of them.

        Putting and removing again what is there or gone already changes nothing, so it does
        no harm that a part of the batch may have been learned.
        """
        validations: list[Validation] = []
        refused: dict[int, str] = {}
        for one in changes:
            try:
                validations += self._learn([one])
            except _TROUBLE:
                raise
            except Exception as error:
                refused[one.seq] = " ".join(str(error).split())[:500]
        return validations, refused

    def _validate(self, put: Sequence[Numbered], before: StateTable | None) -> list[Validation]:
        """Compare values with what is predicted before they are learned."""
        if not put or not self.live.n_known:
            return []
        model, positions = self.live.model, self.live.positions
        names = list(dict.fromkeys(one.change.node for one in put))
        predicted: dict[str, Any] = {}
        if before is not None and before.predictions is not None:
            rows = {name: before.positions[name] for name in names if name in before.positions}
            predicted = {name: before.predictions[row] for name, row in rows.items()}
        others = [name for name in names if name not in predicted]
        if others:
            found = model.predict(self.live.to_names(others))
            predicted |= dict(zip(others, found.tolist(), strict=True))
        is_known = model.value_kind.is_known(model.values_)
        known, has_labels = model.known_values_, self.live.has_labels
        # The mean of known values, or their most common label.
        baseline: Any = Counter(known.tolist()).most_common(1)[0][0] if has_labels else known.mean()
        seen: set[str] = set()
        validations = []
        for one in put:
            node, value = one.change.node, one.change.value
            guess = to_plain(predicted[node])
            is_first = not is_known[positions[node]] and node not in seen
            seen.add(node)
            errors = [np.nan, np.nan]
            if has_labels:
                errors = [float(guess != value), float(baseline != value)]
            elif guess is not None:
                errors = [float(guess - value), float(baseline - value)]
            validations.append(Validation(one.seq, node, value, guess, is_first, *errors))
        return [one for one in validations if np.isfinite([one.error, one.baseline_error]).all()]

    def _write_outcomes(self) -> None:
        while self._outcomes:
            record_outcome(self.journal, *self._outcomes[0])
            self._outcomes.popleft()


# -- the process -----------------------------------------------------------------


def run_learner(settings: Settings, channel: Connection) -> None:
    """Learn until the channel is closed: the life of the learning process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to both; the other one stops us
    os.nice(5)  # answers come first
    journal = Journal.open(settings.journal)
    learner = Learner(journal, settings)
    learner.lease.keep()
    is_published = False
    trouble: str | None = None
    try:
        while True:
            found = None
            wait, started = settings.poll_seconds, time.monotonic()
            try:
                if learner.learn_next() or learner.catch_up():
                    is_published, wait = False, 0.0
                if not is_published:
                    table = learner.make_state()
                    if trouble is not None:  # whoever waits for the state finds the service well
                        trouble = None
                        channel.send(("trouble", trouble))
                    with open_state_file() as file:
                        write_state(file, table, learner.live.model)
                        channel.send(("state", learner.lease.is_held))
                        send_handle(channel, file.fileno(), os.getppid())
                    is_published = True
                    # Fewer, larger batches leave time for answers, which each new state slows down.
                    time.sleep(min(_REST * (time.monotonic() - started), _LONGEST_REST))
                else:
                    learner.write_snapshot()
            except (BrokenPipeError, MemoryError):
                raise
            except Exception as error:
                # A full disk, a database that is away: go on when it is over.
                found, wait = _describe(error), 1.0
            if found != trouble:
                trouble = found
                channel.send(("trouble", trouble))
            if _is_closed(channel, wait):
                break
        with contextlib.suppress(DBAPIError, OSError):
            learner.write_snapshot(is_due=True)
            learner.lease.release()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the other process is gone
    finally:
        journal.close()


def _describe(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(cause).__name__}: {' '.join(str(cause).split())}"[:500]


def _is_closed(channel: Connection, seconds: float) -> bool:
    """Wait for a message; return whether the service asks to stop or is gone."""
    try:
        wait = seconds
        while channel.poll(wait):
            if channel.recv() == "stop":
                return True
            wait = 0.0
    except (EOFError, OSError):
        return True
    return False
