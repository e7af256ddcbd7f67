"""The lease: one process at a time defines the next batch to learn."""

import contextlib
import os
import socket
import threading
import time
import uuid

from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError

from gradraker.live.journal.journal import Journal
from gradraker.live.journal.tables import leases


class Lease:
    """A claim that expires unless it is renewed.

    Taking it raises its epoch, and only the holder of the current epoch can write a batch
    (:meth:`Journal.record_batch`), so that a process that was suspended cannot do harm.
    """

    def __init__(self, journal: Journal, *, seconds: float) -> None:
        self._engines = journal.engines
        self.seconds = seconds
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.epoch = 0
        self._renew_at = 0.0
        self._lock = threading.Lock()

    @property
    def is_held(self) -> bool:
        """Whether this process held the lease when it last checked."""
        return self.epoch > 0

    def acquire(self) -> bool:
        """Take or renew the lease if it is free, expired or ours; return whether we hold it."""
        with self._lock:
            return self._acquire()

    def keep(self) -> None:
        """Renew the lease from a separate thread, since learning may take long."""

        def renew() -> None:
            while True:
                time.sleep(self.seconds / 3)
                with contextlib.suppress(DBAPIError, OSError), self._lock:
                    if self.is_held:  # do not take a released lease again
                        self._acquire()

        threading.Thread(target=renew, name="gradraker-lease", daemon=True).start()

    def _acquire(self) -> bool:
        if self.is_held and time.monotonic() < self._renew_at:
            return True
        now = self._engines.get_now()
        started = time.monotonic()
        with self._engines.write.begin() as connection:
            row = connection.execute(select(leases, now.label("now")).with_for_update()).one()
            is_ours = row.holder == self.holder and row.epoch == self.epoch
            # Host names are unique among processes that share a file, but not a server.
            is_free = float(row.now) >= row.expires
            is_free |= self._engines.is_sqlite and _is_dead(row.holder)
            if not is_ours and not is_free:
                self.epoch = 0
                return False
            self.epoch = row.epoch if is_ours else row.epoch + 1
            connection.execute(
                update(leases).values(
                    holder=self.holder, epoch=self.epoch, expires=float(row.now) + self.seconds
                )
            )
        self._renew_at = started + self.seconds / 4
        return True

    def release(self) -> None:
        """Release the lease, so that another process can take it at once."""
        with self._lock:
            if not self.is_held:
                return
            ours = (leases.c.holder == self.holder) & (leases.c.epoch == self.epoch)
            with self._engines.write.begin() as connection:
                connection.execute(update(leases).where(ours).values(expires=0.0))
            self.epoch = 0


def _is_dead(holder: str) -> bool:
    """Return whether a holder was a process of this machine that has ended."""
    host, _, rest = holder.partition(":")
    process = rest.partition(":")[0]
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
