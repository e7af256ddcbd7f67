"""Count the files of the package in which functions run, for three typical calls.

Each path runs once before it is traced, so that imports do not count; page templates do not count
either. Calls from a lower layer to a higher one are listed: they are callbacks, methods that a base
class calls, or a fault. docs/project/architecture.md shows the result, and --write updates it.

Run: python tools/trace_paths.py [--files] [--write]
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import gradraker

PACKAGE = Path(gradraker.__file__).parent
PROJECT = Path(__file__).parents[1]
PAGE = PROJECT / "docs/project/architecture.md"
OPTIMIZED = 0x1  # flag of code objects that are functions, not bodies of modules or classes


class Trace(NamedTuple):
    """Files in the order of their first call, and calls from a lower layer to a higher one."""

    files: list[str]
    upward: list[tuple[str, str]]


def read_layers() -> dict[str, int]:
    """Return the layer of each folder, 0 being the highest, from import-linter's settings."""
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name.strip(): i for i, layer in enumerate(layers) for name in layer.split("|")}


def trace_files(path: Callable[[], object]) -> Trace:
    """Run a path twice, and trace the second run."""
    path()  # loads modules and compiles loops
    files: dict[str, None] = {}
    upward: dict[tuple[str, str], None] = {}
    prefix, layers = f"{PACKAGE}{os.sep}", read_layers()

    def get_layer(file: str) -> int | None:
        return layers.get(file.removeprefix(prefix).partition(os.sep)[0].removesuffix(".py"))

    def record(frame: FrameType, event: str, _: Any) -> None:
        code, caller = frame.f_code, frame.f_back
        file = code.co_filename
        if event != "call" or not code.co_flags & OPTIMIZED or not file.endswith(".py"):
            return
        if not file.startswith(prefix):
            return
        files.setdefault(file.removeprefix(prefix))
        if caller is not None and caller.f_code.co_filename.startswith(prefix):
            above, below = get_layer(file), get_layer(caller.f_code.co_filename)
            if above is not None and below is not None and above < below:
                pair = caller.f_code.co_filename.removeprefix(prefix), file.removeprefix(prefix)
                upward.setdefault((f"{pair[0]}: {caller.f_code.co_name}", pair[1]))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        path()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Trace(list(files), list(upward))


def run_predict() -> None:
    """``gradraker predict --edges --values --report`` on the embedded stations."""
    run_command(
        "predict", "--edges", "edges.csv", "--values", "known.csv", "--report", "report.html"
    )


@cache
def load_rows() -> tuple[Any, Any]:
    """Return adjacency vectors and values; they are loaded before the traced run."""
    data = gradraker.load_temperature()
    return data.adjacency, data.scale_values()


def run_skg() -> None:
    """``SKGRegressor().fit(X, y).explain(X2)`` on the embedded stations."""
    X, y = load_rows()
    gradraker.SKGRegressor(random_state=0).fit(X[:60], y[:60]).explain(X[60:])


def run_reproduce() -> None:
    """``gradraker reproduce`` with few repeats, for all figures whose data are available."""
    run_command("reproduce", "--fast", "--out", "paper")


def run_command(*arguments: str) -> None:
    """Run the command line in this process."""
    from gradraker.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(list(arguments), prog_name="gradraker", standalone_mode=False)


PATHS = {"predict": run_predict, "skg": run_skg, "reproduce": run_reproduce}
# The names of the same paths on the page.
COMMANDS = (
    "gradraker predict --edges --values --report",
    "SKGRegressor().fit(X, y).explain(X2)",
    "gradraker reproduce --fast",
)


def trace_paths() -> dict[str, Trace]:
    """Trace all paths in a temporary folder with the files that they read."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run_command(
                *("data", "fetch", "temperature", "--edges", "edges.csv", "--values", "all.csv")
            )
            lines = Path("all.csv").read_text("utf-8").splitlines(keepends=True)
            Path("known.csv").write_text("".join(lines[:61]), "utf-8")
            return {name: trace_files(path) for name, path in PATHS.items()}
        finally:
            os.chdir(home)


def format_files(files: list[str]) -> str:
    """Return files as text, one line per run of files from the same folder."""
    lines = []
    for folder, group in groupby(files, key=os.path.dirname):
        names = [os.path.basename(file).removesuffix(".py") for file in group]
        lines.append(f"{folder or '(root)'}: {', '.join(names)}")
    return "\n".join(lines)


def update_page(page: str, traces: dict[str, Trace]) -> str:
    """Return the page with new counts in its table and new lists in its sections."""
    for command, trace in zip(COMMANDS, traces.values(), strict=True):
        row = re.escape(f"| `{command}`") + r"([^|]*) \| \d+ \|"
        page = re.sub(row, rf"| `{command}`\1 | {len(trace.files)} |", page)
        head = re.escape(f"### `{command.split(' --')[0]}`, file by file\n\n```\n")
        listed = format_files(trace.files)
        page = re.sub(rf"({head}).*?(\n```)", rf"\g<1>{listed}\g<2>", page, flags=re.DOTALL)
    return page


if __name__ == "__main__":
    traces = trace_paths()
    if "--write" in sys.argv:
        PAGE.write_text(update_page(PAGE.read_text("utf-8"), traces), "utf-8")
    for name, trace in traces.items():
        print(f"{name}: {len(trace.files)} files")
        if "--files" in sys.argv:
            print(format_files(trace.files))
        for caller, called in trace.upward:
            print(f"  upward: {caller} -> {called}")
