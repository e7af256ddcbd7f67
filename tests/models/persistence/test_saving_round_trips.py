"""Model files: round trips, and that no failure loses an older file."""

import copy
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gradraker
from forked_process import start_python
from gradraker import SKGRegressor, load
from gradraker.kernels.shift_invariant import KERNELS
from saved_models import (
    EVERY,
    MODELS,
    NAMES,
    X,
    Y,
    assert_same,
    read_parts,
    regressor,
    rows_for,
)

# -- round trips -------------------------------------------------------------------------------


@EVERY
def test_a_saved_model_is_loaded_unchanged(kind: str, path: Path) -> None:
    model = MODELS[kind]()
    assert model.save(path) == path
    assert_same(model, load(path))
    assert_same(model, SKGRegressor.load(path))
    assert_same(model, load(os.fspath(path)))


@EVERY
@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=["deepcopy", "pickle"],
)
def test_copies_and_pickles_are_equal_and_independent(
    kind: str, duplicate: Callable[..., Any]
) -> None:
    model = MODELS[kind]()
    other = duplicate(model)
    assert_same(model, other)
    before = model.coef_.copy()
    other.learn_one(["x"], np.ones(model.coef_.shape[:-1]).tolist())
    np.testing.assert_array_equal(model.coef_, before)
    assert "x" not in list(model.references_)


@EVERY
def test_a_clone_is_not_fitted_and_learns_the_same(kind: str) -> None:
    model = MODELS[kind]()
    other = clone(model)
    assert not hasattr(other, "coef_")
    if isinstance(model.random_state, int | np.integer) and hasattr(model, "n_features_in_"):
        y = Y[:, 0] if model.coef_.ndim == 1 else Y[:, : len(model.coef_)]
        np.testing.assert_array_equal(
            other.fit(**rows_for(model), y=y).coef_, model.fit(**rows_for(model), y=y).coef_
        )


def test_explanations_of_a_loaded_model_are_the_same(path: Path) -> None:
    model = MODELS["indexed"]()
    before = model.explain(pd.DataFrame(X[:3], columns=NAMES))
    model.save(path)
    after = load(path).explain(pd.DataFrame(X[:3], columns=NAMES))
    np.testing.assert_array_equal(after.weights, before.weights)


def test_a_second_save_replaces_the_first(path: Path) -> None:
    MODELS["targets"]().save(path)
    model = MODELS["named"]()
    model.save(path)
    assert_same(model, load(path))
    assert [file.name for file in path.parent.iterdir()] == ["model.skg"]


@EVERY
def test_equal_models_make_equal_files(kind: str, path: Path, tmp_path: Path) -> None:
    model = MODELS[kind]()
    model.save(path)
    again = load(path)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes() or kind == "generator"


def test_saving_changes_nothing_of_the_model(path: Path) -> None:
    model = MODELS["grown"]()
    other = copy.deepcopy(model)
    model.save(path)
    assert_same(other, model)


def test_a_saved_generator_is_the_seed_drawn_from_it(path: Path) -> None:
    model = MODELS["generator"]()
    model.save(path)
    assert load(path).random_state == model.seed_


def test_loading_does_not_draw_frequencies_that_are_not_used(path: Path) -> None:
    # A file holds the seed and the names: its size does not grow with M × D.
    model = regressor(n_frequencies=50).partial_fit(np.zeros((1, 20_000)), [1.0])
    model.save(path)
    assert path.stat().st_size < 10_000
    assert load(path).predict(np.ones((1, 20_000))) == model.predict(np.ones((1, 20_000)))


def run_program(program: str, *words: Path) -> int:
    """Run a program in a Python that starts, in which texts have other hashes."""
    command = [sys.executable, "-c", program, *map(str, words)]
    environment = {**os.environ, "PYTHONHASHSEED": "5"}
    return subprocess.run(command, check=False, env=environment).returncode


