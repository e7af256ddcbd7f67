"""``gradraker predict`` refuses wrong options and data, and leaves files whole."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradraker


def is_told(line: Any) -> Any:
    """Whether a line says how a file was read."""
    return ": read as: " in line or "taken as directed" in line


def assert_refused(result: Any, code: Any, *words: Any) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    message = " ".join(result.stderr.split())
    for word in words:
        assert word in message, message


# -- refusals ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sigma2", "0"],
        ["--sigma2", "-1"],
        ["--sigma2", "nan"],
        ["--sigma2", "inf"],
        ["--sigma2", "magic"],
        ["--learning-rate", "1"],
        ["--learning-rate", "nan"],
        ["--epochs", "0"],
        ["--frequencies", "0"],
        ["--hops", "0"],
        ["--seed", "-1"],
        ["--seed", "4294967296"],
        ["--top", "-1"],
        ["--kernel", "cubic"],
        ["--direction", "up"],
        ["--out", "-", "--json"],
        ["--out", "-", "--report", "-"],
        ["--model", "-"],
        ["--out", "same", "--report", "same"],
        ["--out", "edges.csv"],
        ["--model", "./known.csv"],
        ["--out", ""],
    ],
)
def test_predict_refuses_wrong_options(
    predict: Callable[..., Any], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert_refused(predict(*arguments), 2, "Usage: gradraker predict")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_two_standard_inputs_are_refused(predict: Callable[..., Any]) -> None:
    assert_refused(predict(edges="-", values="-"), 2, "only one of --edges and --values")


def test_missing_files_are_exit_code_1(predict: Callable[..., Any]) -> None:
    assert_refused(predict(edges="none.csv"), 1, "none.csv: No such file or directory")
    assert_refused(predict(values="none.csv"), 1, "none.csv: No such file or directory")


def test_folders_instead_of_files_are_refused(predict: Callable[..., Any]) -> None:
    Path("folder").mkdir()
    assert_refused(predict(edges="folder"), 1, "folder: Is a directory")
    for option in ("--out", "--report", "--model"):
        assert_refused(predict(option, "folder"), 1, "folder: is a folder")
        assert_refused(predict(option, "none/file"), 1, "the folder 'none' does not exist")


def test_an_unreadable_file_is_refused(predict: Callable[..., Any]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    Path("edges.csv").chmod(0)
    assert_refused(predict(), 1, "edges.csv: Permission denied")


@pytest.mark.parametrize(
    ("edges", "values", "message"),
    [
        (b"", b"a,1\n", "e.csv: the file is empty"),
        (b"a,b\n", b"", "v.csv: the file is empty"),
        (b"a,b\nb,c,d,e\n", b"a,1\n", "e.csv, line 2"),
        (b"a,b\nb,a\n", b"a,1\nb,x\n", "v.csv, line 2"),
        (b"a,b\nb,c\n", b"a,1\na,2\n", "v.csv, line 2"),
        (
            b"a,b\nb,c\n",
            b"a,1\nz,2\n",
            "v.csv holds nodes without edges: 'z'; pass --unknown-nodes ignore",
        ),
        (b"a,b\nb,c\n", b"a,\nb,\n", "no node of the graph has a known value"),
        (b"\x1f\x8bno gzip", b"a,1\n", "e.csv: the gzip data"),
        (b"\x00\xff\xfe", b"a,1\n", "e.csv"),
    ],
)
def test_wrong_data_are_refused_with_one_sentence(
    run_here: Callable[..., Any], edges: bytes, values: bytes, message: str
) -> None:
    Path("e.csv").write_bytes(edges)
    Path("v.csv").write_bytes(values)
    Path("p.csv").write_text("old")
    files = ["--edges", "e.csv", "--values", "v.csv", "--out", "p.csv", "--report", "r.html"]
    result = run_here("predict", *files)
    assert_refused(result, 1, message)
    lines = [line for line in result.stderr.splitlines() if not is_told(line)]
    assert len(lines) == 1
    assert Path("p.csv").read_text() == "old"
    assert not Path("r.html").exists()


def test_debug_shows_the_traceback(run_here: Callable[..., Any]) -> None:
    Path("e.csv").write_bytes(b"")
    result = run_here("--debug", "predict", "--edges", "e.csv", "--values", "e.csv")
    assert result.exit_code == 1
    assert isinstance(result.exception, gradraker.exceptions.GraphFileError)


def test_report_without_jinja2_writes_nothing(
    predict: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = predict("--report", "r.html", "--out", "p.csv")
    assert_refused(result, 1, "pip install 'gradraker[report]'")
    assert not Path("p.csv").exists()
    # Without a report it is not needed.
    assert predict("--out", "p.csv").exit_code == 0


# -- outputs are whole ---------------------------------------------------------


def test_a_failing_writer_leaves_the_old_file_and_no_temporary_files(
    predict: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("p.csv").write_text("old")

    def write(file: Any) -> None:
        file.write(b"node,known,val")
        file.flush()
        raise OSError(28, "No space left on device")

    before = sorted(os.listdir())
    monkeypatch.setattr("gradraker.cli.output.make_csv", lambda rows: write)
    assert_refused(predict("--out", "p.csv"), 1, "p.csv: No space left on device")
    assert Path("p.csv").read_text() == "old"
    assert sorted(os.listdir()) == before
