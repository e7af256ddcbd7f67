"""Encoders as data: they transform as skrub's do, and a file restores them unchanged."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradraker.attributes import learn_attributes
from gradraker.attributes.columns import restore_column
from gradraker.attributes.files import dump_attributes, restore_attributes
from gradraker.attributes.forms import read_attributes
from gradraker.graph.names import to_name_array

pytest.importorskip("skrub")


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
