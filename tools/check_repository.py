"""Check rules about files of the repository that linters do not cover; exit with 1 on a fault."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).parents[1]
PIN = re.compile(r"[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.!+]+")


def find_bad_constraints(text: str) -> Iterator[str]:
    """Yield faults of a constraints file: lines that are not a name and a version."""
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#") and not PIN.fullmatch(line):
            yield f"constraints.txt, line {number}: {line!r} is not a name and a version"


def find_stale_changelog(text: str) -> Iterator[str]:
    """Yield faults of a changelog: it must start with Unreleased, then list dated releases."""
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    if not sections or sections[0] != "Unreleased":
        yield "CHANGELOG.md: the first section must be Unreleased"
    for section in sections[1:]:
        if not re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)", section):
            yield f"CHANGELOG.md: {section!r} should look like 0.1.0 (2026-11-15)"


if __name__ == "__main__":
    faults = [
        *find_bad_constraints((HOME / "constraints.txt").read_text("utf-8")),
        *find_stale_changelog((HOME / "CHANGELOG.md").read_text("utf-8")),
    ]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)
