"""Benchmarks over time: every run is a line of ``history.jsonl``, compared with the one before.

``make bench`` appends a line and reports slowdowns. ``python benchmarks/history.py`` draws each
ratio over time, into docs/images/benchmarks.svg, and writes the page of the last run.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from last_run import write_page
from machine import facts
from report import SEED, Finding, Report

HOME = Path(__file__).parents[1]
HISTORY = HOME / "benchmarks" / "history.jsonl"
PICTURE = HOME / "docs" / "images" / "benchmarks.svg"
# Runs on a shared machine differ by this factor without a reason.
NOISE = 1.25


@dataclass(frozen=True)
class Change:
    """A number of this run and the same number of an earlier one."""

    benchmark: str
    label: str
    before: float
    now: float
    at_most: bool

    @property
    def factor(self) -> float:
        """How many times better the number is now; below 1 it is worse."""
        return self.before / self.now if self.at_most else self.now / self.before

    def __str__(self) -> str:
        verdict = "better" if self.factor > 1.0 else "worse"
        by = max(self.factor, 1.0 / self.factor)
        was = f"{self.before:.3g} → {self.now:.3g}"
        return f"{self.benchmark:18s} {self.label}: {was}, {by:.2f} times {verdict}"


def find_commit() -> str:
    """Commit of the working tree, with a plus sign if it was changed; "unknown" without git."""
    try:
        commit = _run_git("rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _run_git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _run_git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=HOME, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_line(results: Mapping[str, object], size: str) -> dict[str, Any]:
    """The record of a run: date, machine, commit, and all numbers."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "commit": find_commit(),
        "size": size,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "machine": facts(SEED),
        "findings": {
            name: {finding.label: describe_finding(finding) for finding in result.findings}
            for name, result in results.items()
            if isinstance(result, Report)
        },
        "tables": {
            name: list(result.tables)
            for name, result in results.items()
            if isinstance(result, Report) and result.tables
        },
    }


def describe_finding(finding: Finding) -> dict[str, Any]:
    """A number with its unit, its aim, and whether smaller is better."""
    smaller = finding.at_most or finding.unit.strip() not in ("", "×") or "GNMSE" in finding.label
    rounded = float(f"{finding.value:.4g}")
    return {"value": rounded, "unit": finding.unit, "aim": finding.aim, "at_most": smaller}


def read_history(path: Path = HISTORY) -> list[dict[str, Any]]:
    """All runs, the oldest first."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def append_line(line: Mapping[str, Any], path: Path = HISTORY) -> None:
    """Add a run to the file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def find_last(
    history: Sequence[Mapping[str, Any]], line: Mapping[str, Any], name: str
) -> Mapping[str, Any] | None:
    """The last run of a benchmark with the same size on the same kind of machine."""
    for earlier in list(history)[::-1]:
        same = all(
            earlier["machine"][key] == line["machine"][key] for key in ("processor", "cores")
        )
        if same and earlier["size"] == line["size"] and name in earlier["findings"]:
            return earlier
    return None


def compare_runs(history: Sequence[Mapping[str, Any]], line: Mapping[str, Any]) -> Iterator[Change]:
    """Numbers of a run paired with those of the last run of the same benchmark."""
    for name, findings in line["findings"].items():
        earlier = find_last(history, line, name)
        if earlier is None:
            continue
        for label, found in findings.items():
            before = earlier["findings"][name].get(label)
            if before is not None:
                values = before["value"], found["value"]
                yield Change(name, label, *values, at_most=found["at_most"])


def report_changes(changes: Sequence[Change]) -> str:
    """A text that lists changes beyond noise, worse ones first."""
    if not changes:
        return "Nothing to compare with: no earlier run of this size on this kind of machine."
    worse = [change for change in changes if change.factor < 1.0 / NOISE]
    better = [change for change in changes if change.factor > NOISE]
    lines = [f"Compared with the last run, {len(changes)} numbers; noise is up to {NOISE:g} times."]
    lines += (
        ["Worse:", *(f"  {change}" for change in sorted(worse, key=lambda c: c.factor))]
        if worse
        else []
    )
    lines += ["Better:", *(f"  {change}" for change in better)] if better else []
    return "\n".join(lines if worse or better else [*lines, "Nothing changed beyond noise."])


def keep_run(results: Mapping[str, object], size: str, path: Path = HISTORY) -> str:
    """Compare a run with the last one, add it to the history, and return the changes."""
    line, history = make_line(results, size), read_history(path)
    changes = list(compare_runs(history, line))
    append_line(line, path)
    return report_changes(changes)


def draw_history(history: Sequence[Mapping[str, Any]], picture: Path) -> None:
    """Draw each ratio "how many times as fast" from run to run."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "gradraker"
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for run, line in enumerate(history):
        for name, findings in line["findings"].items():
            for label, found in findings.items():
                if found["unit"] == "×" and not found["at_most"] and math.isfinite(found["value"]):
                    lines.setdefault((name, label), []).append((run, found["value"]))
    names = sorted({name for name, _ in lines})
    figure, axes = plt.subplots(
        -(-len(names) // 2),
        2,
        figsize=(11, 2.6 * -(-len(names) // 2)),
        squeeze=False,
        layout="constrained",
    )
    ticks = [f"{line['date'][5:10]}\n{line['commit'][:7]}" for line in history]
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, names, strict=False):
        for (owner, label), points in lines.items():
            if owner == name:
                ax.plot(*zip(*points, strict=True), "o-", markersize=4, label=label)
        ax.set(title=name.removeprefix("bench_"), yscale="log", ylabel="times as fast")
        ax.set_xticks(range(len(ticks)), ticks, fontsize=7)
        ax.set_xlim(-0.5, max(len(ticks) - 0.5, 0.5))
        ax.legend(fontsize=7)
    figure.savefig(picture, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    runs = read_history()
    if not runs:
        sys.exit(f"{HISTORY} has no runs yet: make bench")
    draw_history(runs, PICTURE)
    write_page(runs)
    print(PICTURE)
