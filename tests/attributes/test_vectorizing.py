"""Encoders that are fitted by skrub: they transform as skrub's own do."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from attribute_frames import NODES, N, encode, make_frame
from gradraker.attributes import learn_attributes
from gradraker.attributes.files import dump_attributes, restore_attributes
from gradraker.attributes.table import AttributeTable

skrub = pytest.importorskip("skrub")


def _transform_by_skrub(frame: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    vectorizer = skrub.TableVectorizer(
        high_cardinality=skrub.StringEncoder(random_state=0),
        datetime=skrub.DatetimeEncoder(resolution="microsecond"),
        drop_null_fraction=None,
    )
    vectorizer.fit(frame)
    return vectorizer.transform(new)


@pytest.fixture(scope="module")
def reloaded(table: AttributeTable) -> AttributeTable:
    state, arrays = dump_attributes(table)
    return restore_attributes(json.loads(json.dumps(state)), arrays, N)


def test_transforms_equal_those_of_skrub(table: AttributeTable, reloaded: AttributeTable) -> None:
    frame = make_frame()
    new = frame.iloc[::-3].copy()
    new.iloc[0, 1], new.iloc[1, 4], new.iloc[2, 5] = "new kind", "N/A", "w"
    with pytest.warns(UserWarning, match="unknown categories"):  # theirs
        # Ours are fitted on sorted entries, so that the order of nodes does not matter.
        expected = _transform_by_skrub(frame.assign(text=sorted(frame["text"])), new)
    assert list(expected.columns) == list(table.names) == list(reloaded.names)
    numbers = expected.to_numpy(dtype=np.float64)
    for one in (table, reloaded):
        np.testing.assert_allclose(encode(one, new), numbers, rtol=1e-5, atol=1e-5)


def test_polars_frames_are_encoded_alike(table: AttributeTable) -> None:
    frame = pl.from_pandas(make_frame().reset_index(names="node"))
    again = learn_attributes(frame, NODES)
    assert again.names == table.names
    np.testing.assert_allclose(again.matrix, table.matrix)
    np.testing.assert_allclose(encode(table, frame[:7]), table.matrix[:7])


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
