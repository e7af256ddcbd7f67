"""Commands, run in this process as the command line runs them."""

import contextlib
import csv
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gradraker.cli import main


def invoke(*arguments: object, cwd: Path | str | None = None, **options: Any) -> Result:
    """Run a command: ``invoke("predict", "--edges", path)``, in the folder ``cwd`` if it is given.

    Returns click's Result, with ``exit_code``, and ``stdout`` and ``stderr`` apart. Other options
    are those of click's runner, such as ``input="a,b"``.
    """
    with contextlib.nullcontext() if cwd is None else contextlib.chdir(cwd):
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(main, words, prog_name="gradraker", **options)


def read_facts(result: Result) -> Any:
    """The object that ``--json`` printed; standard error may only state how files were read."""
    assert result.exit_code == 0, result.output
    are_notes = [": read as: " in line or "directed" in line for line in result.stderr.splitlines()]
    assert all(are_notes)
    return json.loads(result.stdout)


def read_table(path: Path | str) -> list[dict[str, str]]:
    """Rows of a CSV file that a command wrote, by the names of their columns."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
