"""Downloads from a server on this machine, whole and broken, and their progress bar."""

import dataclasses
import gzip
import hashlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest

from gradraker.datasets import fetch_cora_con, fetch_email_eu_core, fetch_wikipedia_math
from gradraker.datasets.fetch.progress import ProgressBar
from gradraker.datasets.fetch.registry import REGISTRY
from gradraker.exceptions import DatasetUnavailableError
from small_datasets import (
    CORA_FILES,
    EDGES,
    EMAIL_FILES,
    put,
    register,
    remote,
    wikipedia,
)


@pytest.fixture
def small(monkeypatch):
    return register(monkeypatch)


@pytest.fixture
def server():
    """Answers by path; an answer is bytes, or (bytes, headers) to send as they are."""
    answers, asked = {}, []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path not in answers:
                self.send_error(404)
                return
            answer = answers[self.path]
            body, headers = answer if isinstance(answer, tuple) else (answer, {})
            self.send_response(200)
            for key, value in ({"Content-Length": len(body)} | headers).items():
                self.send_header(key, str(value))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        http.answers, http.asked = answers, asked
        http.url = f"http://127.0.0.1:{http.server_port}"
        yield http
        http.shutdown()
        thread.join()


def left_over(tmp_path):
    return sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if not p.is_dir())


@pytest.fixture
def email_server(small, server, monkeypatch):
    info = REGISTRY["email_eu_core"]
    files = []
    for file in info.files:
        content = EMAIL_FILES[file.name]
        files.append(dataclasses.replace(file, url=f"{server.url}/{file.name}.gz"))
        server.answers[f"/{file.name}.gz"] = gzip.compress(content)
    changed = dataclasses.replace(info, files=tuple(files))
    monkeypatch.setitem(REGISTRY, "email_eu_core", changed)
    return server


def test_download_unpacks_keeps_and_asks_once(email_server, tmp_path, monkeypatch, capfd, caplog):
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    home = tmp_path / "not yet" / "there"
    data = fetch_email_eu_core(data_home=home)
    assert data.n_edges == 4
    assert left_over(home) == [f"email_eu_core/{name}" for name in sorted(EMAIL_FILES)]
    assert (home / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES
    assert fetch_email_eu_core(data_home=home).n_edges == 4
    assert len(email_server.asked) == 2
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []  # nor does pooch speak through the logger


def test_download_of_one_missing_file_leaves_the_other_alone(email_server, tmp_path):
    put(tmp_path / "email_eu_core", **{"email-Eu-core.txt": EDGES + b"\n"})
    fetch_email_eu_core(data_home=tmp_path)
    assert email_server.asked == ["/email-Eu-core-department-labels.txt.gz"]
    assert (tmp_path / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES + b"\n"


def test_download_that_the_server_unpacks(email_server, tmp_path):
    for path, body in email_server.answers.items():
        email_server.answers[path] = (body, {"Content-Encoding": "gzip"})
    assert fetch_email_eu_core(data_home=tmp_path).n_edges == 4


PACKED = gzip.compress(EDGES)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "could not be downloaded: 404"),
        ((PACKED[:-9], {"Content-Length": len(PACKED)}), "the connection to 127.0.0.1 failed"),
        (PACKED[:-9], "email-Eu-core.txt.gz is damaged"),
        (b"\x1f\x8b but no gzip", "email-Eu-core.txt.gz is damaged"),
        (b"<html>Please log in</html>", "email-Eu-core.txt.gz does not have the expected content"),
        (gzip.compress(EDGES + b"0 2\n"), "does not have the expected content"),
        (gzip.compress(b"0" * 10_000_000), "does not have the expected content"),
        (b"", "does not have the expected content"),
    ],
)
def test_broken_downloads_leave_nothing(email_server, tmp_path, answer, message):
    if answer is None:
        del email_server.answers["/email-Eu-core.txt.gz"]
    else:
        email_server.answers["/email-Eu-core.txt.gz"] = answer
    with pytest.raises(DatasetUnavailableError, match=message) as caught:
        fetch_email_eu_core(data_home=tmp_path)
    assert f"get {email_server.url}/email-Eu-core.txt.gz" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert left_over(tmp_path) == []


def test_offline(small, tmp_path, server):
    closed = server.url
    small("email_eu_core", url=f"{closed}/email-Eu-core.txt.gz")
    server.shutdown()
    server.server_close()
    with pytest.raises(DatasetUnavailableError, match=r"the connection to 127\.0\.0\.1 failed"):
        fetch_email_eu_core(data_home=tmp_path)
    assert left_over(tmp_path) == []


def test_data_home_that_cannot_be_a_folder(email_server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetUnavailableError, match="could not be downloaded"):
        fetch_email_eu_core(data_home=tmp_path / "file")


