"""Benchmarks over time: runs are kept as lines, and compared with the last of their kind."""

import json
from pathlib import Path
from typing import Any

import pytest

import history
import last_run
import run_all
from history import Change
from report import Agreement, Finding, Report, table


def make_results(speed: float, memory: float = 1.0) -> dict[str, object]:
    found = (Finding("speed", speed), Finding("memory", memory, unit=" GB", at_most=True))
    return {"bench_fit": Report("Fit", found, (Agreement("sums", 0.0, 1e-9),)), "other": 3.0}


def test_a_run_is_one_line_of_json_with_commit_and_machine(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history.keep_run(make_results(10.0), "short", path)
    [line] = [json.loads(text) for text in path.read_text("utf-8").splitlines()]
    assert set(line) == {"date", "commit", "size", "load", "machine", "findings", "tables"}
    assert line["machine"]["processor"]
    assert line["findings"] == {
        "bench_fit": {
            "speed": {"value": 10.0, "unit": "×", "aim": None, "at_most": False},
            "memory": {"value": 1.0, "unit": " GB", "aim": None, "at_most": True},
        }
    }


def test_what_got_slower_is_said(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert "Nothing to compare with" in history.keep_run(make_results(10.0), "short", path)
    assert "Nothing changed beyond noise" in history.keep_run(make_results(9.0), "short", path)
    said = history.keep_run(make_results(4.5, memory=0.5), "short", path)
    worse, better = said.split("Better:")
    assert "speed: 9 → 4.5, 2.00 times worse" in worse
    assert "memory: 1 → 0.5, 2.00 times better" in better
    assert len(history.read_history(path)) == 3


@pytest.mark.parametrize(
    "change", [{"size": "full"}, {"machine": {"processor": "x", "cores": "1"}}]
)
def test_runs_of_another_size_or_machine_are_not_compared(change: dict[str, Any]) -> None:
    line = history.make_line(make_results(1.0), "short")
    assert list(history.compare_runs([line], line))
    assert not list(history.compare_runs([line | change], line))


def test_small_is_good_for_times_and_memory() -> None:
    assert Change("b", "memory", 2.0, 1.0, at_most=True).factor == 2.0
    assert Change("b", "speed", 2.0, 1.0, at_most=False).factor == 0.5
    assert history.describe_finding(Finding("a fit", 2.0, unit=" s"))["at_most"]
    assert not history.describe_finding(Finding("speed", 2.0))["at_most"]


def test_the_picture_is_drawn_and_the_same_each_time(tmp_path: Path) -> None:
    runs = [history.make_line(make_results(speed), "short") for speed in (3.0, 4.0)]
    for name in ("a.svg", "b.svg"):
        history.draw_history(runs, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_some_benchmarks_can_be_chosen() -> None:
    assert run_all.take_names(["--tiny", "--only", "fit,online"]) == (
        ["--tiny"],
        ["bench_fit", "bench_online"],
    )
    with pytest.raises(SystemExit, match="--only must name benchmarks, got swift"):
        run_all.take_names(["--only", "swift"])


def make_peers() -> dict[str, object]:
    rows = [["the mean", "0.4 ± 0.1"], ["NodeRegressor", "0.1 ± 0.02"]]
    tables = ("absent and left out: GCN", table(["GNMSE", "Block"], rows))
    found = (Finding("Block: GNMSE over the best peer's", 0.9, 1.0, "", True),)
    return {"bench_peers": Report("Peers", found, (), tables)}


def test_the_page_of_the_last_run_has_its_numbers_machine_and_date(tmp_path: Path) -> None:
    lines = [history.make_line(make_results(speed), "short") for speed in (3.0, 4.0)]
    page = last_run.format_page([*lines, history.make_line(make_peers(), "full")])
    assert "| speed | 4× |  |" in page
    assert "3×" not in page
    assert "| NodeRegressor | 0.1 ± 0.02 |" in page
    assert "| Block: GNMSE over the best peer's | 0.9 | at most 1 |" in page
    assert "absent and left out: GCN" in page
    assert lines[1]["date"][:10] in page
    assert lines[1]["machine"]["numpy"] in page


def test_the_picture_of_errors_shows_the_table_of_peers(tmp_path: Path) -> None:
    rows = last_run.read_errors(last_run.PEERS.read_text("utf-8"))
    assert rows[0][:2] == ["GNMSE", "Temperature-Jan"]
    assert {"the mean", "NodeRegressor"} <= {row[0] for row in rows}
    page, picture = tmp_path / "page.md", tmp_path / "errors.svg"
    last_run.write_page([history.make_line(make_results(3.0), "short")], page, picture)
    assert "speed" in page.read_text("utf-8")
    assert b"<svg" in picture.read_bytes()
    with pytest.raises(ValueError, match="GNMSE"):
        last_run.read_errors("no table")
