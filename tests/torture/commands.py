"""The commands that write, with small inputs, and what they write undisturbed."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from torture.attempts import run_child, run_command

N_NODES = 24


@dataclass(frozen=True)
class Command:
    """A command, the files it writes, and what it writes after old files."""

    name: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]


def _make_command(line: str, *outputs: str) -> Command:
    arguments = tuple(shlex.split(line))
    return Command(arguments[0], arguments, outputs)


COMMANDS = (
    _make_command(
        "predict --edges e.csv --values v.csv --out p.csv --report r.html --model m.gr "
        "--method skg --sigma2 1",
        "p.csv",
        "r.html",
        "m.gr",
    ),
    _make_command("update --model old.gr --values more.csv --out u.csv", "old.gr", "u.csv"),
    _make_command(
        "sweep --edges e.csv --values all.csv --repeats 4 --sigma2 1,2 --epochs 1 "
        "--out s.jsonl --frequencies 10 --report s.html",
        "s.jsonl",
        "s.html",
    ),
    _make_command("data fetch temperature --edges te.csv --values tv.csv", "te.csv", "tv.csv"),
    _make_command("demo --out .", "temperature-jan.png"),
    _make_command(
        "reproduce --only fig1 --fast --out .",
        "report.html",
        "report.json",
        "report.md",
        "results.jsonl",
        "figures/fig1.svg",
        "figures/fig1.csv",
    ),
)


def write_inputs(folder: Path) -> None:
    """Write edges, known values, further values and a model."""
    edges = [(i, (3 * i + 1) % N_NODES) for i in range(N_NODES)]
    edges += [(i, (i + 1) % N_NODES) for i in range(N_NODES)]
    (folder / "e.csv").write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in edges))
    values = [f"n{i},{(i * 7 % 10) / 2}\n" for i in range(N_NODES)]
    (folder / "all.csv").write_text("node,value\n" + "".join(values))
    (folder / "v.csv").write_text("node,value\n" + "".join(values[:12]))
    (folder / "more.csv").write_text("node,value\n" + "".join(values[12:16]))
    run_in(folder, *shlex.split("predict --edges e.csv --values v.csv --model old.gr"))


def run_in(folder: Path, *arguments: str) -> None:
    """Run a command in a folder, in another process; RuntimeError if it fails."""

    def run() -> None:
        os.chdir(folder)
        run_command(*arguments)

    ended = run_child(run)
    if ended.code:
        raise RuntimeError(f"{arguments} ended with {ended.code}: {ended.text}")


def read_outputs(folder: Path, command: Command) -> dict[str, bytes | None]:
    """Return the content of each output, None where there is no file."""
    return {
        name: (folder / name).read_bytes() if (folder / name).exists() else None
        for name in command.outputs
    }
