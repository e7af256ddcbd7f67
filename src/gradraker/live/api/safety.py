"""Who may do what: hosts, origins, the token, sizes, times and rates, and safe headers."""

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
_OPEN = frozenset({"/health", "/ready"})
# Files of the pages hold no data: browsers can open them, and send the token afterwards.
_FILE = re.compile(r"/|/live\.(css|js)|/favicon\.ico|/studio(/\w+\.(css|js))?")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_MOST_ADDRESSES = 10_000
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
        self._most = max(1.0, rate)  # what an address may send at once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, address: str) -> bool:
        """Return whether an address may send a request now."""
        now = time.monotonic()
        left, then = self._left.pop(address, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._left[address] = (left - 1.0 if allowed else left), now
        if len(self._left) > _MOST_ADDRESSES:
            self._left.popitem(last=False)
        return allowed


class Guard:
    """Looks at every request before the API does."""

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
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        # The server leaves out the body of an answer to HEAD; events would never end.
        is_head = scope["method"] == "HEAD" and not scope["path"].endswith("/events")
        asked: Scope = {**scope, "method": "GET"} if is_head else scope

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # a page may have a policy of its own
            await send(message)

        try:
            self._check(scope)
            await self.app(asked, _limit_body(receive, self.settings.limits), send_safely)
        except RefusedError as error:
            seconds = 1 if error.status_code == 429 else None
            answer = make_problem(error.status_code, error.detail, error.fields, seconds=seconds)
            if error.status_code == 401:
                answer.headers["WWW-Authenticate"] = _choose_challenge(Headers(scope=scope))
            if error.status_code in (408, 413):  # the rest of the body is not read
                answer.headers["Connection"] = "close"
            await answer(scope, receive, send_safely)
        finally:
            # As it is described, so that metrics have few names.
            path = getattr(asked.get("route"), "path", "other")
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
        # A name that someone points at this machine (DNS rebinding) is not one of ours.
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
        if needs == "nothing" or path in _OPEN or _FILE.fullmatch(path):
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
        # Digests, compared in constant time: neither length nor content can be measured.
        return hmac.compare_digest(digest, self._token or b"") and self._token is not None


def _read_token(headers: Headers, method: str) -> str:
    """Return the token that a request brings; nothing without one."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return given.strip()
    # A browser sends a password again by itself, so it is good for looking only.
    if scheme.lower() == "basic" and method in _SAFE_METHODS:
        with contextlib.suppress(ValueError):
            return base64.b64decode(given.strip(), validate=True).decode().partition(":")[2]
    return ""


def _choose_challenge(headers: Headers) -> str:
    """Let a browser that follows a link ask for the token; its scripts ask by themselves."""
    if headers.get("sec-fetch-mode") == "navigate":
        return 'Basic realm="gradraker: the token is the password", charset="UTF-8"'
    return "Bearer"


def _describe_limit(limits: Limits) -> str:
    return f"the body is larger than {limits.body_bytes} bytes"


def _check_origin(headers: Headers) -> None:
    """Refuse what a page of another site sends through the user's browser."""
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
    """Receive a body that may be neither too large nor too slow."""
    size, is_complete, ends = 0, False, time.monotonic() + limits.seconds

    async def receive_in_time() -> Message:
        nonlocal size, is_complete
        if is_complete:  # the API waits for the client to go away
            return await receive()
        try:
            async with asyncio.timeout(max(0.0, ends - time.monotonic())):
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
