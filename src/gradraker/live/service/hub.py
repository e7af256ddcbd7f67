"""Events for clients that listen: one for each new state."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from gradraker.live.service.writer import TooBusyError

_QUEUED = 32  # events that a slow client may be behind
_SECONDS_BETWEEN_SIGNS = 15.0  # proxies close connections on which nothing happens


class Hub:
    """Sends events to all who listen. It is used on the event loop only."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._queues: set[asyncio.Queue[str | None]] = set()

    def __len__(self) -> int:
        return len(self._queues)

    def send(self, event: dict[str, Any]) -> None:
        """Send an event; a client that is too slow is disconnected and will come back."""
        text = format_event(event)
        for waiting in list(self._queues):
            if waiting.qsize() >= _QUEUED:
                self._queues.discard(waiting)
                waiting.get_nowait()
                waiting.put_nowait(None)
            else:
                waiting.put_nowait(text)

    def close(self) -> None:
        """Disconnect everybody."""
        for waiting in self._queues:
            waiting.put_nowait(None)
        self._queues.clear()

    def check_room(self) -> None:
        """Raise TooBusyError if too many listen."""
        if len(self._queues) >= self._most:
            raise TooBusyError("too many clients listen to events", seconds=30)

    async def listen(self, first: dict[str, Any]) -> AsyncIterator[str]:
        """Yield an event, then those that arrive, until this client or all are disconnected."""
        waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._queues.add(waiting)
        event: str | None = format_event(first)
        try:
            while event is not None:
                yield event
                try:
                    async with asyncio.timeout(_SECONDS_BETWEEN_SIGNS):
                        event = await waiting.get()
                except TimeoutError:
                    event = ": still here\n\n"
        finally:
            self._queues.discard(waiting)


def format_event(event: dict[str, Any]) -> str:
    """Return a server-sent event, whose id is the number of the state."""
    return f"id: {event['state']}\nevent: state\ndata: {json.dumps(event, allow_nan=False)}\n\n"
