"""Count the files of the package in which functions run, for three paths that users take.

Each path runs once before it is traced, so that imports do not count.
docs/architecture.md shows the result.

Run: python tools/trace_paths.py [--files]
"""

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import gradraker

PACKAGE = Path(gradraker.__file__).parent
OPTIMIZED = 0x1  # flag of code objects that are functions, not bodies of modules or classes


def trace_files(path: Callable[[], object]) -> list[str]:
    """Run a path, and return the files of the package in which functions ran, in that order."""
    path()  # loads modules and compiles loops
    seen: dict[str, None] = {}
    prefix = f"{PACKAGE}{os.sep}"

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & OPTIMIZED and code.co_filename.startswith(prefix):
            seen.setdefault(code.co_filename.removeprefix(prefix))

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        path()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def run_predict() -> None:
    """``gradraker predict --edges --values --report`` on the embedded stations."""
    run_command(
        "predict", "--edges", "edges.csv", "--values", "known.csv", "--report", "report.html"
    )


def run_skg() -> None:
    """``SKGRegressor().fit(X, y).explain(X2)`` on the embedded stations."""
    data = gradraker.load_temperature()
    X, y = data.adjacency, data.scale_values()
    gradraker.SKGRegressor(random_state=0).fit(X[:60], y[:60]).explain(X[60:])


def run_reproduce() -> None:
    """``gradraker reproduce`` with few repeats, all figures that the data at hand allow."""
    run_command("reproduce", "--fast", "--out", "paper")


def run_command(*arguments: str) -> None:
    """Run the command line in this process."""
    from gradraker.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(list(arguments), prog_name="gradraker", standalone_mode=False)


PATHS = {"predict": run_predict, "skg": run_skg, "reproduce": run_reproduce}


def trace_paths() -> dict[str, list[str]]:
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


if __name__ == "__main__":
    for name, files in trace_paths().items():
        print(f"{name}: {len(files)} files")
        if "--files" in sys.argv:
            print(*(f"  {file}" for file in files), sep="\n")
