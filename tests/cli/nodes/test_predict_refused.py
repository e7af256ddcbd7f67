"""``gradraker predict`` refuses wrong options and data, and leaves files whole."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradraker
from gradraker.exceptions import TooFewValuesError


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
def test_wrong_options_of_predict_are_exit_code_2(
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


@pytest.mark.parametrize(
    "values",
    [
        "node,value\n12,1.0\n13,2.0\n14,3.5\n1,7.0\n",  # a name that begins others
        "value,node\n1.0,12\n2.0,13\n3.5,14\n7.0,1\n",  # a name in another column
        "# known\nnode,value\n12,1.0\n\n1,7.0\n",  # lines without data
    ],
)
def test_message_names_the_line_of_a_node_without_edges(
    predict: Callable[..., Any], run_here: Callable[..., Any], values: str
) -> None:
    Path("e.csv").write_text("source,target\n12,13\n13,14\n14,15\n")
    Path("v.csv").write_text(values)
    assert_refused(predict(edges="e.csv", values="v.csv"), 1, "isolated to keep them (line 5)")
    read = predict(edges="e.csv", values="-", input=values)
    assert_refused(read, 1, "standard input holds nodes without edges: '1'")
    assert "(line 5)" in read.stderr
    Path("w.csv").write_text("node,value\n12,1.0\n13,2.0\n")
    assert predict("--model", "m.gr", edges="e.csv", values="w.csv").exit_code == 0
    assert_refused(run_here("update", "--model", "m.gr", "--values", "v.csv"), 1, "(line 5)")


def test_too_few_values_are_told_with_the_option_that_helps(predict: Callable[..., Any]) -> None:
    Path("v.csv").write_text("node,value\nBasel / Binningen,1.0\n")
    told = "give more values, or --sigma2 NUMBER"
    assert_refused(
        predict("--method", "skg", values="v.csv"), 1, "v.csv: only 1 value is known", told
    )
    with pytest.raises(TooFewValuesError, match="give more values, or sigma2 as a number"):
        gradraker.SKGNodeRegressor().fit([("a", "b")], {"a": 1.0})


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
