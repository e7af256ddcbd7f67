"""Saving over a file that another program has written meanwhile."""

import pickle
from typing import Any

import pytest

from gradraker import NodeRegressor, SKGRegressor, load
from gradraker.exceptions import ModelFileChangedError


def make_skg() -> Any:
    model = SKGRegressor(sigma2=1.0, n_frequencies=5, random_state=0)
    model.learn_one(["a"], 1.0)
    return model


def make_node_model() -> Any:
    return NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0})


CHANGES: dict[Any, Any] = {
    make_skg: lambda model: model.learn_one(["b"], 2.0),
    make_node_model: lambda model: model.partial_fit(values={"b": 5.0}),
}


@pytest.mark.parametrize("make", CHANGES)
def test_save_refuses_a_file_that_changed(make: Any, tmp_path: Any) -> None:
    path = make().save(tmp_path / "m.gr")
    mine, other = load(path), load(path)
    CHANGES[make](other)
    other.save(path, only_if_unchanged=True)
    CHANGES[make](mine)
    with pytest.raises(ModelFileChangedError, match="was changed by another program") as caught:
        mine.save(path, only_if_unchanged=True)
    assert caught.value.file == str(path)
    other.save(path, only_if_unchanged=True)  # it wrote the file itself
    mine.partial_fit(values={"a": 7.0}) if make is make_node_model else mine.learn_one(["c"], 7.0)
    mine.save(path)  # without only_if_unchanged
    with pytest.raises(ModelFileChangedError):
        other.save(path, only_if_unchanged=True)


def test_file_of_another_kind_or_removed_has_changed(tmp_path: Any) -> None:
    path = make_skg().save(tmp_path / "m.gr")
    model = load(path)
    content = path.read_bytes()
    for other in (
        b"something else",
        content[:-30],
        content[50:],
        content.replace(b"PK", b"XX"),
        b"",
    ):
        path.write_bytes(other)
        with pytest.raises(ModelFileChangedError):
            model.save(path, only_if_unchanged=True)
    path.unlink()
    with pytest.raises(ModelFileChangedError):
        model.save(path, only_if_unchanged=True)


def test_new_model_must_not_replace_a_file_only_if_unchanged(tmp_path: Any) -> None:
    make_skg().save(tmp_path / "m.gr", only_if_unchanged=True)
    with pytest.raises(ModelFileChangedError):
        make_skg().save(tmp_path / "m.gr", only_if_unchanged=True)


def test_link_leads_to_the_same_file(tmp_path: Any) -> None:
    path = make_skg().save(tmp_path / "m.gr")
    (tmp_path / "link").symlink_to(path)
    model = load(tmp_path / "link")
    model.save(path, only_if_unchanged=True)
    pickle.loads(pickle.dumps(model)).save(tmp_path / "link", only_if_unchanged=True)


def test_write_to_equals_save(tmp_path: Any) -> None:
    model = make_node_model()
    with open(tmp_path / "a", "wb") as file:
        model.write_to(file, notes={"x": 1})
    model.save(tmp_path / "b", notes={"x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
