"""The learning process: it reads the journal, learns batches, and publishes states."""

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

_MAX_READ = 100_000
# Outcomes of batches (errors, and refused changes) that a process without the lease keeps, in case
# the process that should write them dies.
_MAX_OUTCOMES = 100
_MAX_REPORTED = 100
# Errors of the machine; any other error means that the model refuses a change.
_SYSTEM_ERRORS = (DBAPIError, OSError, MemoryError)
# Pause after a batch: a share of the time that it took, and the longest pause in seconds.
_PAUSE_SHARE, _MAX_PAUSE = 0.5, 0.25


class Learner:
    """Applies batches of the journal to a model; the holder of the lease defines the batches."""

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
        self._outcomes = deque(maxlen=_MAX_OUTCOMES)
        self._reported: list[dict[str, Any]] = []

    # -- one iteration -----------------------------------------------------------

    def catch_up(self) -> bool:
        """Apply batches that are in the journal; return whether there were any."""
        batches = self.journal.read_batches(self.batch)
        for batch in batches:
            self._apply(batch)
            if self.lease.is_held:
                self.lease.acquire()  # a long replay must not lose the lease
        return bool(batches)

    def learn_next(self) -> bool:
        """Record and apply the next batch, if we hold the lease and there are changes."""
        if not self.lease.acquire():
            return False
        self._write_outcomes()
        if self.catch_up():  # batches that the last holder recorded
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
        """Predict all nodes with the current model."""
        self._table = make_table(
            self.live, seq=self.seq, batch=self.batch, learned=self._reported[-_MAX_REPORTED:]
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
                batch.first_seq - 1, upto=batch.last_seq, limit=_MAX_READ
            )
            is_new = not has_outcome(self.journal, batch)
        else:
            is_new = True
        known_refusals = self.journal.read_refusals(batch)
        changes = [numbered for numbered in changes if numbered.seq not in known_refusals]
        refused: dict[int, str] = {}
        try:
            validations = self._learn(changes, is_new)
        except _SYSTEM_ERRORS:
            raise
        except Exception:
            validations, refused = self._learn_one_by_one(changes)
        self.batch, self.seq = batch.number, batch.last_seq
        self._table = None
        self._outcomes.append((validations, refused))
        self._reported += [
            {"seq": v.seq, "node": v.node, "value": v.value, "predicted": v.predicted}
            for v in validations
        ]

    def _learn(self, changes: Sequence[Numbered], is_new: bool = True) -> list[Validation]:
        effect = compute_effect(numbered.change for numbered in changes)
        before = self._table
        self.live.forget(effect)
        self.live.learn_graph(effect)
        put = [n for n in changes if n.change.op == "put_value"]
        put = [n for n in put if n.change.node in self.live.positions]
        # A replay need not validate again.
        validations = self._validate(put, before) if is_new else []
        self.live.learn_values(effect)
        return validations

    def _learn_one_by_one(
        self, changes: Sequence[Numbered]
    ) -> tuple[list[Validation], dict[int, str]]:
        """Learn each change separately, because the model refuses some of them.

        Part of the batch may have been learned already: that does no harm, since putting or
        removing something twice has the same effect as once.
        """
        validations: list[Validation] = []
        refused: dict[int, str] = {}
        for numbered in changes:
            try:
                validations += self._learn([numbered])
            except _SYSTEM_ERRORS:
                raise
            except Exception as error:
                refused[numbered.seq] = " ".join(str(error).split())[:500]
        return validations, refused

    def _validate(self, put: Sequence[Numbered], before: StateTable | None) -> list[Validation]:
        """Compare values with their predictions before they are learned."""
        if not put or not self.live.n_known:
            return []
        model, positions = self.live.model, self.live.positions
        names = list(dict.fromkeys(numbered.change.node for numbered in put))
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
        earlier: set[str] = set()
        validations = []
        for numbered in put:
            node, value = numbered.change.node, numbered.change.value
            prediction = to_plain(predicted[node])
            is_first = not is_known[positions[node]] and node not in earlier
            earlier.add(node)
            errors = [np.nan, np.nan]
            if has_labels:
                errors = [float(prediction != value), float(baseline != value)]
            elif prediction is not None:
                errors = [float(prediction - value), float(baseline - value)]
            validations.append(Validation(numbered.seq, node, value, prediction, is_first, *errors))
        return [v for v in validations if np.isfinite([v.error, v.baseline_error]).all()]

    def _write_outcomes(self) -> None:
        while self._outcomes:
            record_outcome(self.journal, *self._outcomes[0])
            self._outcomes.popleft()


# -- the process -----------------------------------------------------------------


def run_learner(settings: Settings, channel: Connection) -> None:
    """Run the learning process until the channel is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which stops us
    os.nice(5)  # answering requests comes first
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
                    if trouble is not None:  # cleared before the state is visible
                        trouble = None
                        channel.send(("trouble", trouble))
                    with open_state_file() as file:
                        write_state(file, table, learner.live.model)
                        channel.send(("state", learner.lease.is_held))
                        send_handle(channel, file.fileno(), os.getppid())
                    is_published = True
                    # Fewer, larger batches leave time for requests, which each new state delays.
                    time.sleep(min(_PAUSE_SHARE * (time.monotonic() - started), _MAX_PAUSE))
                else:
                    learner.write_snapshot()
            except (BrokenPipeError, MemoryError):
                raise
            except Exception as error:
                # Such as a full disk or an unreachable database: retry until it is over.
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
        pass  # the serving process is gone
    finally:
        journal.close()


def _describe(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(cause).__name__}: {' '.join(str(cause).split())}"[:500]


def _is_closed(channel: Connection, seconds: float) -> bool:
    """Wait for a message; return whether the serving process asks to stop or is gone."""
    try:
        wait = seconds
        while channel.poll(wait):
            if channel.recv() == "stop":
                return True
            wait = 0.0
    except (EOFError, OSError):
        return True
    return False
