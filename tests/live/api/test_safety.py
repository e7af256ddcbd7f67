"""Access control: tokens, hosts, origins, limits, and safe headers."""

import socket
import ssl
import time
from functools import partial
from typing import Any

import pytest
import requests

from gradraker.live.api.safety import Rates
from live_service import TOKEN

BODY = {"values": {"e": 1.0}}


def put(service: Any, body: Any = BODY, **headers: Any) -> Any:
    return requests.put(f"{service.url}/values", json=body, headers=headers, timeout=10)


def test_binds_to_localhost(service: Any) -> None:
    assert service.url.startswith("http://127.0.0.1:")
    host = socket.gethostbyname(socket.gethostname())
    if not host.startswith("127."):
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((host, service.port), timeout=2)


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer é".encode(),
    ],
)
@pytest.mark.parametrize("path", ["/values", "/edges", "/attributes", "/remove", "/changes"])
def test_changes_need_the_token(service: Any, path: Any, given: Any) -> None:
    headers = {} if given is None else {"Authorization": given}
    method = "POST" if path in ("/remove", "/changes") else "PUT"
    answer = requests.request(method, f"{service.url}{path}", json={}, headers=headers, timeout=10)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json()["fields"][0]["field"] == "Authorization"
    assert TOKEN not in answer.text


def test_predictions_need_no_token(service: Any) -> None:
    for path in ("/state", "/predict?node=e", "/errors", "/metrics", "/", "/docs"):
        assert requests.get(f"{service.url}{path}", timeout=10).status_code == 200


def test_other_sites_cannot_change_state_through_a_browser(service: Any) -> None:
    authorization = {"Authorization": f"Bearer {TOKEN}"}
    foreign = [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": service.url, "Sec-Fetch-Site": "cross-site"},
    ]
    for headers in foreign:
        answer = put(service, **authorization, **headers)
        assert answer.status_code == 403, headers
    # What a page may ask for before it sends JSON is not granted.
    answer = requests.options(
        f"{service.url}/values",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"},
        timeout=10,
    )
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_foreign_host_names_are_refused(service: Any) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", ""):
        answer = requests.get(f"{service.url}/state", headers={"Host": host}, timeout=10)
        assert answer.status_code in (400, 421), host
    for host in ("localhost", f"127.0.0.1:{service.port}", "[::1]:80"):
        answer = requests.get(f"{service.url}/state", headers={"Host": host}, timeout=10)
        assert answer.status_code == 200, host


@pytest.mark.parametrize("path", ["/", "/docs", "/state", "/nothing", "/values", "/live.js"])
def test_answers_have_safe_headers(service: Any, path: Any) -> None:
    headers = requests.get(f"{service.url}{path}", timeout=10).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert "Server" not in headers


@pytest.mark.process
def test_service_without_a_token_lets_everyone_change(open_service: Any) -> None:
    service = open_service
    assert put(service, {"values": {"4": "low"}}).status_code == 200
    assert put(service, Origin="https://evil.example").status_code == 403
    answer = requests.put(
        f"{service.url}/values",
        data='{"values": {"e": 1}}',
        headers={"Content-Type": "text/plain"},
        timeout=10,
    )
    assert answer.status_code == 422
    assert answer.json()["error"] == "Content-Type: must be application/json"
    assert requests.head(f"{service.url}/state", timeout=10).status_code == 200
    assert requests.head(f"{service.url}/events", timeout=10).status_code == 405
    assert requests.head(f"{service.url}/studio", timeout=10).content == b""


@pytest.mark.process
def test_large_bodies_are_refused(open_service: Any) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    def chunks() -> Any:
        for _ in range(100):
            yield b" " * 1000

    for body in (b" " * 20_000, chunks()):
        url = f"{open_service.url}/values"
        answer = requests.put(url, data=body, headers=headers, timeout=10)
        assert answer.status_code == 413


