"""Shared by all benchmarks: sizes, interleaved timing, and a report that can be checked.

A benchmark is a file ``bench_*.py`` with ``main(argv=None) -> Report``. It takes ``--tiny`` (for
the tests: a few seconds, aims are not judged) and ``--full`` (the sizes that take long),
prints its report, and runs alone or from ``run_all.py``.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from machine import print_facts

SEED = 0
T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """A measured number and its aim.

    Parameters
    ----------
    label : str
        What was measured.
    value : float
        The measurement, positive.
    aim : float, optional
        The aim; none for a number that is only printed.
    unit : str, default="×"
        Written after the number; × is a ratio "how many times as fast".
    at_most : bool, default=False
        Whether the value should stay below the aim instead of reaching it.
    """

    label: str
    value: float
    aim: float | None = None
    unit: str = "×"
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the aim is met; None without an aim."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.at_most else self.value >= self.aim

    def verdict(self, *, judged: bool) -> str:
        """The number, and whether it meets the aim."""
        got = f"{_short(self.value)}{self.unit}"
        if self.aim is None or not judged:
            return got
        aim = f"{'at most ' if self.at_most else ''}{self.aim:g}{self.unit}"
        return f"aim {aim}: {'met' if self.met else 'not met'}, {got}"


@dataclass(frozen=True)
class Agreement:
    """The difference between two computations of the same result, and its tolerance."""

    label: str
    difference: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the difference is allowed."""
        return self.difference <= self.tolerance  # False for NaN


@dataclass(frozen=True)
class Report:
    """Results of a benchmark: numbers with aims, agreement checks, and tables to read."""

    title: str
    findings: tuple[Finding, ...]
    agreements: tuple[Agreement, ...]
    tables: tuple[str, ...] = ()
    judged: bool = True

    def __str__(self) -> str:
        lines = [self.title, "=" * len(self.title)]
        for table in self.tables:
            lines += [table, ""]
        width = max(len(item.label) for item in (*self.findings, *self.agreements))  # type: ignore[attr-defined]
        for finding in self.findings:
            lines.append(f"{finding.label:{width}s}  {finding.verdict(judged=self.judged)}")
        for check in self.agreements:
            verdict = "agree" if check.holds else "DISAGREE"
            difference = f"difference {check.difference:.1e}, allowed {check.tolerance:.0e}"
            lines.append(f"{check.label:{width}s}  {verdict} ({difference})")
        return "\n".join(lines)


@dataclass(frozen=True)
class Timing:
    """Seconds of the repeats of one task."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The fastest repeat."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle repeat."""
        return statistics.median(self.seconds)


@dataclass
class Stopwatch:
    """Seconds spent in the named stages of one piece of work."""

    stages: dict[str, float] = field(default_factory=dict)

    def time(self, stage: str, work: Callable[[], T]) -> T:
        """Run ``work``, add its time to the stage, return its result."""
        start = time.perf_counter()
        result = work()
        self.stages[stage] = self.stages.get(stage, 0.0) + time.perf_counter() - start
        return result


def interleaved(tasks: Mapping[str, Callable[[], object]], *, tiny: bool) -> dict[str, Timing]:
    """Time tasks alternately, after one run of each that is not counted.

    Turns spread the noise of a shared machine over all tasks. A turn repeats its task for
    a fifth of a second, at least once, and every run counts. It begins with a pause: BLAS
    threads keep spinning for a while after the task that used them.
    """
    turns, seconds_per_turn, rest = (2, 0.0, 0.0) if tiny else (7, 0.2, 0.05)
    for task in tasks.values():
        task()
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(turns):
        for name, task in tasks.items():
            time.sleep(rest)
            begin = now = time.perf_counter()
            while now == begin or now - begin < seconds_per_turn:
                start = time.perf_counter()
                task()
                now = time.perf_counter()
                seconds[name].append(now - start)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}


def ratio(slow: Timing, fast: Timing) -> float:
    """How many times as fast: the ratio of medians."""
    return slow.median / fast.median


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with aligned columns: the first to the left, numbers to the right."""
    cells = [list(header), *map(list, rows)]
    widths = [max(len(row[c]) for row in cells) for c in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if c == 0 else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"


def microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs"


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 100.0 else f"{value:.0f}"


def options(argv: Sequence[str] | None, description: str) -> argparse.Namespace:
    """Parse ``--tiny`` and ``--full``."""
    parser = argparse.ArgumentParser(description=description)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--tiny", action="store_true", help="smallest sizes, to check that it runs")
    size.add_argument("--full", action="store_true", help="full sizes")
    return parser.parse_args(argv)


def finish(report: Report) -> Report:
    """Print the report; raise an error if results do not agree, since times then mean nothing."""
    print(report)
    for finding in report.findings:
        if not math.isfinite(finding.value) or finding.value <= 0.0:
            raise ValueError(f"{finding.label} should be a positive number, got {finding.value}")
    wrong = [check.label for check in report.agreements if not check.holds]
    if wrong:
        raise ValueError(f"results do not agree: {', '.join(wrong)}")
    return report


def run_alone(main: Callable[[], Report]) -> None:
    """Run one benchmark as a program: the facts of the machine, then the report."""
    print_facts(SEED)
    print()
    main()
