"""Downloads from a server on this machine, whole and broken, and their progress bar."""

import dataclasses
import gzip
import hashlib
import io
import json
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pooch
import pytest

from gradraker.datasets import fetch_cora_con, fetch_email_eu_core, fetch_wikipedia_math
from gradraker.datasets.fetch import cora, download, email, wikipedia
from gradraker.exceptions import DatasetUnavailableError
from small_datasets import (
    CORA_FILES,
    EDGES,
    EMAIL_FILES,
    put,
    remote,
    wikipedia_content,
)


@pytest.fixture
def server() -> Iterator[Any]:
    """Answers by path; an answer is bytes, or (bytes, headers) to send as they are."""
    answers, requested = {}, []  # type: ignore[var-annotated]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            if self.path not in answers:
                self.send_error(404)
                return
            answer = answers[self.path]
            body, headers = answer if isinstance(answer, tuple) else (answer, {})
            self.send_response(200)
            for key, value in ({"Content-Length": len(body)} | headers).items():
                if value is not None:
                    self.send_header(key, str(value))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        http.answers, http.requested = answers, requested  # type: ignore[attr-defined]
        http.url = f"http://127.0.0.1:{http.server_port}"  # type: ignore[attr-defined]
        yield http
        http.shutdown()
        thread.join()


def left_over(tmp_path: Path) -> list[Any]:
    return sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if not p.is_dir())


@pytest.fixture
def email_server(small: Callable[..., Any], server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    files = []
    for file in email.INFO.files:
        content = EMAIL_FILES[file.name]
        files.append(dataclasses.replace(file, url=f"{server.url}/{file.name}.gz"))
        server.answers[f"/{file.name}.gz"] = gzip.compress(content)
    monkeypatch.setattr(email, "INFO", dataclasses.replace(email.INFO, files=tuple(files)))
    return server


def test_download_unpacks_keeps_and_requests_once(
    email_server: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: Any,
) -> None:
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    home = tmp_path / "not yet" / "there"
    data = fetch_email_eu_core(data_home=home)
    assert data.n_edges == 4
    assert left_over(home) == [f"email_eu_core/{name}" for name in sorted(EMAIL_FILES)]
    assert (home / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES
    assert fetch_email_eu_core(data_home=home).n_edges == 4
    assert len(email_server.requested) == 2
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []  # nor does pooch speak through the logger


def test_download_of_one_missing_file_leaves_the_other_alone(
    email_server: Any, tmp_path: Path
) -> None:
    put(tmp_path / "email_eu_core", **{"email-Eu-core.txt": EDGES + b"\n"})
    fetch_email_eu_core(data_home=tmp_path)
    assert email_server.requested == ["/email-Eu-core-department-labels.txt.gz"]
    assert (tmp_path / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES + b"\n"


def test_download_that_the_server_unpacks(email_server: Any, tmp_path: Path) -> None:
    for path, body in email_server.answers.items():
        email_server.answers[path] = (body, {"Content-Encoding": "gzip"})
    assert fetch_email_eu_core(data_home=tmp_path).n_edges == 4


PACKED = gzip.compress(EDGES, mtime=0)  # the same in every worker process


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "could not be downloaded: 404"),
        ((PACKED[:-9], {"Content-Length": len(PACKED)}), "the connection to 127.0.0.1 failed"),
        (PACKED[:-9], "email-Eu-core.txt.gz is damaged"),
        (b"\x1f\x8b but no gzip", "email-Eu-core.txt.gz is damaged"),
        (b"<html>Please log in</html>", "email-Eu-core.txt.gz does not have the expected content"),
        (gzip.compress(EDGES + b"0 2\n", mtime=0), "does not have the expected content"),
        (gzip.compress(b"0" * 10_000_000, mtime=0), "does not have the expected content"),
        (b"", "does not have the expected content"),
    ],
)
def test_broken_downloads_leave_nothing(
    email_server: Any, tmp_path: Path, answer: bytes | tuple[Any, ...] | None, message: str
) -> None:
    if answer is None:
        del email_server.answers["/email-Eu-core.txt.gz"]
    else:
        email_server.answers["/email-Eu-core.txt.gz"] = answer
    with pytest.raises(DatasetUnavailableError, match=message) as caught:
        fetch_email_eu_core(data_home=tmp_path)
    assert f"get {email_server.url}/email-Eu-core.txt.gz" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left_over(tmp_path) == []


def test_download_without_a_connection_is_refused_and_leaves_nothing(
    small: Callable[..., Any], tmp_path: Path, server: Any
) -> None:
    closed = server.url
    small(email, url=f"{closed}/email-Eu-core.txt.gz")
    server.shutdown()
    server.server_close()
    with pytest.raises(DatasetUnavailableError, match=r"the connection to 127\.0\.0\.1 failed"):
        fetch_email_eu_core(data_home=tmp_path)
    assert left_over(tmp_path) == []


def test_data_home_that_is_a_file_is_refused(email_server: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetUnavailableError, match="could not be downloaded"):
        fetch_email_eu_core(data_home=tmp_path / "file")


def cora_archive(**members: Any) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in ({"../evil": b"!", "cora/README": b"?"} | members).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


CORA_MEMBERS = {f"cora/{name}": content for name, content in CORA_FILES.items()}


