"""Pages with commands: each block ``console`` runs, and prints what the page shows."""

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


def test_some_pages_have_commands() -> None:
    assert "tutorials/my-own-csv.md" in find_pages()


@pytest.mark.process
@pytest.mark.parametrize("page", find_pages())
def test_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    python = f"{shlex.quote(sys.executable)} -m gradraker "
    for command, shown in find_commands(page):
        words = re.sub(r"\bgradraker (?=[a-z-])", python, command)
        done = subprocess.run(
            ["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        matches = doctest.OutputChecker().check_output(shown, done.stdout, OPTIONS)
        assert matches, f"{command}\nprinted:\n{done.stdout}\nbut {page} shows:\n{shown}"
