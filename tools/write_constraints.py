"""Write constraints.txt: names and versions of what development needs, as installed here.

``make constraints`` runs it after it has renewed the environment.
"""

import re
import tomllib
from importlib.metadata import distribution, distributions
from pathlib import Path

HOME = Path(__file__).parents[1]
HEAD = (
    "# Versions that development is reproducible with: pip install -e '.[dev]' -c constraints.txt\n"
)
NAME = re.compile(r"[A-Za-z0-9._-]+")


def list_needed(extra: str) -> set[str]:
    """Names of all packages that an extra of gradraker needs, and what these need."""
    found: set[str] = set()
    queue = [(requirement, frozenset[str]()) for requirement in list_requirements(extra)]
    while queue:
        requirement, extras = queue.pop()
        head, _, marker = requirement.partition(";")
        wanted = re.search(r"extra\s*==\s*[\"']([^\"']+)", marker)
        name = NAME.match(head.strip())
        if name is None or (wanted and wanted[1] not in extras) or not is_installed(name[0]):
            continue
        inner = re.search(r"\[([^\]]+)\]", head)
        asked = frozenset(inner[1].replace(" ", "").split(",")) if inner else frozenset[str]()
        key = normalise_name(name[0])
        if key not in found or asked:
            found.add(key)
            queue += [(inner, asked) for inner in distribution(name[0]).requires or ()]
    return found


def list_requirements(extra: str) -> list[str]:
    """What an extra of gradraker asks for by itself, and by the extras that it names."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
    extras, names, asked = project["optional-dependencies"], [extra], list(project["dependencies"])
    while names:
        for requirement in extras[names.pop()]:
            inner = re.fullmatch(r"gradraker\[(.+)\]", requirement)
            names += inner[1].split(",") if inner else []
            asked += [] if inner else [requirement]
    return asked


def normalise_name(name: str) -> str:
    """Name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_installed(name: str) -> bool:
    """Whether a package is installed here."""
    return normalise_name(name) in {normalise_name(found.name) for found in distributions()}


def format_installed() -> str:
    """Lines with names and versions of what development needs."""
    versions = {normalise_name(found.name): found.version for found in distributions()}
    lines = [f"{name}=={versions[name]}\n" for name in sorted(list_needed("dev"))]
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (HOME / "constraints.txt").write_text(format_installed(), "utf-8")
    print("constraints.txt")