def test_download_of_an_archive_takes_its_two_members_only(
    small: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    archive = cora_archive(**CORA_MEMBERS)
    checksum = hashlib.sha256(archive).hexdigest()
    small(cora, url=f"{server.url}/cora.tgz", archive_sha256=checksum)
    server.answers["/cora.tgz"] = archive
    assert fetch_cora_con(data_home=tmp_path / "home").n_nodes == 2
    assert left_over(tmp_path) == ["home/cora/cora.cites", "home/cora/cora.content"]
    assert server.requested == ["/cora.tgz"]


@pytest.mark.parametrize(
    ("members", "right_checksum", "message"),
    [
        (CORA_MEMBERS, False, "cora.tgz does not have the expected content"),
        ({}, True, "cora.tgz is damaged: .*cora/cora.cites"),
        (CORA_MEMBERS | {"cora/cora.cites": b"31\t7\n"}, True, "not have the expected content"),
    ],
)
def test_wrong_archives_leave_nothing(
    small: Callable[..., Any],
    server: Any,
    tmp_path: Path,
    members: dict[Any, Any],
    right_checksum: bool,
    message: str,
) -> None:
    archive = cora_archive(**members)
    checksum = hashlib.sha256(archive if right_checksum else b"").hexdigest()
    small(cora, url=f"{server.url}/cora.tgz", archive_sha256=checksum)
    server.answers["/cora.tgz"] = archive
    with pytest.raises(DatasetUnavailableError, match=message):
        fetch_cora_con(data_home=tmp_path)
    assert left_over(tmp_path) == []


def test_archives_that_the_user_put_there_are_unpacked(
    small: Callable[..., Any], tmp_path: Path
) -> None:
    put(tmp_path / "cora", **{"cora.tgz": cora_archive(**CORA_MEMBERS)})
    assert fetch_cora_con(data_home=tmp_path, download=False).n_nodes == 2
    packed = {f"{name}.gz": gzip.compress(content) for name, content in EMAIL_FILES.items()}
    put(tmp_path / "email_eu_core", **packed)
    assert fetch_email_eu_core(data_home=tmp_path, download=False).n_edges == 4
    assert (tmp_path / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES


def test_download_of_a_plain_file(
    small: Callable[..., Any], server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps(wikipedia_content()).encode()
    info = wikipedia.INFO
    url = f"{server.url}/wikivital_mathematics.json"
    changed = dataclasses.replace(info, files=(remote(info.files[0], body, url=url),))
    monkeypatch.setattr(wikipedia, "INFO", changed)
    server.answers["/wikivital_mathematics.json"] = body[:-1]
    with pytest.raises(DatasetUnavailableError, match="expected content"):
        fetch_wikipedia_math(data_home=tmp_path)
    assert left_over(tmp_path) == []
    server.answers["/wikivital_mathematics.json"] = body
    assert fetch_wikipedia_math(data_home=tmp_path).n_edges == 3
    assert left_over(tmp_path) == ["wikipedia_math/wikivital_mathematics.json"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fetch_on_terminal(tmp_path: Path, *, bar_after: float) -> Any:
    """Fetch with standard error on a terminal; returns what was drawn there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", Terminal())
        patch.setattr(download, "BAR_AFTER_SECONDS", bar_after)
        assert fetch_email_eu_core(data_home=tmp_path).n_edges == 4
        assert sys.stderr is not None
        return sys.stderr.getvalue()  # type: ignore[union-attr]


def test_quick_download_draws_no_bar(email_server: Any, tmp_path: Path) -> None:
    assert fetch_on_terminal(tmp_path, bar_after=1.0) == ""


def test_slow_download_draws_a_bar_with_name_part_and_size(
    email_server: Any, tmp_path: Path
) -> None:
    email_server.answers["/email-Eu-core.txt.gz"] += bytes(
        4_000_000
    )  # gzip may have zeros after it
    drawn = fetch_on_terminal(tmp_path, bar_after=0.0)
    last = drawn.split("email-Eu-core-department-labels")[0].split("\r")[-2]
    assert last.startswith("email-Eu-core.txt.gz: 100%|##########| 4.00M/4.00M [")
    assert drawn.endswith("\n")


def test_bar_of_a_download_of_unknown_size_counts(email_server: Any, tmp_path: Path) -> None:
    body = email_server.answers["/email-Eu-core.txt.gz"]
    email_server.answers["/email-Eu-core.txt.gz"] = (body, {"Content-Length": None})
    assert "\remail-Eu-core.txt.gz: 65.5kB [" in fetch_on_terminal(tmp_path, bar_after=0.0)


def test_no_bar_where_standard_error_is_not_a_terminal(
    email_server: Any,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(download, "BAR_AFTER_SECONDS", 0.0)
    fetch_email_eu_core(data_home=tmp_path)
    assert capfd.readouterr() == ("", "")


def test_data_home_is_the_argument_then_the_variable_then_the_cache(
    small: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / f"cache-{project}")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "variable"))
    places = {"argument": tmp_path / "argument"}
    with pytest.raises(DatasetUnavailableError, match="variable"):
        fetch_email_eu_core(download=False)
    with pytest.raises(DatasetUnavailableError, match="argument"):
        fetch_email_eu_core(data_home=places["argument"], download=False)
    monkeypatch.setenv("GRADRAKER_DATA", "")
    with pytest.raises(DatasetUnavailableError, match="cache-gradraker"):
        fetch_email_eu_core(download=False)
    put(tmp_path / "cache-gradraker" / "email_eu_core", **EMAIL_FILES)
    assert fetch_email_eu_core(download=False).n_nodes == 3


def test_error_of_a_missing_file_names_its_place_url_and_checksum(
    small: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(DatasetUnavailableError) as caught:
        fetch_email_eu_core(data_home=tmp_path, download=False)
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert "'email-Eu-core.txt' is not in" in message
    assert str(tmp_path / "email_eu_core") in message
    assert "https://snap.stanford.edu/data/email-Eu-core.txt.gz" in message
    assert hashlib.sha256(EDGES).hexdigest() in message
    assert not (tmp_path / "email_eu_core").exists()
