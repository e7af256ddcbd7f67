"""Names of every kind are restored from JSON and from files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gradraker import load
from gradraker.features import identify_reference
from gradraker.models.persistence.names_as_json import decode_name, encode_name
from saved_models import (
    regressor,
)


@pytest.mark.parametrize(
    "name",
    [
        *["s", "", "Zürich", "\U0001f600", "\ud83d\ude00", "\ud800", "a\x00b", '"', "{}"],
        *[b"", b"\xff\x00", 0, -1, 2**63, 2**64, -(10**40), True, False],
        *[0.5, -0.0, 1e300, 5e-324, float("inf")],
        *[(), ("a", 1), (("a", (b"b", 0.1)), "\ud800"), ("tuple",), (True,)],
        *[np.int32(3), np.float32(0.1), np.str_("x"), np.bytes_(b"x"), np.bool_(True)],
        ("a", np.int8(1)),
    ],
)
def test_a_name_of_every_kind_is_saved(name: Any, path: Path) -> None:
    model = regressor()
    model.learn_one(["first", name], 1.0)
    model.save(path)
    again = load(path)
    assert again.references_ == model.references_ == ["first", name]
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)
    assert again.predict_one([name]) == model.predict_one([name])


NAME = st.recursive(
    st.one_of(
        st.integers(),
        st.text(st.characters()),
        st.text(st.characters(categories=["Cs"]), max_size=3),
        st.binary(),
        st.floats(allow_nan=False),
        st.booleans(),
    ),
    lambda names: st.lists(names, max_size=3).map(tuple),
    max_leaves=6,
)


@given(NAME)
@example("\ud83d\ude00")
@settings(deadline=None, derandomize=True, max_examples=3 * settings().max_examples)
def test_names_are_restored_from_json(name: Any) -> None:
    text = json.dumps(encode_name(name), allow_nan=False)
    again = decode_name(json.loads(text))
    assert again == name
    assert type(again) is type(name)
    assert identify_reference(again) == identify_reference(name)


@given(st.lists(NAME, min_size=1, max_size=6, unique=True))
@settings(
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_names_are_restored_from_files(path: Path, names: Any) -> None:
    model = regressor().fit(np.eye(len(names)), np.arange(len(names)), references=names)
    model.save(path)
    again = load(path)
    assert again.references_ == names
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)
