"""Compiled loops work where no folder for their cache can be written."""

import os
import subprocess
import sys
from typing import Any

import pytest
from numba.core import config

PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import gradraker
    model = gradraker.SKGRegressor(sigma2=1.0, n_frequencies=4, random_state=0)
    model.learn_one(["a"], 1.0)
    print(round(model.predict_one(["a"]), 6))
found = [str(w.message) for w in caught if "NUMBA_CACHE_DIR" in str(w.message)]
print(len(found))
print(found[0] if found else "")
"""


def run(**environment: Any) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(
    not hasattr(config, "CACHE_LOCATOR_CLASSES"), reason="this Numba cannot be left without a cache"
)
def test_without_a_cache_it_works_and_says_so_once() -> None:
    # The only place for a cache is then one that files outside of archives do not have.
    prediction, n_warnings, text = run(NUMBA_CACHE_LOCATOR_CLASSES="ZipCacheLocator")
    assert float(prediction) == 0.2
    assert n_warnings == "1"
    assert "compiles them again" in text


def test_with_a_cache_it_is_silent(tmp_path: Any) -> None:
    prediction, n_warnings, *_ = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert float(prediction) == 0.2
    assert n_warnings == "0"
