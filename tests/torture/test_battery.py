"""The battery itself: its attempts can be repeated, and its judges see what is wrong."""

import io
import json
import random
import signal
import time
import zipfile
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor
from torture.attempts import Budget, Counts, run_child
from torture.environments import agree
from torture.many import try_many
from torture.model_files import damage, forge


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: Any) -> Any:
    path = tmp_path_factory.mktemp("model") / "m.gr"
    model = SKGRegressor(sigma2=1.0, n_frequencies=4, random_state=0)
    return model.fit(np.eye(4), np.arange(4.0)).save(path).read_bytes()


@pytest.mark.parametrize("change", [damage, forge])
def test_changes_depend_on_the_seed_only(change: Any, model_file: Any) -> None:
    first, again, other = (change(random.Random(seed), model_file) for seed in (1, 1, 2))
    assert first == again != other


def test_forged_files_have_right_checksums(model_file: Any) -> None:
    right = 0
    for seed in range(100):
        try:
            with zipfile.ZipFile(io.BytesIO(forge(random.Random(seed), model_file))) as archive:
                parts = {info.filename: archive.read(info) for info in archive.infolist()}
        except (zipfile.BadZipFile, EOFError):  # its members were made to overlap
            continue
        try:
            header = json.loads(parts.pop("header.json"))
        except json.JSONDecodeError:  # a header that unfolds
            continue
        right += header["sha256"] == {name: sha256(p).hexdigest() for name, p in parts.items()}
    assert right > 80


def test_children_are_judged() -> None:
    assert run_child(lambda: None).code == 0
    assert "ZeroDivisionError" in run_child(lambda: 1 / 0).text
    assert run_child(lambda: signal.raise_signal(signal.SIGKILL)).code == -signal.SIGKILL
    assert run_child(lambda: time.sleep(60), seconds=0.1).code == 124


def test_attempts_that_end_the_process_are_counted() -> None:
    def prepare(folder: Any) -> Any:
        def attempt(number: Any) -> Any:
            if number == 3:
                signal.raise_signal(signal.SIGKILL)
            return ("odd" if number == 1 else None), "tried"

        return attempt

    counts = Counts()
    outcomes = try_many(Budget(30.0, 0, most=10), prepare, counts)
    assert counts.tried == 4
    assert [failure[:8] for failure in counts.failures] == ["odd", "number 3"]
    assert outcomes == {"tried": 3, "crash": 1}


def test_tables_agree_but_for_the_last_digits() -> None:
    table = [["node", "value"], ["a", "1.5"]]
    assert agree([["node", "value"], ["a", "1.500000000001"]], table)
    assert not agree([["node", "value"], ["a", "1.51"]], table)
    assert not agree([["node", "value"], ["b", "1.5"]], table)
    assert not agree([["node", "value"]], table)
