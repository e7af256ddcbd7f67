"""Pages with commands: each block ``console`` runs, and prints what the page shows."""

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# tests/cli and tests/live run these two, with files and a service of their own.
ELSEWHERE = {"reference/command-line.md", "how-to/live.md"}
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def find_pages() -> list[str]:
    """Pages that have blocks of commands."""
    pages = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    found = [name for name, path in pages.items() if BLOCK.search(path.read_text("utf-8"))]
    return sorted(set(found) - ELSEWHERE)


def find_commands(page: str) -> Iterator[tuple[str, str]]:
    """Commands of a page, with the outputs that it shows."""
    for block in BLOCK.findall((DOCS / page).read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def run_in_shell(command: str, folder: Path) -> tuple[int, str, str]:
    """Exit code of a line of the shell, and what it printed to its two streams."""
    python = f"{shlex.quote(sys.executable)} -m gradraker "
    done = subprocess.run(
        ["bash", "-c", re.sub(r"\bgradraker (?=[a-z-])", python, command)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_some_pages_have_commands() -> None:
    assert "tutorials/my-own-csv.md" in find_pages()


@pytest.mark.process
@pytest.mark.parametrize("page", find_pages())
def test_commands_of_a_page_print_what_it_shows(page: str, run: Any, tmp_path: Path) -> None:
    for command, shown in find_commands(page):
        words = command.split(" ", 1)
        if words[0] == "gradraker" and not re.search(r"[|&<>$;`]", command):
            result = run(*shlex.split(words[1]), cwd=tmp_path)
            code, printed, errors = result.exit_code, result.stdout, result.stderr
        else:
            code, printed, errors = run_in_shell(command, tmp_path)
        assert code == 0, f"{command}\n{errors}"
        matches = doctest.OutputChecker().check_output(shown, printed, OPTIONS)
        assert matches, f"{command}\nprinted:\n{printed}\nbut {page} shows:\n{shown}"
