"""Events for clients that listen: one for each new state."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from gradraker.live.service.writer import TooBusyError

_MAX_QUEUED = 32  # events that a slow client may be behind
_KEEP_ALIVE_SECONDS = 15.0  # proxies close idle connections


class Hub:
    """Sends events to all listening clients. It is used on the event loop only."""

    def __init__(self, *, max_listeners: int) -> None:
        self._max_listeners = max_listeners
        self._queues: set[asyncio.Queue[str | None]] = set()

    def __len__(self) -> int:
        return len(self._queues)

    def send(self, event: dict[str, Any]) -> None:
        """Send an event; a client that is too slow is disconnected and will reconnect."""
        text = format_event(event)
        for queue in list(self._queues):
            if queue.qsize() >= _MAX_QUEUED:
                self._queues.discard(queue)
                queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(text)

    def close(self) -> None:
        """Disconnect all clients."""
        for queue in self._queues:
            queue.put_nowait(None)
        self._queues.clear()

    def check_capacity(self) -> None:
        """Raise TooBusyError if too many clients listen."""
        if len(self._queues) >= self._max_listeners:
            raise TooBusyError("too many clients listen to events", seconds=30)

    async def listen(self, first: dict[str, Any]) -> AsyncIterator[str]:
        """Yield the first event, then those that arrive, until the client is disconnected."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._queues.add(queue)
        event: str | None = format_event(first)
        try:
            while event is not None:
                yield event
                try:
                    async with asyncio.timeout(_KEEP_ALIVE_SECONDS):
                        event = await queue.get()
                except TimeoutError:
                    event = ": still here\n\n"
        finally:
            self._queues.discard(queue)


def format_event(event: dict[str, Any]) -> str:
    """Return a server-sent event, whose id is the number of the state."""
    return f"id: {event['state']}\nevent: state\ndata: {json.dumps(event, allow_nan=False)}\n\n"
