"""Identities of referencing nodes, and checks of their names."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker.features import FrequencyTable, check_references, identify_reference
from gradraker.graph.names import identify_references

# Names of every kind; equal names are in one group.
GROUPS = [
    [0, 0.0, -0.0, False, np.int8(0), np.float32(0), np.bool_(False)],
    [1, 1.0, True, np.uint64(1)],
    [-1, -1.0, np.int64(-1)],
    [2**63 - 1],
    [2**63, float(2**63), np.uint64(2**63)],
    [-(2**63), -float(2**63)],
    [2**64 - 1],
    [2**64, 2.0**64],
    [10**30],
    ["1", np.str_("1")],
    ["1.0"],
    [b"1", np.bytes_(b"1")],
    [""],
    [b""],
    [()],
    ["a"],
    [("a",), (np.str_("a"),)],
    [(("a",),)],
    [("a", 1), ("a", 1.0), ("a", True), ("a", np.int32(1))],
    [("a", "1")],
    [("a1",)],
    [("a", "b")],
    [("ab",)],
    [(("a",), "b")],
    [0.5, np.float64(0.5), np.float16(0.5)],
    [0.1],
    [float(np.float32(0.1)), np.float32(0.1)],
    [math.inf, np.float64(np.inf)],
    [-math.inf],
    ["Zürich"],
    ["Zu\u0308rich"],
    ["\ud83d\ude00"],
    ["\U0001f600"],
]


def test_identities_are_equal_for_equal_names_only() -> None:
    identities = [{identify_reference(name) for name in group} for group in GROUPS]  # type: ignore[attr-defined]
    assert all(len(group) == 1 for group in identities)
    assert len(set.union(*identities)) == len(GROUPS)
    assert all(0 <= identity < 2**64 for identity in set.union(*identities))


DAVOS = 0x7D4620CEFF5C7C63
DAVOS_7260 = 0x1547943E3D84BF49
DAVOS_BYTES = 0x59219F939079FEC9
TENTH = 0x45AA4D1E96CFAA7A
LARGE = 0x5D3FC30B12AD6B5D


def test_identities_are_reproducible() -> None:
    # Model files rely on these.
    assert identify_reference(7) == 7
    assert identify_reference(-1) == 2**64 - 1
    assert identify_reference("Davos") == DAVOS
    assert identify_reference(("Davos", 7260)) == DAVOS_7260
    assert identify_reference(b"Davos") == DAVOS_BYTES
    assert identify_reference(0.1) == TENTH
    assert identify_reference(10**30) == LARGE


BAD_NAMES: Any = [
    None,
    math.nan,
    np.float64("nan"),
    1j,
    np.complex64(1),
    frozenset(),
    (1, None),
    object,
]


@pytest.mark.parametrize("name", [*BAD_NAMES, np.datetime64("2020-01-01", "ns")])
def test_identify_reference_refuses_bad_names(name: Any) -> None:
    with pytest.raises(TypeError, match="a reference name must be an int, str, bytes, float"):
        identify_reference(name)
    with pytest.raises(TypeError, match="a reference name must be"):
        FrequencyTable(0, 2, "gaussian", n_numbered=3).add([name])


def test_identities_of_arrays_equal_those_of_single_names() -> None:
    for names in (
        np.array([-5, 0, 3], dtype=np.int16),
        np.array([0, 2**32 - 1], dtype=np.uint32),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        range(3, 30, 7),
        ["a", 3, 0.5],
        [],
    ):
        expected = [identify_reference(name) for name in names]
        assert identify_references(names).tolist() == expected
        assert identify_references(names).dtype == np.uint64


@given(
    st.lists(
        st.recursive(
            # Few letters and small numbers, so that names meet and nearly meet.
            st.one_of(
                st.integers(-2, 2),
                st.text("ab", max_size=3),
                st.binary(max_size=1),
                st.floats(-2, 2),
            ),
            lambda names: st.lists(names, max_size=3).map(tuple),
            max_leaves=5,
        ),
        max_size=10,
    )
)
@settings(deadline=None, derandomize=True, max_examples=2 * settings().max_examples)
def test_identities_differ_for_different_names(names: Any) -> None:
    identities = [identify_reference(name) for name in names]
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            assert (identities[i] == identities[j]) == (name == other)


@pytest.mark.parametrize(
    "references",
    [["a", "b"], ("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], dtype=object)],
)
def test_check_references_accepts_any_sequence(references: Any) -> None:
    assert check_references(references, 2) == ["a", "b"]


@pytest.mark.parametrize(
    "references", ["ab", b"ab", {"a", "b"}, frozenset("ab"), {"a": 0, "b": 1}, iter("ab"), 2, None]
)
def test_check_references_refuses_other_containers(references: Any) -> None:
    # A set has no order: names would go to columns by chance, and differently in each process.
    with pytest.raises(TypeError, match="references must be a sequence"):
        check_references(references, 2)


@pytest.mark.parametrize("references", [[], ["a"], ["a", "b", "c"]])
def test_check_references_refuses_wrong_length(references: list[Any]) -> None:
    with pytest.raises(ValueError, match=f"got {len(references)} names for 2 columns"):
        check_references(references, 2)


@pytest.mark.parametrize("references", [["a", "a"], [1, 1.0], [1, True], [np.int64(3), 3]])
def test_check_references_refuses_repeated_names(references: list[Any]) -> None:
    with pytest.raises(ValueError, match="references must not repeat a name"):
        check_references(references, 2)


def test_check_references_refuses_unhashable_names() -> None:
    with pytest.raises(TypeError, match="references must be hashable"):
        check_references(["a", ["b"]], 2)  # type: ignore[list-item]
