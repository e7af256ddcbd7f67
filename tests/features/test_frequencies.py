"""The table of random frequencies: what a row depends on, growing, copies."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradraker.features import FrequencyTable, frequencies


def test_frequencies_depend_on_seed_kernel_and_name_only() -> None:
    whole = FrequencyTable(5, 40, "gaussian", n_numbered=3, named=["a", "b", ("c", 1), 7])
    rows = whole.compute_frequencies(1.0)
    for row, name in zip(rows, [0, 1, 2, "a", "b", ("c", 1), 7], strict=True):
        alone = FrequencyTable(5, 40, "gaussian", named=[name]).compute_frequencies(1.0)
        np.testing.assert_array_equal(alone[0], row)
        assert not np.array_equal(
            FrequencyTable(6, 40, "gaussian", named=[name]).compute_frequencies(1.0), alone
        )
        assert not np.array_equal(
            FrequencyTable(5, 40, "cauchy", named=[name]).compute_frequencies(1.0), alone
        )


def test_frequencies_do_not_depend_on_order_of_nodes() -> None:
    grown = FrequencyTable(5, 40, "cauchy")
    for name in ["d", "a", "c", "b"]:
        grown.add([name])
        grown.prepare_names([name])
    at_once = FrequencyTable(5, 40, "cauchy", named=["a", "b", "c", "d"])
    np.testing.assert_array_equal(
        grown.compute_frequencies(1.0)[grown.find_rows(["a", "b", "c", "d"])],
        at_once.compute_frequencies(1.0),
    )
    assert grown.names == ["d", "a", "c", "b"]


def test_growing_keeps_drawn_rows() -> None:
    table = FrequencyTable(1, 8, "gaussian", n_numbered=2)
    before = table.compute_frequencies(1.0)
    for k in range(100):
        table.add([f"node {k}"])
        np.testing.assert_array_equal(table.compute_frequencies(1.0)[:2], before)
    assert len(table) == 102
    assert np.isfinite(table.compute_frequencies(1.0)).all()


def test_growing_keeps_undrawn_rows_undrawn() -> None:
    table = FrequencyTable(1, 8, "gaussian", n_numbered=3)
    table.prepare(np.array([1], dtype=np.int32))
    table.add(["a", "b", "c", "d"])  # more than there is room for
    expected = FrequencyTable(1, 8, "gaussian", named=[0, 1, 2, "a", "b", "c", "d"])
    np.testing.assert_array_equal(table.compute_frequencies(1.0), expected.compute_frequencies(1.0))


def test_find_accepts_equal_names_of_other_types() -> None:
    table = FrequencyTable(1, 2, "gaussian", n_numbered=3, named=["x", 5, 0.5])
    for name in (2, 2.0, np.int8(2), np.uint64(2), np.float32(2)):
        assert table.find(name) == 2
    assert [table.find(name) for name in (5, 5.0, np.int64(5))] == [4, 4, 4]
    assert table.find(np.str_("x")) == 3
    assert table.find(True) == 1
    for name in (3, -1, 2.5, "2", math.inf, -math.inf, math.nan, 10**30, None, np.complex64(2), ()):  # type: ignore[assignment]
        assert table.find(name) is None
    assert table.has_all([0, "x"])
    assert not table.has_all([0, "y"])


def test_add_missing_adds_once() -> None:
    table = FrequencyTable(1, 2, "gaussian", n_numbered=2, named=["a"])
    table.add_missing(["b", "a", 1, 1.0, "b", 2, 2.0])
    assert table.names == [0, 1, "a", "b", 2]


def test_add_with_a_bad_name_adds_none() -> None:
    table = FrequencyTable(1, 2, "gaussian", named=["a"])
    with pytest.raises(TypeError):
        table.add_missing(["b", None])
    assert table.names == ["a"]
    assert len(table) == 1


def test_drop_from_forgets_later_nodes_only() -> None:
    table = FrequencyTable(1, 3, "gaussian", n_numbered=2, named=["a", "b", "c"])
    before = table.compute_frequencies(1.0)
    table.prepare_names(["b", "c", "a"])
    table.drop_from(3)
    assert table.names == [0, 1, "a"]
    assert table.find("b") is None
    assert table.drawn_rows == {"a": 2}
    np.testing.assert_array_equal(table.compute_frequencies(1.0), before[:3])
    # The places are used again by others, whose rows must be drawn.
    table.add(["z"])
    expected = FrequencyTable(1, 3, "gaussian", named=["z"]).compute_frequencies(1.0)
    np.testing.assert_array_equal(table.compute_frequencies(1.0)[3:], expected)


def test_frequencies_are_units_over_sigma() -> None:
    table = FrequencyTable(1, 5, "laplacian", n_numbered=4)
    np.testing.assert_array_equal(
        table.compute_frequencies(0.25), table.compute_frequencies(1.0) / 4
    )
    assert table.compute_frequencies(1.0).dtype == np.float64


def test_prepare_draws_used_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw_rows = frequencies.draw_rows  # type: ignore[attr-defined]
    monkeypatch.setattr(
        frequencies,
        "draw_rows",
        lambda s, i, rows, d, t: (drawn.append(rows.tolist()), draw_rows(s, i, rows, d, t)),  # type: ignore[func-returns-value]
    )
    table = FrequencyTable(0, 4, "gaussian", n_numbered=10)
    table.prepare(np.array([7, 2, 7], dtype=np.int32))
    table.prepare(np.array([2, 3], dtype=np.int32))
    table.prepare(np.array([3], dtype=np.int32))
    assert [rows for rows in drawn if rows] == [[2, 7], [3]]


@pytest.mark.parametrize("column", [-1, 5, 6, 2**31 - 1])
def test_prepare_refuses_columns_outside_the_table(column: int) -> None:
    # The compiled loops do not check bounds, so this is what protects the memory.
    table = FrequencyTable(0, 4, "gaussian", n_numbered=4, named=["a"])
    table.add(["b"])
    table.drop_from(5)
    with pytest.raises(IndexError, match="outside the 5 referencing nodes"):
        table.prepare(np.array([0, column], dtype=np.int32))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_hold_seed_and_names_instead_of_frequencies(duplicate: Callable[..., Any]) -> None:
    table = FrequencyTable(2**64 - 1, 300, "cauchy", n_numbered=1000, named=["a", ("b", 1.5)])
    before = table.compute_frequencies(1.0)
    again = duplicate(table)
    assert list(again.names) == list(table.names)
    np.testing.assert_array_equal(again.compute_frequencies(1.0), before)
    assert len(pickle.dumps(table)) < 1000
    again.add(["new"])
    assert len(table) == 1002


def test_select_names_keeps_the_table() -> None:
    table = FrequencyTable(4, 6, "gaussian", n_numbered=2)
    other = table.select_names([1, "new"])
    np.testing.assert_array_equal(
        other.compute_frequencies(1.0)[0], table.compute_frequencies(1.0)[1]
    )
    assert len(table) == 2
