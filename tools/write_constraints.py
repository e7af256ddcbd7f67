"""Write constraints.txt: names and versions of the packages that development needs, as installed.

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
    """List the names of all packages that an extra of gradraker needs, directly or not."""
    needed: set[str] = set()
    queue = [(requirement, frozenset[str]()) for requirement in list_requirements(extra)]
    while queue:
        requirement, extras = queue.pop()
        head, _, marker = requirement.partition(";")
        wanted = re.search(r"extra\s*==\s*[\"']([^\"']+)", marker)
        name = NAME.match(head.strip())
        if name is None or (wanted and wanted[1] not in extras) or not is_installed(name[0]):
            continue
        inner = re.search(r"\[([^\]]+)\]", head)
        inner_extras = frozenset[str](inner[1].replace(" ", "").split(",") if inner else ())
        key = normalise_name(name[0])
        if key not in needed or inner_extras:
            needed.add(key)
            queue += [(inner, inner_extras) for inner in distribution(name[0]).requires or ()]
    return needed


def list_requirements(extra: str) -> list[str]:
    """List the requirements of an extra of gradraker and of the extras that it names."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
    extras, names = project["optional-dependencies"], [extra]
    requirements = list(project["dependencies"])
    while names:
        for requirement in extras[names.pop()]:
            inner = re.fullmatch(r"gradraker\[(.+)\]", requirement)
            names += inner[1].split(",") if inner else []
            requirements += [] if inner else [requirement]
    return requirements


def normalise_name(name: str) -> str:
    """Return the name of a package in the form that indexes compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_installed(name: str) -> bool:
    """Whether a package is installed here."""
    return normalise_name(name) in {normalise_name(found.name) for found in distributions()}


def format_installed() -> str:
    """Return lines with names and versions of the packages that development needs."""
    versions = {normalise_name(found.name): found.version for found in distributions()}
    lines = [f"{name}=={versions[name]}\n" for name in sorted(list_needed("dev"))]
    return HEAD + "".join(lines)


if __name__ == "__main__":
    (HOME / "constraints.txt").write_text(format_installed(), "utf-8")
    print("constraints.txt")
