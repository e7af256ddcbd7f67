"""The package as a whole: modules that importing it loads, and its public names."""

import importlib.metadata
import inspect
import json
import subprocess
import sys
from typing import Any

import pytest

import gradraker

HEAVY = ["numba", "sklearn", "scipy", "matplotlib", "numpy", "pandas", "click", "rich"]
REPORT = f"print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


def loaded_by(statement: str) -> Any:
    """Names of the heavy packages that a fresh Python has loaded after a statement."""
    program = f"import sys, json; {statement}; {REPORT}"
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return json.loads(result.stdout)


@pytest.mark.process
def test_importing_loads_nothing_heavy() -> None:
    assert loaded_by("import gradraker") == []
    assert loaded_by("import gradraker; dir(gradraker); gradraker.__version__") == []


def test_every_public_name_resolves() -> None:
    for name in gradraker.__all__:
        value = getattr(gradraker, name)
        assert value is not None
        assert getattr(gradraker, name) is value


def test_public_names_are_documented() -> None:
    for name in gradraker.__all__:
        if name != "__version__":
            assert getattr(gradraker, name).__doc__, name


def test_dir_is_the_public_names() -> None:
    assert sorted(dir(gradraker)) == sorted(gradraker.__all__)
    assert len(set(gradraker.__all__)) == len(gradraker.__all__)


def test_star_import_takes_the_public_names() -> None:
    names: dict[Any, Any] = {}
    exec("from gradraker import *", names)
    assert set(gradraker.__all__) <= set(names)


def test_there_are_few_public_names() -> None:
    modules = [n for n in gradraker.__all__ if inspect.ismodule(getattr(gradraker, n))]
    assert len(gradraker.__all__) - len(modules) <= 16


@pytest.mark.parametrize("name", ["SKGClassifier", "_private", "__wrapped__", "numpy"])
def test_unknown_attributes_of_the_package_are_refused(name: str) -> None:
    with pytest.raises(AttributeError, match=f"No gradraker attribute {name}"):
        getattr(gradraker, name)
    assert not hasattr(gradraker, name)


def test_unknown_names_cannot_be_imported() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from gradraker import Nothing  # type: ignore[attr-defined] # noqa: F401


def test_version_is_that_of_the_installed_package() -> None:
    assert gradraker.__version__ == importlib.metadata.version("gradraker")


def test_types_are_shipped() -> None:
    marker = importlib.resources.files("gradraker") / "py.typed"
    assert marker.is_file()


def test_live_client_needs_no_packages_of_the_service() -> None:
    program = (
        "import sys, gradraker.live; "
        "print([n for n in ('fastapi', 'uvicorn', 'sqlalchemy', 'numba') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
