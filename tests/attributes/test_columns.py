"""Encoders as data: they transform as skrub's do, and a file restores them unchanged."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gradraker.attributes import learn_attributes
from gradraker.attributes.columns import restore_column
from gradraker.attributes.files import dump_attributes, restore_attributes
from gradraker.attributes.forms import read_attributes
from gradraker.attributes.table import AttributeTable
from gradraker.graph.names import to_name_array

skrub = pytest.importorskip("skrub")

N = 120
NODES = to_name_array([f"n{i}" for i in range(N)], argument="nodes")


def _make_frame(n: int = N) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [1.0, 2.0, np.nan, 4.0] * (n // 4),
            "kind": ["x", "y", None, "x"] * (n // 4),
            "is_new": [True, False, True, False] * (n // 4),
            "since": pd.date_range("2020-01-01", periods=n, freq="37h"),
            "text": [f"word {i} some text {i * 7 % 13}" for i in range(n)],
            "sex": ["u", "v"] * (n // 2),
            "digits": [str(i) for i in range(n)],
            "colour": pd.Categorical(["red", "green", "blue", "red"] * (n // 4)),
            "day": [f"2021-0{1 + i % 9}-1{i % 10}" for i in range(n)],
        },
        index=[f"n{i}" for i in range(n)],
    )


def _transform_by_skrub(frame: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    vectorizer = skrub.TableVectorizer(
        high_cardinality=skrub.StringEncoder(random_state=0),
        datetime=skrub.DatetimeEncoder(resolution="microsecond"),
        drop_null_fraction=None,
    )
    vectorizer.fit(frame)
    return vectorizer.transform(new)


def _encode(table: AttributeTable, new: Any) -> np.ndarray[Any, Any]:
    return np.asarray(table.encode(read_attributes(new, NODES)))


@pytest.fixture(scope="module")
def table() -> AttributeTable:
    return learn_attributes(_make_frame(), NODES)


@pytest.fixture(scope="module")
def reloaded(table: AttributeTable) -> AttributeTable:
    state, arrays = dump_attributes(table)
    return restore_attributes(json.loads(json.dumps(state)), arrays, N)


def test_transforms_equal_those_of_skrub(table: AttributeTable, reloaded: AttributeTable) -> None:
    frame = _make_frame()
    new = frame.iloc[::-3].copy()
    new.iloc[0, 1], new.iloc[1, 4], new.iloc[2, 5] = "new kind", "N/A", "w"
    with pytest.warns(UserWarning, match="unknown categories"):  # theirs
        # Ours are fitted on sorted entries, so that the order of nodes does not matter.
        expected = _transform_by_skrub(frame.assign(text=sorted(frame["text"])), new)
    assert list(expected.columns) == list(table.names) == list(reloaded.names)
    numbers = expected.to_numpy(dtype=np.float64)
    for one in (table, reloaded):
        np.testing.assert_allclose(_encode(one, new), numbers, rtol=1e-5, atol=1e-5)


def test_polars_frames_are_encoded_alike(table: AttributeTable) -> None:
    frame = pl.from_pandas(_make_frame().reset_index(names="node"))
    again = learn_attributes(frame, NODES)
    assert again.names == table.names
    np.testing.assert_allclose(again.matrix, table.matrix)
    np.testing.assert_allclose(_encode(table, frame[:7]), table.matrix[:7])


def test_describe_lists_kinds_of_columns(table: AttributeTable) -> None:
    facts = table.describe()
    assert facts["kinds"] == {"number": 3, "category": 3, "date": 2, "text": 1}
    assert json.loads(json.dumps(facts)) == facts


@pytest.mark.parametrize(
    ("column", "entry", "message"),
    [
        ("age", "old", "'old' in column 'age', where there were numbers before"),
        ("since", "soon", "'soon' in column 'since', where there were dates before"),
    ],
)
def test_text_in_a_column_of_numbers_or_dates_is_refused(
    table: AttributeTable, column: str, entry: str, message: str
) -> None:
    new = _make_frame().iloc[:2].astype({column: object})
    new.iloc[0, new.columns.get_loc(column)] = entry
    with pytest.raises(ValueError, match=message):
        _encode(table, new)


def test_other_columns_than_at_fit_are_refused(table: AttributeTable) -> None:
    frame = _make_frame()
    with pytest.raises(ValueError, match="lacks 'age' and has 'years', which fit did not see"):
        _encode(table, frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="2 columns without names, but there were 9"):
        _encode(table, np.ones((N, 2)))
    plain = learn_attributes(np.ones((N, 2)) * np.arange(N)[:, None], NODES)
    with pytest.raises(ValueError, match="3 columns, but there were 2 at fit"):
        _encode(plain, np.ones((N, 3)))
    with pytest.raises(ValueError, match="without names of columns at fit"):
        _encode(plain, frame)


@pytest.mark.parametrize(
    "item",
    [
        {"kind": "code", "name": "x"},
        {"kind": "number", "name": 3},
        {"kind": "date", "name": "x", "parts": ["__class__"], "form": None},
        {"kind": "category", "name": "x", "categories": ["a", "a"], "null_texts": [], "dropped": 0},
        {"kind": "category", "name": "x", "categories": ["a"], "null_texts": [], "dropped": 7},
        {
            "kind": "text",
            "name": "x",
            "words": ["abc"],
            "lengths": [3, 10**9],
            "n_outputs": 1,
            "scale": 1.0,
            "null_texts": [],
        },
    ],
)
def test_forged_encoders_are_refused(item: dict[str, Any]) -> None:
    with pytest.raises((ValueError, KeyError)):
        restore_column(item, {"idf": np.ones(1)})


def test_numbers_and_dates_as_texts_may_be_missing() -> None:
    texts = ["1.5", "", "NA", " ", None, "7"]
    days = ["2021-03-01", "", "NA", " ", None, "2021-03-02"]
    nodes = to_name_array([f"n{i}" for i in range(6)], argument="nodes")
    frame = pd.DataFrame({"s": texts, "d": days}, index=[f"n{i}" for i in range(6)])
    table = learn_attributes(frame, nodes)
    state, arrays = dump_attributes(table)
    for one in (table, restore_attributes(json.loads(json.dumps(state)), arrays, 6)):
        found = np.asarray(one.encode(read_attributes(frame, nodes)))
        np.testing.assert_array_equal(np.isnan(found[:, 0]), [False, True, True, True, True, False])
        np.testing.assert_array_equal(np.isnan(found[:, -1]), np.isnan(found[:, 0]))
    with pytest.raises(ValueError, match="'seven' in column 's', where there were numbers before"):
        table.encode(read_attributes(frame.assign(s="seven"), nodes))


@pytest.mark.process
def test_numbers_need_no_skrub_and_texts_name_it() -> None:
    code = """
import sys
sys.modules["skrub"] = None
import numpy as np, pandas as pd
from gradraker.attributes import learn_attributes
nodes = np.array(["a", "b"], dtype=object)
print(learn_attributes(pd.DataFrame({"x": [1, 2], "y": [True, False]}, index=["a", "b"]), nodes))
try:
    learn_attributes(pd.DataFrame({"x": ["u", "v"]}, index=["a", "b"]), nodes)
except ImportError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "2 numbers per node" in found.stdout
    assert "column 'x'" in found.stdout
    assert "gradraker[attributes]" in found.stdout
