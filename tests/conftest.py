"""Fixtures that tests of several folders share."""

import functools
import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

# One process per core runs the tests, so threads of linear algebra would only wait for each
# other. This has to be said before NumPy is imported, and holds for processes that tests start.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

from browser import MISSING, browser
from command_line import invoke
from gradraker._locks import lock_file

# These start, stop and kill processes in ways that Windows does not have.
if sys.platform == "win32":
    collect_ignore_glob = ["torture/*", "live/*", "studio/*", "test_locks_turns.py"]

# Tests assert no times: a busy machine is not a failure. `make test` takes the profile
# that tries fewer examples.
hypothesis.settings.register_profile("gradraker", deadline=None)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30)
hypothesis.settings.load_profile("gradraker")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for tests in the files of this folder, and not for examples: there are none."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without searching for garbage, and never search what collecting has made.

    Modules and tests are some 600,000 objects that stay to the end. Each search through them takes
    half a second, and a run would make dozens. Tests then make more objects between two searches
    than Python's default allows: that takes half the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()
        remember_formulas()


def remember_formulas() -> None:
    """Have matplotlib parse each formula once for all figures.

    Labels of logarithmic axes are formulas. It remembers fifty of one parser, and each drawing has
    a parser of its own. What a parser returns depends on the kind of its output alone.
    """
    parser: Any = getattr(sys.modules.get("matplotlib.mathtext"), "MathTextParser", None)
    parse = getattr(getattr(parser, "_parse_cached", None), "__wrapped__", None)
    if parse is not None and hasattr(parser("path"), "_output_type"):
        parser._parse_cached = functools.lru_cache(None)(parse)
        parser.__eq__ = lambda one, other: one._output_type == other._output_type
        parser.__hash__ = lambda one: hash(one._output_type)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests that start services, workers or other processes first, each kind in a row.

    They share what they start, such as the server of forked processes. The last tests of a process
    may go to another one, which would start it once more.
    """

    def get_turn(item: pytest.Item) -> int:
        if item.nodeid.startswith("tests/live/"):
            return 0
        if item.get_closest_marker("workers"):
            return 1
        return 2 if item.get_closest_marker("process") else 3

    items.sort(key=get_turn)


@pytest.fixture(scope="session")
def run() -> Callable[..., Any]:
    """Run a command: ``run("predict", "--edges", path)``; see ``command_line.invoke``."""
    return invoke


@pytest.fixture
def constant(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """The class of the learner that the demo trains instead of SKG; ``made`` is the last of it."""
    from constant_learner import put_constant_learner  # which imports the models

    return put_constant_learner(monkeypatch)


@pytest.fixture
def write_file(tmp_path: Path) -> Callable[..., Any]:
    """Write a file and return its path."""

    def write(content: Any, name: Any = "edges.csv") -> Any:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that has no data sets but the embedded one."""
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "nothing"))


@pytest.fixture(scope="session")
def reproduced(
    run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory, worker_id: Any
) -> tuple[Any, ...]:
    """Folder and output of ``gradraker reproduce --fast`` with the embedded data alone.

    One run for all worker processes: the first makes it, the others wait. Not to be changed.
    """
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder, output = base / "reproduced" / "paper", base / "reproduced.txt"
    with lock_file(output):
        if not output.exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("GRADRAKER_DATA", str(folder / "nothing"))
                result = run("reproduce", "--fast", "--out", folder)
            assert result.exit_code == 0, result.output
            output.write_text(result.output, encoding="utf-8")
    return folder, output.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A tab of one browser for all pages: starting it takes longer than loading them."""
    devtools = pytest.importorskip("devtools", exc_type=ImportError)
    if browser() is None:
        pytest.skip(MISSING)
    with devtools.open_tab(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def chromium() -> Any:
    """The browser of the machine, driven by Playwright.

    Of a module, not of the session: Playwright keeps an event loop running in this thread while it
    is open, and tests of other modules start their own.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if browser() is None:
        pytest.skip(MISSING)
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        opened = driver.chromium.launch(executable_path=browser(), args=flags)
        yield opened
        opened.close()
