"""The same command in many environments writes the same table."""

import csv
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from torture.attempts import Budget, Counts, make_folder
from torture.commands import write_inputs

PROGRAM = "from gradraker.cli import main; main(prog_name='gradraker')"
COMMAND = [sys.executable, "-c", PROGRAM, "predict", "--edges", "e.csv", "--values", "v.csv"]
# Sums of linear algebra depend on the number of threads in their last digits.
TOLERANCE = 1e-9


def _close_output() -> None:
    os.close(1)


def _close_errors() -> None:
    os.close(2)


def _close_all() -> None:
    for stream in (0, 1, 2):
        os.close(stream)


def _set_mask() -> None:
    os.umask(0o077)


def _lower_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


# Changes of the environment (None removes a variable) and what is done before the program starts.
ENVIRONMENTS: dict[str, Any] = {
    "one thread": ({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, None),
    "two threads": ({"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}, None),
    "hash seed 0": ({"PYTHONHASHSEED": "0"}, None),
    "hash seed 1": ({"PYTHONHASHSEED": "1"}, None),
    "locale C": ({"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, None),
    "encoding latin-1": ({"PYTHONIOENCODING": "latin-1"}, None),
    "no home": ({"HOME": None, "XDG_CACHE_HOME": None}, None),
    "home that is missing": ({"HOME": "/proc/nonexistent", "XDG_CACHE_HOME": None}, None),
    "no cache of loops": ({"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}, None),
    "optimised": ({"PYTHONOPTIMIZE": "2"}, None),
    "dumb terminal": ({"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "1"}, None),
    "no temporary folder": ({"TMPDIR": "/proc/nonexistent"}, None),
    "closed output": ({}, _close_output),
    "closed errors": ({}, _close_errors),
    "all closed": ({}, _close_all),
    "private mask": ({}, _set_mask),
    "few open files": ({}, _lower_files),
    "development mode": ({"PYTHONDEVMODE": "1"}, None),
    "empty": (dict.fromkeys([*os.environ]), None),
}
# Where to find the package does not belong to the environment that is tried.
_KEPT = ("PYTHONPATH", "PATH", "LD_LIBRARY_PATH")


def run_in_environments(budget: Budget) -> Counts:
    """Compare the table with that of this environment."""
    counts = Counts()
    names = sorted(ENVIRONMENTS)
    random.Random(budget.seed).shuffle(names)
    with make_folder() as folder:
        write_inputs(folder)
        subprocess.run([*COMMAND, "--out", "p.csv"], cwd=folder, check=True, capture_output=True)
        table = _read(folder / "p.csv")
        for number in budget.numbers():
            if number == len(names):
                break
            counts.add(_try(folder, names[number], table))
    counts.remark = f"of {len(names)} environments"
    return counts


def _try(folder: Path, name: str, table: list[list[str]]) -> str | None:
    changes, before = ENVIRONMENTS[name]
    environment = {**os.environ, **{k: v for k, v in changes.items() if v is not None}}
    for variable, value in changes.items():
        if value is None and variable not in _KEPT:
            environment.pop(variable, None)
    done = subprocess.run(
        [*COMMAND, "--out", "q.csv"],
        cwd=folder,
        env=environment,
        preexec_fn=before,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        return f"{name}: exit code {done.returncode}: {(done.stderr or b'')[-500:]!r}"
    found = _read(folder / "q.csv")
    (folder / "q.csv").unlink()
    return None if agree(found, table) else f"{name}: the table differs"


def _read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def agree(found: list[list[str]], table: list[list[str]]) -> bool:
    """Whether all texts are equal and all numbers nearly."""
    if [len(row) for row in found] != [len(row) for row in table]:
        return False
    for row, other in zip(found, table, strict=True):
        for a, b in zip(row, other, strict=True):
            try:
                near = abs(float(a) - float(b)) <= TOLERANCE * (1.0 + abs(float(b)))
            except ValueError:
                near = a == b
            if not near:
                return False
    return True
