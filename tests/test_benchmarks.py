"""Every benchmark runs, tiny, finds numbers and checks that results agree; no time is asserted."""

import math
from collections.abc import Iterator, Mapping
from importlib import import_module

import pytest

import machine
import report
import run_all
from browser import MISSING, browser
from report import Agreement, Finding, Report, Timing


def _numbers(result: object) -> Iterator[float]:
    """All numbers in what a benchmark returned."""
    if isinstance(result, Report):
        yield from (finding.value for finding in result.findings)
    elif isinstance(result, Mapping):
        for value in result.values():
            yield from _numbers(value)
    else:
        assert isinstance(result, int | float)
        yield float(result)


# These compare errors, not times of equal work, so there is nothing that must agree.
WITHOUT_TIMED_PEERS = {"bench_auto", "bench_made", "bench_privacy", "bench_sigma2"}


# These start processes, load large peers, or need large work to measure anything.
SLOW = {
    "bench_attributes",
    "bench_cluster",
    "bench_few_known",
    "bench_filtered",
    "bench_intervals",
    "bench_large",
    "bench_live",
    "bench_made",
    "bench_peers",
    "bench_real_size",
    "bench_start",
    "bench_studio",
    "bench_sweep",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in run_all.names()
    ],
)
def test_benchmark_runs_tiny(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "bench_studio":
        pytest.importorskip("playwright", reason="Playwright is not installed")
        if browser() is None:
            pytest.skip(MISSING)
    result = import_module(name).main(["--tiny"])
    numbers = list(_numbers(result))
    assert numbers
    assert all(math.isfinite(number) and number > 0 for number in numbers)
    assert capsys.readouterr().out
    if isinstance(result, Report):
        assert result.agreements or name in WITHOUT_TIMED_PEERS
        assert all(check.holds for check in result.agreements)
        assert not result.judged


def test_every_file_in_the_list_is_a_benchmark() -> None:
    assert {"bench_features", "bench_fit", "bench_large", "bench_online"} <= set(run_all.names())


def test_a_disagreement_stops_a_benchmark() -> None:
    found = (Finding("speed", 2.0),)
    with pytest.raises(ValueError, match="results do not agree: sums"):
        report.finish(Report("Sums", found, (Agreement("sums", 1e-3, 1e-10),)))
    with pytest.raises(ValueError, match="results do not agree: sums"):
        report.finish(Report("Sums", found, (Agreement("sums", math.nan, 1e-10),)))


def test_verdict_says_whether_an_aim_is_met() -> None:
    assert Finding("speed", 19.4, 10).verdict(judged=True) == "aim 10×: met, 19.4×"
    assert Finding("speed", 9.0, 10).verdict(judged=True) == "aim 10×: not met, 9×"
    assert Finding("speed", 9.0, 10).verdict(judged=False) == "9×"
    memory = Finding("memory", 1.5, 1.0, " GB", at_most=True)
    assert memory.verdict(judged=True) == "aim at most 1 GB: not met, 1.5 GB"


def test_ratio_is_of_medians() -> None:
    assert report.ratio(Timing((8.0, 4.0, 100.0)), Timing((2.0, 1.0, 2.0))) == 4.0


def test_turns_are_taken_and_the_first_is_not_counted() -> None:
    calls = []
    tasks = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    times = report.interleaved(tasks, tiny=True)
    assert "".join(calls) == "ababab"
    assert [len(timing.seconds) for timing in times.values()] == [2, 2]


def test_table_is_aligned() -> None:
    lines = report.table(["", "time"], [["ours", "1 ms"], ["theirs", "10 ms"]]).splitlines()
    assert lines == ["         time", "------  -----", "ours     1 ms", "theirs  10 ms"]


def test_facts_have_no_date_and_do_not_change() -> None:
    assert machine.facts(3) == machine.facts(3)
    assert machine.facts(3)["seed"] == "3"
