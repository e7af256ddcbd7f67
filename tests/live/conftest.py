"""A small service that tests of the API share."""

import shutil
import signal
import subprocess
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")


import pytest
import requests

from gradraker import NodeClassifier, NodeRegressor
from live_service import HEADERS, LiveService
from postgres_server import PostgresServer

EDGES = [("a", "x"), ("b", "x"), ("c", "u"), ("d", "u"), ("a", "y"), ("c", "v"), ("e", "x")]
VALUES = {"a": 1.0, "b": 1.5, "c": 9.0, "d": 8.0}


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: Any) -> Any:
    """A model of numbers at ten nodes, six of them unknown."""
    return NodeRegressor().fit(EDGES, VALUES).save(tmp_path_factory.mktemp("live") / "model.gr")


@pytest.fixture(scope="session")
def label_file(tmp_path_factory: Any) -> Any:
    """A model of labels at the same nodes, which are named by integers."""
    number = {name: i for i, name in enumerate("abcdexyuv")}
    edges = np.array([(number[a], number[b]) for a, b in EDGES])
    labels = {number[n]: "low" if v < 5.0 else "high" for n, v in VALUES.items()}
    model = NodeClassifier().fit(edges, labels)
    return model.save(tmp_path_factory.mktemp("labels") / "model.gr")


@pytest.fixture(scope="session")
def service(model_file: Any, tmp_path_factory: Any) -> Any:
    """A running service, whose nodes a to e, x, y, u and v tests must leave as they are."""
    journal = tmp_path_factory.mktemp("journal") / "live.db"
    with LiveService("--model", model_file, journal=journal, forked=True) as running:
        yield running


@pytest.fixture(scope="session")
def open_service(label_file: Any, tmp_path_factory: Any) -> Any:
    """A service of labels, with integers for names, that limits sizes and rates.

    It starts as a user would start it, and asks for no token. Tests may say that node 4 is low,
    and must leave the rest as it is.
    """
    options = ("--model", label_file, "--token-for", "nothing", "--max-body", 10_000, "--rate", 50)
    journal = tmp_path_factory.mktemp("open") / "live.db"
    running = LiveService(*options, journal=journal)
    try:
        yield running.wait_until_ready()
    finally:
        running.stop(signal.SIGKILL)  # nothing of it is looked at any more, and this takes no time


def make_certificate(folder: Any) -> Any:
    if shutil.which("openssl") is None:
        return None, None
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        return None, None
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture(scope="session")
def closed_service(model_file: Any, tmp_path_factory: Any) -> Any:
    """A service that asks for the token everywhere, over HTTPS where a certificate can be made.

    With options for requests that trust its certificate. Tests must leave its model as it is.
    """
    folder = tmp_path_factory.mktemp("closed")
    certificate, key = make_certificate(folder)
    options = ["--model", model_file, "--token-for", "all"]
    trust = {}
    if certificate is not None:
        options += ["--tls-cert", certificate, "--tls-key", key]
        trust = {"verify": str(certificate)}
    service = LiveService(*options, journal=folder / "live.db", forked=True)
    try:
        yield service.wait_until_ready(**trust), trust
    finally:
        service.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def postgres() -> Any:
    """A PostgreSQL server; tests that need it are skipped where it is not installed."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def send(service: Any) -> Any:
    """Send a request: ``send("PUT", "/values", {...})``."""

    def send(
        method: Any, path: Any, body: Any = None, url: Any = service.url, **options: Any
    ) -> Any:
        headers = HEADERS | options.pop("headers", {})
        return requests.request(
            method, f"{url}{path}", json=body, headers=headers, timeout=30, **options
        )

    return send


@pytest.fixture
def learn(send: Any, service: Any) -> Any:
    """Send a change and wait until it is learned."""

    def learn(method: Any, path: Any, body: Any, **options: Any) -> Any:
        answer = send(method, path, body, **options)
        assert answer.status_code == 200, answer.text
        service.connect().wait(answer.json()["last_seq"])
        return answer.json()

    return learn
