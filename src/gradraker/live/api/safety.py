"""Access control: hosts, origins, the token, sizes, times and rates, and safe headers."""

import asyncio
import base64
import contextlib
import hmac
import ipaddress
import re
import time
from collections import OrderedDict
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradraker.live.api.problems import RefusedError, make_problem
from gradraker.live.service.counters import Counters
from gradraker.live.settings import LOCAL_HOSTS, Limits, Settings

CHANGES = frozenset(
    {"/edges", "/values", "/attributes", "/remove", "/changes", "/studio/api/stream"}
)
_OPEN_PATHS = frozenset({"/health", "/ready"})
# Files of the pages hold no data: browsers open them without the token, and send it afterwards.
_FILE_PATH = re.compile(r"/|/live\.(css|js)|/favicon\.ico|/studio(/\w+\.(css|js))?")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_ADDRESSES = 10_000
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Rates:
    """Requests per second of each address; the last 10 000 addresses are remembered."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._burst = max(1.0, rate)  # requests that an address may send at once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, address: str) -> bool:
        """Return whether an address may send a request now."""
        now = time.monotonic()
        left, then = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._left[address] = (left - 1.0 if allowed else left), now
        if len(self._left) > _MAX_ADDRESSES:
            self._left.popitem(last=False)
        return allowed


class Guard:
    """Checks every request before the API handles it."""

    def __init__(self, app: ASGIApp, *, settings: Settings, counters: Counters) -> None:
        self.app = app
        self.settings = settings
        self.counters = counters
        self._rates = Rates(settings.limits.rate)
        self._token = None if settings.token is None else sha256(settings.token.encode()).digest()
        self._hosts = {*LOCAL_HOSTS, settings.host.lower(), *map(str.lower, settings.hosts)}
        self._headers = dict(HEADERS)
        if settings.certificate is not None:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        # HEAD is handled as GET, and the server drops the body; events would never end.
        is_head = scope["method"] == "HEAD" and not scope["path"].endswith("/events")
        inner_scope: Scope = {**scope, "method": "GET"} if is_head else scope

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # a page may set its own policy
            await send(message)

        try:
            self._check(scope)
            await self.app(inner_scope, _limit_body(receive, self.settings.limits), send_safely)
        except RefusedError as error:
            seconds = 1 if error.status_code == 429 else None
            answer = make_problem(error.status_code, error.detail, error.fields, seconds=seconds)
            if error.status_code == 401:
                answer.headers["WWW-Authenticate"] = _choose_challenge(Headers(scope=scope))
            if error.status_code in (408, 413):  # the rest of the body is not read
                answer.headers["Connection"] = "close"
            await answer(scope, receive, send_safely)
        finally:
            # The path of the route, so that metrics have few labels.
            path = getattr(inner_scope.get("route"), "path", "other")
            self.counters.requests.labels(path, status).inc()
            if path != "/events":
                self.counters.seconds.labels(path).observe(time.perf_counter() - started)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        path, method = scope["path"].removeprefix(scope.get("root_path", "")), scope["method"]
        client = scope.get("client")
        if not self._rates.allow(client[0] if client else ""):
            raise RefusedError(429, "too many requests per second")
        host = _get_host_name(headers.get("host", ""))
        # Refuse foreign names that resolve to this machine (DNS rebinding).
        if host not in self._hosts and not _is_address(host):
            raise RefusedError(
                421, "the service is not known under this host name", [("Host", "is not allowed")]
            )
        if method not in _SAFE_METHODS:
            _check_origin(headers)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.settings.limits.body_bytes:
            raise RefusedError(413, _describe_limit(self.settings.limits))
        needs = self.settings.token_for
        if needs == "nothing" or path in _OPEN_PATHS or _FILE_PATH.fullmatch(path):
            return
        if (needs == "all" or (path in CHANGES and method != "OPTIONS")) and not self._has_token(
            headers, method
        ):
            raise RefusedError(
                401,
                "a token is needed: send the header 'Authorization: Bearer TOKEN'",
                [("Authorization", "is missing or wrong")],
            )

    def _has_token(self, headers: Headers, method: str) -> bool:
        digest = sha256(_read_token(headers, method).encode()).digest()
        # Digests compared in constant time reveal neither length nor content.
        return hmac.compare_digest(digest, self._token or b"") and self._token is not None


def _read_token(headers: Headers, method: str) -> str:
    """Return the token of a request; empty if it has none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    # Browsers resend a password automatically, so it is accepted for reading only.
    if scheme.lower() == "basic" and method in _SAFE_METHODS:
        with contextlib.suppress(ValueError):
            return base64.b64decode(given.strip(), validate=True).decode().partition(":")[2]
    return ""


def _choose_challenge(headers: Headers) -> str:
    """Make a browser that follows a link ask for the token; scripts of the pages ask themselves."""
    if headers.get("sec-fetch-mode") == "navigate":
        return 'Basic realm="gradraker: the token is the password", charset="UTF-8"'
    return "Bearer"


def _describe_limit(limits: Limits) -> str:
    return f"the body is larger than {limits.body_bytes} bytes"


def _check_origin(headers: Headers) -> None:
    """Refuse requests that a page of another site sends through the user's browser."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    is_foreign = site is not None and site not in ("same-origin", "none")
    if origin is not None and site is None:
        is_foreign = urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    if is_foreign:
        raise RefusedError(
            403, "other sites may not change anything here", [("Origin", "is another site")]
        )


def _get_host_name(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _limit_body(receive: Receive, limits: Limits) -> Receive:
    """Limit the size of a body and the time that it takes."""
    size, is_complete, deadline = 0, False, time.monotonic() + limits.seconds

    async def receive_in_time() -> Message:
        nonlocal size, is_complete
        if is_complete:  # the API waits for the client to disconnect
            return await receive()
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                message = await receive()
        except TimeoutError:
            raise RefusedError(408, "the request took too long to arrive") from None
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if size > limits.body_bytes:
                raise RefusedError(413, _describe_limit(limits))
        return message

    return receive_in_time
