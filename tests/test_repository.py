"""Files of the repository around the package: README, workflows, constraints, versions."""

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed")

HOME = Path(__file__).parents[1]
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
CHECKS = runpy.run_path(str(HOME / "tools" / "check_repository.py"))
BUILD = runpy.run_path(str(HOME / "hatch_build.py"))
README = "![map](docs/map.png) [start](docs/start.md) [licence](https://x.org/y) [below](#more)"


def test_readme_of_the_index_links_to_the_forge() -> None:
    found = BUILD["format_readme"](README, "https://forge.org/a/b", "v0.1.0")
    assert found == (
        "![map](https://forge.org/a/b/raw/v0.1.0/docs/map.png) "
        "[start](https://forge.org/a/b/blob/v0.1.0/docs/start.md) "
        "[licence](https://x.org/y) [below](#more)"
    )


def test_readme_of_the_index_has_no_lost_link_without_an_address() -> None:
    found = BUILD["format_readme"](README, None, "main")
    assert found == " start [licence](https://x.org/y) [below](#more)"


def test_address_of_the_forge_comes_from_its_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert BUILD["find_address"]() is None
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "a/b")
    assert BUILD["find_address"]() == "https://forge.org/a/b"


def test_files_that_the_readme_links_to_exist() -> None:
    text = (HOME / "README.md").read_text("utf-8")
    paths = [path for _, _, path in BUILD["LINK"].findall(text)]
    assert len(paths) > 10
    assert [path for path in paths if not (HOME / path).exists()] == []


def test_constraints_have_names_and_versions_only() -> None:
    assert list(CHECKS["find_bad_constraints"]("# a\nb==1.0\n")) == []
    assert len(list(CHECKS["find_bad_constraints"]("b @ https://x.org/b.whl\nc>=1\n"))) == 2
    assert list(CHECKS["find_bad_constraints"]((HOME / "constraints.txt").read_text("utf-8"))) == []


def test_changelog_has_a_section_for_what_comes_next() -> None:
    assert len(list(CHECKS["find_stale_changelog"]("## 0.1.0 (2026-01-01)\n## soon\n"))) == 2
    assert list(CHECKS["find_stale_changelog"]((HOME / "CHANGELOG.md").read_text("utf-8"))) == []


@pytest.mark.process
def test_workflows_are_valid() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    files = sorted((HOME / ".github" / "workflows").glob("*.yml"))
    assert len(files) == 4
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", *map(str, files)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.process
def test_workflows_are_safe() -> None:
    zizmor = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", str(HOME / ".github")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_workflows_test_every_python_that_is_promised() -> None:
    promised = {
        line.rpartition(" ")[2]
        for line in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    }
    text = (HOME / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    tested = re.search(r"python: \[(.+)\]", text)
    assert tested is not None
    assert set(re.findall(r"3\.\d+", tested[1])) == promised
    assert f">={min(promised, key=lambda version: int(version[2:]))}" == PROJECT["requires-python"]


def test_versions_agree() -> None:
    changelog = (HOME / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+) ", changelog, re.MULTILINE)
    for page in ("CITATION.cff", "docs/how-to/citing.md"):
        assert released[0] in (HOME / page).read_text("utf-8"), page
