"""Compiled loops work where no folder for their cache can be written."""

import os
import subprocess
import sys
from subprocess import PIPE
from typing import Any

import pytest
from numba.core import config

from forked_process import start_python

# A file of loops, as the package has several. Two of them: one warning is enough.
LOOPS = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from gradraker._compiled.jit import compile_loop

    @compile_loop
    def double(x):
        return 2.0 * x

    @compile_loop
    def add_one(x):
        return double(x) + 1.0

    result = add_one(0.5)
"""
MODEL = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import gradraker
    model = gradraker.SKGRegressor(sigma2=1.0, n_frequencies=4, random_state=0)
    model.learn_one(["a"], 1.0)
    result = round(model.predict_one(["a"]), 6)
"""
SAY = """
found = [str(w.message) for w in caught if "NUMBA_CACHE_DIR" in str(w.message)]
print(result)
print(len(found))
print(found[0] if found else "")
"""

PROGRAMS = pytest.mark.parametrize(
    ("program", "expected"),
    [
        pytest.param(LOOPS, 2.0, id="two loops"),
        pytest.param(MODEL, 0.2, id="a model", marks=pytest.mark.slow),  # compiles for seconds
    ],
)


# Numba has been imported, so it is told to read the environment again.
RUN_FILE = """
import runpy, sys
from numba.core import config
config.reload_config()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def run(program: str, folder: Any, **environment: Any) -> Any:
    path = folder / "program.py"
    path.write_text(program + SAY, encoding="utf-8")
    options: dict[str, Any] = {"env": os.environ | environment, "stdout": PIPE, "stderr": PIPE}
    if program is LOOPS:
        process = start_python(RUN_FILE, path, **options)
    else:  # loops of the package must not be compiled yet
        process = subprocess.Popen([sys.executable, str(path)], text=True, **options)
    printed, errors = process.communicate(timeout=120.0)
    assert process.returncode == 0, errors
    return printed.splitlines()


@pytest.mark.process
@PROGRAMS
@pytest.mark.skipif(
    not hasattr(config, "CACHE_LOCATOR_CLASSES"), reason="this Numba cannot be left without a cache"
)
def test_without_a_cache_it_works_and_says_so_once(
    program: str, expected: float, tmp_path: Any
) -> None:
    # The only place for a cache is then one that files outside of archives do not have.
    result, n_warnings, text = run(program, tmp_path, NUMBA_CACHE_LOCATOR_CLASSES="ZipCacheLocator")
    assert float(result) == expected
    assert n_warnings == "1"
    assert "compiles them again" in text


@pytest.mark.process
@PROGRAMS
def test_with_a_cache_it_is_silent(program: str, expected: float, tmp_path: Any) -> None:
    result, n_warnings, *_ = run(program, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert float(result) == expected
    assert n_warnings == "0"
    assert list((tmp_path / "cache").rglob("*.nbi"))  # the loops are kept there
