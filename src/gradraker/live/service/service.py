"""The service behind the API: the journal, the learner and the current state."""

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

from gradraker.live.journal.journal import Journal
from gradraker.live.journal.writing import Answer, Receipt, Submission
from gradraker.live.learning.states import State
from gradraker.live.learning.supervisor import Supervisor
from gradraker.live.service.counters import Counters
from gradraker.live.service.hub import Hub
from gradraker.live.service.predictor import Predictor
from gradraker.live.service.writer import TooBusyError, Writer
from gradraker.live.settings import Settings


class NotReadyError(Exception):
    """The first state is still being learned."""


def _load_models() -> None:
    import threadpoolctl

    import gradraker.models  # noqa: F401

    # Requests are small, and learning uses the other cores.
    threadpoolctl.threadpool_limits(limits=1)


class Service:
    """Accepts changes, and answers from the last finished state."""

    def __init__(self, journal: Journal, settings: Settings) -> None:
        limits = settings.limits
        self.settings = settings
        self.journal = journal
        self.facts = journal.read_facts()
        self.counters = Counters()
        self.hub = Hub(max_listeners=limits.listeners)
        self.writer = Writer(journal, max_waiting=limits.waiting, on_written=self._note_written)
        self.predictor = Predictor("predictor", max_waiting=limits.waiting)
        self.explainer = Predictor("explainer", max_waiting=min(20, limits.waiting))
        self.reader = Predictor("reader", max_waiting=limits.waiting)  # of the journal
        self.state: State | None = None
        self.holds_lease = False
        self.trouble: str | None = None
        self.last_seq = self._seq_at_start = journal.get_last_seq()
        self.started = time.time()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._supervisor = Supervisor(
            settings,
            on_state=self._take_state,
            on_trouble=self._note_trouble,
            on_start=self.counters.learner_starts.inc,
        )

    @property
    def has_labels(self) -> bool:
        """Whether values are labels."""
        return self.facts["values"] == "labels"

    @property
    def n_pending(self) -> int:
        """Number of changes that have not been learned yet."""
        learned = self.state.table.seq if self.state else self._seq_at_start
        return max(0, self.last_seq - learned)

    def start_learning(self) -> None:
        """Start the learning process; call it first, since its start takes longest."""
        self._supervisor.start()

    def start(self) -> None:
        """Start all threads; call it on the event loop."""
        self._loop = asyncio.get_running_loop()
        for thread in (self.writer, self.predictor, self.explainer, self.reader):
            thread.start()
        # While the learner starts: the first state needs the models.
        threading.Thread(target=_load_models, daemon=True).start()

    def stop(self) -> None:
        """Write the waiting changes, stop learning, close the journal."""
        self.writer.stop()
        for thread in (self.predictor, self.explainer, self.reader):
            thread.stop()
        self._supervisor.stop()
        self.journal.close()

    # -- changes -----------------------------------------------------------------

    async def submit(self, submission: Submission) -> Answer:
        """Write changes to the journal; when this returns a Receipt, they are on disk."""
        if self.n_pending + len(submission.changes) > self.settings.limits.pending:
            raise TooBusyError("too many changes wait to be learned", seconds=5)
        return await self.writer.write(submission)

    def _note_written(self, answers: Sequence[Answer]) -> None:
        new = [a for a in answers if isinstance(a, Receipt) and not a.is_repeat]
        if new:
            self.last_seq = max(self.last_seq, *(receipt.last_seq for receipt in new))
            self.counters.changes.inc(sum(r.last_seq - r.first_seq + 1 for r in new))
            self._supervisor.wake()

    # -- states ------------------------------------------------------------------

    def get_state(self) -> State:
        """Return the last finished state."""
        if self.state is None:
            raise NotReadyError
        return self.state

    def _take_state(self, state: State, holds_lease: bool) -> None:
        state.table.positions  # noqa: B018 - computed here, not while a client waits
        if state.table.predictions is not None:
            state.model  # noqa: B018
        self.holds_lease = holds_lease
        self.state = state
        self.last_seq = max(self.last_seq, state.table.seq)
        self.counters.states.inc()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.hub.send, self.describe_state_event(state))

    def _note_trouble(self, trouble: str | None) -> None:
        self.trouble = trouble

    def describe_state_event(self, state: State) -> dict[str, Any]:
        """Return the event of a state for listening clients."""
        table = state.table
        return {
            "state": table.seq,
            "nodes": table.facts["nodes"],
            "edges": table.facts["edges"],
            "known": table.facts["known"],
            "time": table.time,
            "learned": table.learned,
        }

    # -- facts -------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Return the state of the service."""
        table = self.state.table if self.state else None
        return {
            "state": table.seq if table else None,
            "journal": self.last_seq,
            "pending": self.n_pending,
            "is_learning_here": self.holds_lease,
            "trouble": self.trouble,
            "disk_is_full": self.writer.is_full,
            "learned_at": table.time if table else None,
            **(table.facts if table else {}),
        }

    async def read(self, work: Any) -> Any:
        """Run a function that reads the journal on the reader thread."""
        return await self.reader.call(self.get_state(), work)

    def measure(self) -> bytes:
        """Return the metrics for Prometheus."""
        counters, table = self.counters, self.state.table if self.state else None
        counters.last_seq.set(self.last_seq)
        counters.pending.set(self.n_pending)
        counters.listeners.set(len(self.hub))
        counters.is_learning.set(self.holds_lease)
        counters.trouble.set(self.trouble is not None or self.writer.is_full)
        if table is not None:
            counters.state_seq.set(table.seq)
            counters.nodes.set(table.facts["nodes"])
            counters.known.set(table.facts["known"])
        return counters.to_text()