def cora_archive(**members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in ({"../evil": b"!", "cora/README": b"?"} | members).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


CORA_MEMBERS = {f"cora/{name}": content for name, content in CORA_FILES.items()}


def test_download_of_an_archive_takes_its_two_members_only(small, server, tmp_path):
    archive = cora_archive(**CORA_MEMBERS)
    checksum = hashlib.sha256(archive).hexdigest()
    small("cora", url=f"{server.url}/cora.tgz", archive_sha256=checksum)
    server.answers["/cora.tgz"] = archive
    assert fetch_cora_con(data_home=tmp_path / "home").n_nodes == 2
    assert left_over(tmp_path) == ["home/cora/cora.cites", "home/cora/cora.content"]
    assert server.asked == ["/cora.tgz"]


@pytest.mark.parametrize(
    ("members", "right_checksum", "message"),
    [
        (CORA_MEMBERS, False, "cora.tgz does not have the expected content"),
        ({}, True, "cora.tgz is damaged: .*cora/cora.cites"),
        (CORA_MEMBERS | {"cora/cora.cites": b"31\t7\n"}, True, "not have the expected content"),
    ],
)
def test_wrong_archives_leave_nothing(small, server, tmp_path, members, right_checksum, message):
    archive = cora_archive(**members)
    checksum = hashlib.sha256(archive if right_checksum else b"").hexdigest()
    small("cora", url=f"{server.url}/cora.tgz", archive_sha256=checksum)
    server.answers["/cora.tgz"] = archive
    with pytest.raises(DatasetUnavailableError, match=message):
        fetch_cora_con(data_home=tmp_path)
    assert left_over(tmp_path) == []


def test_archives_that_the_user_put_there_are_unpacked(small, tmp_path):
    put(tmp_path / "cora", **{"cora.tgz": cora_archive(**CORA_MEMBERS)})
    assert fetch_cora_con(data_home=tmp_path, download=False).n_nodes == 2
    packed = {f"{name}.gz": gzip.compress(content) for name, content in EMAIL_FILES.items()}
    put(tmp_path / "email_eu_core", **packed)
    assert fetch_email_eu_core(data_home=tmp_path, download=False).n_edges == 4
    assert (tmp_path / "email_eu_core" / "email-Eu-core.txt").read_bytes() == EDGES


def test_download_of_a_plain_file(small, server, tmp_path, monkeypatch):
    body = json.dumps(wikipedia()).encode()
    info = REGISTRY["wikipedia_math"]
    url = f"{server.url}/wikivital_mathematics.json"
    changed = dataclasses.replace(info, files=(remote(info.files[0], body, url=url),))
    monkeypatch.setitem(REGISTRY, "wikipedia_math", changed)
    server.answers["/wikivital_mathematics.json"] = body[:-1]
    with pytest.raises(DatasetUnavailableError, match="expected content"):
        fetch_wikipedia_math(data_home=tmp_path)
    assert left_over(tmp_path) == []
    server.answers["/wikivital_mathematics.json"] = body
    assert fetch_wikipedia_math(data_home=tmp_path).n_edges == 3
    assert left_over(tmp_path) == ["wikipedia_math/wikivital_mathematics.json"]


def test_progress_bar_is_drawn_for_slow_downloads_only(monkeypatch):
    quick = io.StringIO()
    bar = ProgressBar("quick.gz", quick)
    bar.total = 100
    bar.update(100)
    bar.close()
    assert quick.getvalue() == ""
    monkeypatch.setattr(ProgressBar, "DELAY_SECONDS", 0.0)
    slow = io.StringIO()
    bar = ProgressBar("slow.gz", slow)
    bar.total = 4_000_000
    bar.update(2_000_000)
    bar.reset()
    bar.update(4_000_000)
    bar.close()
    drawn = slow.getvalue().split("\r")
    half = "#" * 15 + " " * 15
    assert drawn[1] == f"slow.gz [{half}]  50% 2.0 MB"
    assert drawn[-1] == f"slow.gz [{'#' * 30}] 100% 4.0 MB\n"


def test_progress_bar_without_a_known_size(monkeypatch):
    monkeypatch.setattr(ProgressBar, "DELAY_SECONDS", 0.0)
    stream = io.StringIO()
    bar = ProgressBar("stream.gz", stream)
    bar.update(1_500_000)
    assert stream.getvalue() == "\rstream.gz 1.5 MB"


def test_download_on_a_terminal_draws_the_bar(email_server, tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(ProgressBar, "DELAY_SECONDS", 0.0)
    fetch_email_eu_core(data_home=tmp_path)
    assert "email-Eu-core.txt.gz [" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")