@pytest.mark.process
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda *words: start_python(*words).wait(120.0), id="forked"),
        pytest.param(run_program, id="started", marks=pytest.mark.slow),
    ],
)
def test_another_process_continues_bit_for_bit(run: Any, path: Path, tmp_path: Path) -> None:
    model = MODELS["named"]()
    model.learn_one([("tuple", 1.5), b"bytes", 0.25, "Zürich"], 0.5)
    model.save(path)
    program = """
import sys, numpy as np, gradraker
model = gradraker.load(sys.argv[1])
model.learn_one([("tuple", 1.5), b"bytes", 0.25, "new"], 1.0)
model.partial_fit(np.arange(10.0).reshape(2, 5), [1.0, 2.0])
model.save(sys.argv[2])
"""
    assert run(program, path, tmp_path / "later.skg") == 0
    model.learn_one([("tuple", 1.5), b"bytes", 0.25, "new"], 1.0)
    model.partial_fit(np.arange(10.0).reshape(2, 5), [1.0, 2.0])
    assert_same(model, load(tmp_path / "later.skg"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_parameters_seed_and_names_of_a_file_make_the_same_frequencies(
    kernel: str, path: Path
) -> None:
    # The promise of the format: parameters, seed and names make the same features again.
    model = regressor(kernel=kernel).fit(X, Y[:, 0], references=NAMES)
    model.save(path)
    header = read_parts(path)[0]
    again = SKGRegressor(**header["parameters"])
    again.partial_fit(X, Y[:, 0], references=header["state"]["named"])
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)


# -- failures while writing --------------------------------------------------------------------


def only_file(path: Path) -> bool:
    return [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("target", ["writestr", "fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    old = MODELS["targets"]()
    old.save(path)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("No space left on device")

    owner = {"fsync": os, "replace": Path}.get(target, zipfile.ZipFile)
    with monkeypatch.context() as patch:
        patch.setattr(owner, target, fail)
        with pytest.raises(OSError, match="No space left"):
            MODELS["named"]().save(path)
    assert only_file(path)
    assert_same(old, load(path))


def test_an_interrupt_while_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = MODELS["targets"]()
    old.save(path)

    def interrupt(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "writestr", interrupt)
        with pytest.raises(KeyboardInterrupt):
            MODELS["named"]().save(path)
    assert only_file(path)
    assert_same(old, load(path))


@pytest.mark.parametrize(
    "parameters", [{"kernel": "cauchy"}, {"n_frequencies": 9}, {"learning_rate": 3}, {"sigma2": -1}]
)
def test_parameters_changed_after_training_are_not_saved(
    path: Path, parameters: dict[Any, Any]
) -> None:
    # The file would describe another model than the one in memory.
    model = MODELS["named"]().set_params(**parameters)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        model.save(path)
    assert not list(path.parent.iterdir())


def test_a_file_can_be_read_by_others(path: Path) -> None:
    MODELS["array"]().save(path)
    usual = path.with_name("usual")
    usual.write_text("")
    assert path.stat().st_mode == usual.stat().st_mode


def test_the_header_is_documented_json(path: Path) -> None:
    MODELS["named"]().save(path)
    header, arrays = read_parts(path)
    assert header["format"] == "gradraker-model"
    assert header["format_version"] == 1
    assert header["gradraker_version"] == gradraker.__version__
    assert header["class"] == "SKGRegressor"
    assert header["parameters"]["kernel"] == "gaussian"
    assert header["state"]["named"] == NAMES
    assert header["sha256"] == {name: sha256(part).hexdigest() for name, part in arrays.items()}
    assert "coef_.npy" in arrays


def test_a_model_whose_seed_came_from_a_generator_can_be_fitted_again(tmp_path: Path) -> None:
    model = regressor(random_state=np.random.RandomState(1)).fit(X, Y)
    again = gradraker.load(model.save(tmp_path / "m.skg"))
    np.testing.assert_array_equal(clone(again).fit(X, Y).coef_, model.coef_)
