"""``gradraker serve``: wrong options are refused before anything is started."""

import sys
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "m.gr", "--edges", "e.csv"], "--model and --edges cannot be given together"),
        (["--model", "m.gr", "--demo"], "--model and --demo cannot be given together"),
        (["--edges", "e.csv"], "--edges needs --values"),
        (["--values", "v.csv"], "--values needs --edges"),
        (["--demo", "--labels"], "--labels cannot be given with --demo"),
        (["--tls-cert", "c.pem"], "--tls-cert and --tls-key must be given together"),
        (["--token", "short"], "--token must have at least 8 printable ASCII characters"),
        (["--token-for", "nothing", "--host", "0.0.0.0"], "is for --host 127.0.0.1 only"),
        (["--port", "70000"], "--port"),
        (["--rate", "0"], "--rate"),
        (
            ["--edges", "e.csv", "--values", "v.csv", "--value", "a,b"],
            "--value names 2 columns, and this command takes one: --value a;",
        ),
    ],
)
def test_wrong_options_of_serve_are_exit_code_2(run: Any, words: Any, message: Any) -> None:
    result = run("serve", *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_files_that_are_missing_or_wrong(run: Any, tmp_path: Any) -> None:
    result = run("serve", "--model", "none.gr", "--journal", tmp_path / "live.db", cwd=tmp_path)
    assert result.exit_code == 1
    assert "none.gr" in result.stderr
    assert not (tmp_path / "live.db").exists()
    result = run("serve", "--journal", tmp_path / "nothing" / "live.db")
    assert result.exit_code == 1
    assert "is in a folder that does not exist" in result.stderr
    text = tmp_path / "text.db"
    text.write_text("no database" * 100)
    result = run("serve", "--journal", text)
    assert result.exit_code == 1
    assert "is not a journal" in result.stderr
    result = run("serve", "--tls-cert", "no.pem", "--tls-key", "no.key", cwd=tmp_path)
    assert result.exit_code == 1
    assert "no.pem: No such file" in result.stderr


def test_without_the_extra_it_says_what_to_install(run: Any, monkeypatch: Any) -> None:
    for name in [name for name in sys.modules if name.startswith("gradraker.live")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("serve", "--demo")
    assert result.exit_code == 1
    assert "pip install 'gradraker[serve]'" in result.stderr