@pytest.mark.process
def test_too_many_requests_are_refused_for_a_while(open_service: Any) -> None:
    # All at once: on a busy machine, one after the other would be too few in a second.
    n, statuses = 300, b""
    address = ("127.0.0.1", open_service.port)
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(n * b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while statuses.count(b"HTTP/1.1 ") < n and (part := connection.recv(65536)):
            statuses += part
    assert statuses.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 429 " in statuses
    time.sleep(0.5)
    assert requests.get(f"{open_service.url}/health", timeout=10).status_code == 200


def test_rates_are_limited_per_address() -> None:
    rates = Rates(2.0)
    assert [rates.allow("a") for _ in range(4)] == [True, True, False, False]
    assert rates.allow("b")
    for i in range(20_000):
        rates.allow(str(i))
    assert len(rates._left) <= 10_001
    time.sleep(0.6)
    assert rates.allow("19999")


def send_raw(service: Any, data: Any, seconds: Any = 5.0) -> Any:
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(data)
        found = b""
        try:
            while part := connection.recv(65536):
                found += part
                if b"\r\n\r\n" in found:
                    break
        except OSError:
            pass
        return found


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET /state HTTP/1.1\r\n\r\n",
        b"GET /state HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /predict?node=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PUT /values HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"PUT /values HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET /state HTTP/1.1\r\nHost: localhost\r\nAuthorization: \xff\xfe\r\n\r\n",
    ],
)
def test_malformed_http_is_answered_or_closed(service: Any, data: Any) -> None:
    found = send_raw(service, data)
    assert not found.startswith(b"HTTP/1.1 5"), found
    assert requests.get(f"{service.url}/health", timeout=10).status_code == 200


def test_endless_heads_are_cut_off(service: Any) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        endless = b"a" * 2**27
        with pytest.raises(OSError, match=r"reset|pipe"):
            connection.sendall(endless)


def connect_to(service: Any, trust: Any) -> Any:
    context = ssl.create_default_context(cafile=trust["verify"]) if trust else None
    return service.connect(context=context)


@pytest.mark.process
def test_service_answers_by_https_with_its_certificate(closed_service: Any) -> None:
    service, trust = closed_service
    if not trust:
        pytest.skip("openssl is not there to make a certificate")
    assert service.url.startswith("https://")
    with connect_to(service, trust) as client:
        assert client.predict(["e"]).shape == (1,)
    answer = requests.get(f"{service.url}/health", **trust, timeout=10)
    assert "max-age" in answer.headers["Strict-Transport-Security"]


@pytest.mark.process
def test_token_for_all_is_asked_for_questions_as_well(closed_service: Any) -> None:
    service, trust = closed_service
    for path in ("state", "metrics", "docs", "events", "studio/api/graph", "studio/api/about"):
        assert requests.get(f"{service.url}/{path}", **trust, timeout=10).status_code == 401
    # Files of the pages hold no data; a browser gets them, and sends the token afterwards.
    for path in ("", "live.js", "studio", "studio/main.js", "studio/panel.css", "health"):
        assert requests.get(f"{service.url}/{path}", **trust, timeout=10).status_code == 200
    with connect_to(service, trust) as client:
        assert client.predict(["e"]).shape == (1,)
    # A browser that follows a link asks for a password, and may look by it.
    for path in ("docs", "metrics", "openapi.json", "state"):
        ask = partial(requests.get, f"{service.url}/{path}", **trust, timeout=10)
        refused = ask(headers={"Sec-Fetch-Mode": "navigate"})
        assert refused.headers["WWW-Authenticate"].startswith("Basic realm=")
        by_script = ask(headers={"Sec-Fetch-Mode": "cors"})
        assert by_script.headers["WWW-Authenticate"] == "Bearer"
        for password, status in ((TOKEN, 200), ("", 401), (f"{TOKEN}x", 401)):
            assert ask(auth=("anyone", password)).status_code == status
        assert ask(headers={"Authorization": "Basic %%%"}).status_code == 401
    change = requests.put(f"{service.url}/values", json=BODY, auth=("", TOKEN), **trust, timeout=10)
    assert change.status_code == 401
