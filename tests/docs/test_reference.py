"""The reference: every public name has an example and names that belong to it."""

import inspect
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed")

import public_names
import related_names

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {
    f"{package}.{name}": value
    for package in public_names.PACKAGES
    for name, value in public_names.list_names(package).items()
}


@pytest.mark.parametrize("full", NAMES)
def test_every_public_name_has_an_example(full: str) -> None:
    value: Any = NAMES[full]
    is_error = inspect.isclass(value) and issubclass(value, BaseException)
    if (inspect.isclass(value) or inspect.isfunction(value)) and not is_error:
        assert "Examples\n" in (inspect.getdoc(value) or "")
        assert ">>>" in (inspect.getdoc(value) or "")


@pytest.mark.parametrize("full", NAMES)
def test_every_public_name_has_others_that_belong_to_it(full: str) -> None:
    assert ".. seealso::" in public_names.format_related(full.rpartition(".")[2])


def test_groups_name_what_exists() -> None:
    known = {full.rpartition(".")[2] for full in NAMES}
    for page, group in related_names.GROUPS:
        assert set(group.split()) <= known, group
        assert page is None or (DOCS / f"{page}.md").exists(), page
