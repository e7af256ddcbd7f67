"""Run a live service: create or open its journal, listen, and shut down in order."""

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gradraker.live.api import AddRoutes, make_app
from gradraker.live.journal.journal import Journal
from gradraker.live.service import Service
from gradraker.live.settings import Settings

if TYPE_CHECKING:
    from gradraker.models import NodeModel

_MAX_HEAD_BYTES = 64 * 1024
_MAX_HEAD_SECONDS = 20.0
_MAX_CONNECTIONS = 2000


def open_journal(
    journal: str, make_model: "Callable[[], NodeModel | None]", *, has_labels: bool = False
) -> tuple[Journal, bool]:
    """Open a journal, or create one that starts with a model; return whether it is new.

    Parameters
    ----------
    journal : str
        A file, or a ``postgresql://`` URL.
    make_model : callable
        Returns the fitted model that a new journal starts with, or None to start empty.
    has_labels : bool, default=False
        Whether values are labels, if there is no model.
    """
    opened = Journal.open(journal)
    if not opened.is_new():
        opened.read_facts()
        return opened, False
    # Imported here, since a restart does not need it.
    from gradraker.live.learning.live_model import describe_base, dump_base

    model = make_model()
    content, names = dump_base(model)
    return opened, opened.create(content, names, describe_base(model, has_labels=has_labels))


def serve(
    journal: Journal,
    settings: Settings,
    *,
    background: Callable[[Service], Coroutine[Any, Any, None]] | None = None,
    on_listen: Callable[[int], None] | None = None,
    add_routes: AddRoutes | None = None,
) -> None:
    """Serve until the process is asked to stop.

    Parameters
    ----------
    journal : Journal
        Returned by :func:`open_journal`.
    settings : Settings
        Where to listen, and which requests to accept.
    background : callable, optional
        A coroutine that runs alongside, such as a stream of values.
    on_listen : callable, optional
        Called with the port when the service listens.
    add_routes : callable, optional
        Adds pages to the application of the service.
    """
    logging.getLogger("gradraker.live").setLevel(logging.INFO)
    sys.setswitchinterval(0.001)  # threads that predict must not delay other answers
    service = Service(journal, settings)
    service.start_learning()
    config = uvicorn.Config(
        make_app(service, add_routes=add_routes),
        host=settings.host,
        port=settings.port,
        http=_LimitedProtocol,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        limit_concurrency=_MAX_CONNECTIONS,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.private_key,
        proxy_headers=settings.proxies is not None,
        forwarded_allow_ips=settings.proxies,
        root_path=settings.root_path,
    )
    server = _Server(config, service, background, on_listen)
    # uvicorn raises the signal that stopped it again: Ctrl-C reaches the caller, SIGTERM does not.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        server.run()
    finally:
        signal.signal(signal.SIGTERM, before)
    if not server.started:
        raise OSError(f"the service could not listen on {settings.host}:{settings.port}")


class _Server(uvicorn.Server):
    """Calls back when it listens, and disconnects listening clients when it stops."""

    def __init__(
        self, config: uvicorn.Config, service: Service, background: Any, on_listen: Any
    ) -> None:
        super().__init__(config)
        self._service = service
        self._background = background
        self._on_listen = on_listen
        self._task: asyncio.Task[None] | None = None

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if not self.started:
            return
        if self._background is not None:
            self._task = asyncio.create_task(self._background(self._service))
        if self._on_listen is not None:
            self._on_listen(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: Any = None) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._service.hub.close()
        await super().shutdown(sockets)


class _LimitedProtocol(HttpToolsProtocol):
    """HTTP with limits on the size of a request's head and the time that it takes."""

    _head = 0
    _is_head = True
    _timer: asyncio.TimerHandle

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer = self.loop.call_later(_MAX_HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_head:
            self._head += len(data)
            # The end of a head may come with a part of the body: allow for one read.
            if self._head > _MAX_HEAD_BYTES + 2**18:
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._head, self._is_head = 0, True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if sum(len(key) + len(text) for key, text in self.headers) > _MAX_HEAD_BYTES:
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._is_head = False
        self._timer.cancel()
        super().on_headers_complete()
