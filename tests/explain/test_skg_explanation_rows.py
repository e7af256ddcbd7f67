"""The record of learned rows: order, copies, names, and memory."""

import copy
import pickle
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gradraker import SKGRegressor
from gradraker.explain import skg_explanation as observed_module
from gradraker.explain.skg_explanation import Record
from gradraker.features import RowArrays
from gradraker.models.row_model import find_row_names


def make_rows(*rows: list[Any]) -> RowArrays:
    """Rows of pairs (column, weight)."""
    ends = np.cumsum([0, *map(len, rows)])
    pairs = [pair for row in rows for pair in row]
    return RowArrays(
        ends.astype(np.int64),
        np.array([column for column, _ in pairs], dtype=np.int32),
        np.array([weight for _, weight in pairs], dtype=float),
    )


def add(
    record: Record,
    rows: RowArrays,
    Y: list[Any],
    order: list[int],
    *,
    learning_rate: float = 0.1,
    dtype: type[Any] = np.float64,
    names: list[str] | None = None,
) -> None:
    record.add(
        rows, np.array(Y), np.array(order), learning_rate=learning_rate, dtype=dtype, names=names
    )


def add_one(
    record: Record, pairs: list[Any], Y: list[float], *, learning_rate: float = 0.1
) -> None:
    rows = make_rows(pairs)
    record.add_one(rows.indices, rows.data, np.array(Y), learning_rate)


def contents(record: Record) -> dict[str, Any]:
    """All that a record holds, as plain lists."""
    found = record.to_learned_rows()
    indptr, indices, data = (part.tolist() for part in found.rows)
    return {
        "rows": [list(zip(indices[a:b], data[a:b], strict=True)) for a, b in pairwise(indptr)],
        "Y": found.Y.tolist(),
        "order": found.order.tolist(),
        "rates": found.rates.tolist(),
        "single": found.single.tolist(),
        "names": found.names,
    }


def test_record_keeps_the_order_of_its_parts() -> None:
    record = Record()
    rows = make_rows([(0, 1.0), (2, 0.5)], [])
    add(record, rows, [[1.0], [2.0]], [1, 0, 0, 1], learning_rate=0.2, names=["a", "b"])
    add_one(record, [(1, 3.0)], [3.0], learning_rate=0.3)
    add_one(record, [], [4.0], learning_rate=0.4)
    add(record, make_rows([(3, -1.0)]), [[5.0]], [0], dtype=np.float32)
    add_one(record, [(0, 1.0), (0, 1.0)], [6.0])
    assert contents(record) == {
        "rows": [[(0, 1.0), (2, 0.5)], [], [(1, 3.0)], [], [(3, -1.0)], [(0, 1.0), (0, 1.0)]],
        "Y": [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]],
        "order": [1, 0, 0, 1, 2, 3, 4, 5],
        "rates": [0.2, 0.2, 0.2, 0.2, 0.3, 0.4, 0.1, 0.1],
        "single": [False, False, False, False, True, False],
        # Nodes without a name have their number among all.
        "names": ("a", "b", 2, 3, 4, 5),
    }
    assert len(record.to_learned_rows()) == 6


def test_record_of_rows_without_names_has_none() -> None:
    record = Record()
    add(record, make_rows([(0, 1.0)]), [[1.0]], [0])
    add_one(record, [(0, 1.0)], [1.0])
    assert contents(record)["names"] is None


@settings(deadline=None)
@given(actions=st.lists(st.sampled_from(["part", "one", "look", "copy"]), min_size=1, max_size=12))
def test_reading_a_record_while_it_grows_does_not_change_it(actions: Any) -> None:
    """Joined early or late, copied or not, with few or many nodes waiting: the same record."""
    plain, looked_at = Record(), Record()
    rng = np.random.default_rng(len(actions))
    n_added = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observed_module, "_MOST_SINGLE_NODES", 2)
        for action in actions:
            row = [(int(c), float(rng.random())) for c in rng.permutation(4)[: rng.integers(0, 4)]]
            value = rng.random(2).tolist()
            for record in (plain, looked_at):
                if action == "part":
                    add(record, make_rows(row, row), [value, value], [1, 0])
                elif action == "one":
                    add_one(record, row, value)
            n_added += {"part": 2, "one": 1}.get(action, 0)
            if action == "look" and n_added:
                assert len(looked_at.to_learned_rows()) == n_added
            elif action == "copy":
                looked_at = copy.deepcopy(looked_at)
    if n_added:
        assert contents(looked_at) == contents(plain)


def test_learned_rows_do_not_change_when_the_record_grows() -> None:
    record = Record()
    add(record, make_rows([(0, 1.0)]), [[1.0]], [0])
    before = record.to_learned_rows()
    add_one(record, [(1, 1.0)], [2.0])
    after = record.to_learned_rows()
    assert len(before) == 1
    assert before.order.tolist() == [0]
    assert len(after) == 2


