"""Files of banks: round trips, damage, and copies."""

import copy
import json
import pickle
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradraker import GradrakerRegressor, SKGRegressor, load
from gradraker.exceptions import ModelFileError
from gradraker.models.persistence.archive import read_notes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 5))
Y = RNG.normal(size=(12, 2))
NAMES = ["a", "b", "c", "d", "e"]


def bank(**parameters: Any) -> GradrakerRegressor:
    return GradrakerRegressor(
        **{
            "kernels": [1.5, ("laplacian", "theory")],
            "n_frequencies": 4,
            "random_state": 7,
            **parameters,
        }
    )


MODELS = {
    "array": lambda: bank().fit(X, Y[:, 0]),
    "targets": lambda: bank().fit(X, Y),
    "named": lambda: bank().fit(X, Y[:, 0], references=NAMES),
    "frame": lambda: bank().fit(pd.DataFrame(X, columns=NAMES, index=list("abcdefghijkl")), Y),
    "grown": lambda: bank().fit(X, Y[:, 0]).partial_fit([[1.0]], [2.0], references=["new"]),
    "ranges": lambda: bank(kernels="ranges").fit(X, Y[:, 0]),
    "numpy": lambda: bank(kernels=np.array([0.5, 2.0]), weight_step=np.float32(0.5)).fit(X, Y),
    "views": lambda: bank(views={"one": 2, "two": 3}).fit(X, Y),
    "counted views": lambda: bank(views=np.array([2, 3])).fit(X, Y),
    "history": lambda: bank(keep_weights=True).fit(X, Y),
    "regularised": lambda: bank(regularization=0.1, weight_step=0.2).partial_fit(X, Y),
    "light": lambda: bank(keep_known=False).fit(X, Y),
    "generator": lambda: bank(random_state=np.random.RandomState(1)).fit(X, Y),
    "float32": lambda: bank().fit(X.astype(np.float32), Y[:, 0]),
}
EVERY = pytest.mark.parametrize("kind", MODELS)


def rows_for(model: GradrakerRegressor) -> Any:
    return pd.DataFrame(X, columns=NAMES) if hasattr(model, "feature_names_in_") else X


def assert_same(model: GradrakerRegressor, other: GradrakerRegressor) -> None:
    """Equal now, and equal after further training of both."""
    assert type(other) is type(model)
    model, other = copy.deepcopy(model), copy.deepcopy(other)
    assert other.members_ == model.members_
    assert list(other.references_) == list(model.references_)
    rows = rows_for(model)
    for _ in range(2):
        for name in ("coef_", "sigma2_", "seed_", "n_seen_", "kernel_weights_", "member_losses_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
        assert (other.loss_, other.regret_bound_) == (model.loss_, model.regret_bound_)
        assert other.ranges_ == model.ranges_
        np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
        if model.keep_known:
            found, expected = other.explain(rows), model.explain(rows)
            np.testing.assert_array_equal(found.weights, expected.weights)
            assert list(found.known_names) == list(expected.known_names)
        if model.keep_weights:
            np.testing.assert_array_equal(other.weights_history_, model.weights_history_)
        for made in (model, other):
            made.partial_fit(rows, Y[:, 0] if model.coef_.ndim == 2 else Y)


@EVERY
def test_saved_banks_come_back_with_their_notes(kind: str, tmp_path: Path) -> None:
    model, path = MODELS[kind](), tmp_path / "model.skg"
    assert model.save(path, notes={"made": "here"}) == path
    assert_same(model, load(path))
    assert_same(model, GradrakerRegressor.load(path))
    assert read_notes(path) == {"made": "here"}
    again = tmp_path / "again.skg"
    load(path).save(again, notes={"made": "here"})
    assert again.read_bytes() == path.read_bytes()


@EVERY
def test_copies_and_pickles_of_banks_are_equal_and_independent(kind: str) -> None:
    model = MODELS[kind]()
    assert_same(model, pickle.loads(pickle.dumps(model)))


def test_classes_refuse_files_of_each_other(tmp_path: Path) -> None:
    path = bank().fit(X, Y).save(tmp_path / "bank.skg")
    with pytest.raises(ModelFileError, match="holds a model of class 'GradrakerRegressor'"):
        SKGRegressor.load(path)
    path = SKGRegressor(sigma2=1.0, n_frequencies=4).fit(X, Y).save(tmp_path / "single.skg")
    with pytest.raises(ModelFileError, match="holds a model of class 'SKGRegressor'"):
        GradrakerRegressor.load(path)


def rewritten(path: Path, change: Callable[..., Any]) -> None:
    """Change the header and arrays of a file, checksums made anew."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop("header.json"))
    change(header, members)
    header["sha256"] = {name: sha256(part).hexdigest() for name, part in members.items()}
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in members.items():
            archive.writestr(name, part)


def set_state(key: Any, value: Any) -> Any:
    return lambda header, members: header["state"].update({key: value})


def set_parameter(key: Any, value: Any) -> Any:
    return lambda header, members: header["parameters"].update({key: value})


def swap(name: Any, other: Any) -> Any:
    return lambda header, members: members.update({f"{name}.npy": members[f"{other}.npy"]})


def drop(name: Any) -> Any:
    return lambda header, members: members.pop(f"{name}.npy")


def member(**changes: Any) -> Any:
    def change(header: Any, members: Any) -> None:
        header["state"]["members"][0].update(changes)

    return change


DAMAGE = {
    "no members": set_state("members", []),
    "fewer members": lambda header, members: header["state"]["members"].pop(),
    "a variance below 0": member(sigma2=-1.0),
    "a variance that is a rule": member(sigma2="cv"),
    "an unknown view": member(view="elsewhere"),
    "an unknown family": member(kernel="cauchy"),
    "a key too many": member(weight=1.0),
    "views that do not add up": set_parameter("views", {"one": 2, "two": 9}),
    "a bad step": set_parameter("weight_step", -1.0),
    "a bad kernel": set_parameter("kernels", [["gaussian", "magic"]]),
    "losses of another shape": swap("losses", "coef_"),
    "no losses": drop("losses"),
    "no totals": drop("totals"),
    "losses for the history": swap("weights_history_", "learned_order"),
    "a name twice": lambda header, members: header["state"].update(
        named=["a", "a"], n_numbered=header["state"]["n_numbered"] - 2
    ),
    "ranges of nothing": set_state("ranges", [["one", "gaussian", {}]]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_refused(damage: str, tmp_path: Path) -> None:
    views = {"one": 2, "two": 3}
    path = bank(views=views, keep_weights=True).fit(X, Y).save(tmp_path / "model.skg")
    load(path)
    rewritten(path, DAMAGE[damage])
    with pytest.raises(ModelFileError, match=r"model\.skg"):
        load(path)


def test_negative_losses_are_refused(tmp_path: Path) -> None:
    model = bank().fit(X, Y)
    model._hedge.losses[0] = -1.0
    with pytest.raises(ModelFileError, match="losses are not sums of squares"):
        load(model.save(tmp_path / "model.skg"))


def test_a_byte_changed_anywhere_is_noticed(tmp_path: Path) -> None:
    path = bank().fit(X, Y).save(tmp_path / "model.skg")
    content = bytearray(path.read_bytes())
    for position in range(60, len(content), 997):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            other = load(path)
        except (ModelFileError, NotImplementedError):
            continue
        assert_same(bank().fit(X, Y), other)  # a byte of the archive that says nothing
