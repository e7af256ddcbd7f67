"""Errors and wrong usage of the command line: one sentence, and an exit code."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker.workflow import demo

GRADRAKER = [sys.executable, "-c", "from gradraker.cli import main; main(prog_name='gradraker')"]


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    def load_temperature(month: Any) -> None:
        raise error

    monkeypatch.setattr(demo, "load_temperature", load_temperature)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("month must be\n  one of jan"), "month must be one of jan"),
        (PermissionError(13, "Permission denied", "x.csv"), "x.csv: Permission denied"),
        (KeyError("jan"), "KeyError: 'jan' (run 'gradraker --debug ...' to see where)"),
        (ValueError(), "ValueError: (run 'gradraker --debug ...' to see where)"),
    ],
)
def test_an_error_is_one_sentence(
    run_in_folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, error: Any, message: str
) -> None:
    fail_with(monkeypatch, error)
    result = run_in_folder("demo")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert " ".join(result.stderr.split()) == f"Error: {message}"
    assert result.stderr.count("\n") == 1


def test_debug_lets_the_error_through(
    run_in_folder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ValueError("no"))
    result = run_in_folder("--debug", "demo")
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "x"],
        ["demo", "--out", "a-file"],
        ["demo", "--no-such-option"],
        ["no-such-command"],
        [],
    ],
)
def test_wrong_usage_is_exit_code_2(
    constant: type[Any], run_in_folder: Callable[..., Any], arguments: list[Any]
) -> None:
    Path("a-file").touch()
    result = run_in_folder(*arguments)
    assert result.exit_code == 2
    assert "Usage: gradraker" in result.stderr
    assert result.stdout == ""
    assert constant.made is None  # refused before any work


def run_process(*arguments: str, **options: Any) -> Any:
    return subprocess.run(
        [*GRADRAKER, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        **options,
    )


@pytest.mark.process
def test_process_error_has_no_traceback_unless_debug(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    fetch = ("data", "fetch", "temperature", "--edges", "a-file/sub")
    plain = run_process(*fetch, cwd=tmp_path)
    assert plain.returncode == 1
    assert plain.stderr.startswith("Error: a-file/sub")
    assert "Traceback" not in plain.stderr
    debug = run_process("--debug", *fetch, cwd=tmp_path)
    assert debug.returncode == 1
    assert "Traceback" in debug.stderr
