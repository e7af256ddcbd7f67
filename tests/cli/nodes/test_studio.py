"""``gradraker studio``: wrong options are refused with one sentence."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EDGES = "source,target\na,b\nb,c\nc,d\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "give --edges and --values, or --model, or --demo"),
        (("--demo", "--model", "m.gr"), "--demo and --model cannot be given together"),
        (("--values", "v.csv"), "give --edges and --values"),
        (("--edges", "e.csv"), "--edges needs --values"),
        (("--demo", "--values", "v.csv"), "--values needs --edges"),
        (("--demo", "--positions", "p.csv"), "leave --positions out"),
        (("--demo", "--attributes", "a.csv"), "--attributes needs --edges and --values"),
        (("--demo", "--port", "99999"), "99999 is not in the range"),
        (("--edges", "e.csv", "--values", "v.csv", "--value", "a,b"), "--value names 2 columns"),
    ],
)
def test_wrong_options_of_studio_are_exit_code_2(
    run: Callable[..., Any], words: Any, text: str
) -> None:
    result = run("studio", *words)
    assert result.exit_code == 2
    assert text in " ".join(result.stderr.split())


def test_missing_and_wrong_files_are_refused(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "v.csv").write_text("node,value\nzz,1\n")
    words = ("--edges", "e.csv", "--values", "v.csv", "--no-browser")
    result = run("studio", *words, cwd=tmp_path)
    assert result.exit_code == 1
    assert "zz" in result.stderr
    result = run("studio", "--model", "none.gr", cwd=tmp_path)
    assert result.exit_code == 1
    assert "none.gr" in result.stderr


def test_missing_packages_are_named(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
    monkeypatch.setitem(sys.modules, "igraph", None)
    result = run("studio", "--demo", "--no-browser")
    assert result.exit_code == 1
    assert "pip install 'gradraker[studio]'" in result.stderr