def test_record_copies_arrays() -> None:
    record = Record()
    rows, Y, order = make_rows([(0, 1.0)], [(1, 2.0)]), np.array([[1.0], [2.0]]), np.array([1, 0])
    record.add(rows, Y, order, learning_rate=0.1, dtype=np.float64, names=None)
    expected = contents(record)
    for array in (*rows, Y, order):
        array[:] = 0
    assert contents(record) == expected


def test_an_empty_record_can_be_copied() -> None:
    record = pickle.loads(pickle.dumps(Record()))
    add(record, make_rows([(0, 1.0)]), [[1.0]], [0])
    assert len(record.to_learned_rows()) == 1


# -- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.ones((2, 2)), None),
        (sparse.csr_array(np.ones((2, 2))), None),
        (sparse.coo_matrix(np.ones((2, 2))), None),
        ([[1.0], [2.0]], None),
        (pl.DataFrame({"a": [1.0, 2.0]}), None),
        (pd.DataFrame({"a": [1.0, 2.0]}), None),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"]), ["x", "y"]),
        (pd.DataFrame({"a": [1.0, 2.0, 3.0]}).iloc[1:], [1, 2]),
        (pd.DataFrame({"a": [1.0, 2.0, 3.0]}).iloc[::2], [0, 2]),
        (pd.DataFrame({"a": [1.0, 2.0]}).iloc[::-1], [1, 0]),
        (pd.DataFrame({"a": [1.0, 2.0]}, index=[5, 5]), [5, 5]),
        (
            pd.DataFrame({"a": [1.0]}, index=pd.MultiIndex.from_tuples([("x", 1)])),
            [("x", 1)],
        ),
    ],
)
def test_names_of_rows_come_from_the_index_of_a_frame(X: Any, expected: list[Any] | None) -> None:
    assert find_row_names(X) == expected


# -- what it costs -----------------------------------------------------------------------------


def kept_bytes(learn: Callable[..., Any]) -> int:
    """Bytes that a trained model holds more with a record than without."""
    held = {}
    for keep in (False, True):
        model = SKGRegressor(sigma2=2.0, n_frequencies=2, random_state=0, keep_known=keep)
        learn(model)  # compiles, and makes the table of frequencies
        tracemalloc.start()
        learn(model)
        held[keep] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    return held[True] - held[False]


def documented_bytes(n_edges: int, n_steps: int, n_nodes: int, n_targets: int = 1) -> int:
    return 12 * n_edges + 16 * n_steps + (9 + 8 * n_targets) * n_nodes


def test_memory_of_rows_is_as_documented() -> None:
    rng = np.random.default_rng(0)
    n, degree = 3000, 5
    X = np.zeros((n, 40))
    np.put_along_axis(X, rng.permuted(np.tile(np.arange(40), (n, 1)), axis=1)[:, :degree], 1.0, 1)
    Y = rng.normal(size=(n, 2))
    found = kept_bytes(lambda model: model.partial_fit(X, Y))
    assert found == pytest.approx(documented_bytes(n * degree, n, n, 2), rel=0.02)


def test_memory_of_nodes_learned_one_at_a_time_is_as_documented() -> None:
    n, degree = 5000, 5

    def learn(model: Any) -> None:
        for i in range(n):
            model.learn_one([i % 7, *range(10, 9 + degree)], 1.0)

    # Nodes that wait to be joined may take a little more.
    documented = documented_bytes(n * degree, n, n)
    assert 0.98 * documented < kept_bytes(learn) < 1.3 * documented


@pytest.mark.parametrize("keep", [True, False])
def test_keep_known_set_after_training_does_not_change_the_file(tmp_path: Path, keep: bool) -> None:
    X, y = np.eye(3), [1.0, 2.0, 3.0]
    model = SKGRegressor(sigma2=1.0, random_state=0, keep_known=keep).fit(X, y)
    model.set_params(keep_known=not keep)
    again = SKGRegressor.load(model.save(tmp_path / "m.skg"))
    assert np.array_equal(again.predict(X), model.predict(X))
    if keep:
        assert np.array_equal(again.explain(X).weights, model.explain(X).weights)


def test_names_with_time_stamps_can_be_saved(tmp_path: Path) -> None:
    names = [("a", np.datetime64("2020-01-01")), ("b", np.datetime64("2020-01-02"))]
    model = SKGRegressor(sigma2=1.0, random_state=0).fit(np.eye(2), [1.0, 2.0], node_names=names)
    again = SKGRegressor.load(model.save(tmp_path / "m.skg"))
    assert again.explain(np.eye(2)).known_names[0] == ("a", "2020-01-01")
