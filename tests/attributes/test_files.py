"""Tables of attributes in model files are restored unchanged, and forged ones are refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from gradraker.attributes import learn_attributes
from gradraker.attributes.files import dump_attributes, restore_attributes
from gradraker.graph.names import to_name_array

NODES = to_name_array(["a", "b", "c"], argument="nodes")
DENSE = {"a": [1.0, 2.0], "c": [0.5, np.nan]}
WORDS = {"a": {"red": 1, "old": 2}, "b": ["old"]}


@pytest.mark.parametrize("given", [DENSE, WORDS, csr_array([[1.0, 0.0]] * 3)])
def test_attribute_table_is_restored_unchanged(given: Any) -> None:
    table = learn_attributes(given, NODES)
    state, arrays = dump_attributes(table)
    again = restore_attributes(json.loads(json.dumps(state)), arrays, 3)
    assert again.names == table.names
    assert again.is_named == table.is_named
    np.testing.assert_array_equal(again.given, table.given)
    dense = [t.matrix.toarray() if t.is_sparse else t.matrix for t in (again, table)]
    np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize(
    ("given", "array", "forged"),
    [
        (DENSE, "attributes_given", np.ones(4, dtype=np.bool_)),
        (DENSE, "attributes_given", np.ones(3)),
        (DENSE, "attributes_matrix", np.ones((3, 7))),
        (DENSE, "attributes_matrix", np.full((3, 2), np.inf)),
        (WORDS, "attributes_indices", np.array([0, 1, 99])),
        (WORDS, "attributes_indptr", np.array([0, 5, 2, 3])),
        (WORDS, "attributes_data", np.array([1.0, np.nan, 2.0])),
    ],
)
def test_forged_arrays_are_refused(given: Any, array: str, forged: Any) -> None:
    state, arrays = dump_attributes(learn_attributes(given, NODES))
    with pytest.raises(ValueError, match="attributes"):
        restore_attributes(state, arrays | {array: forged}, 3)


@pytest.mark.parametrize("width", [0, -1, 10**9, 2.5, "2"])
def test_a_forged_width_is_refused(width: Any) -> None:
    state, arrays = dump_attributes(learn_attributes(DENSE, NODES))
    with pytest.raises(ValueError, match="number of attributes"):
        restore_attributes(state | {"names": width}, arrays, 3)


def _forge(change: str) -> tuple[dict[str, Any], dict[str, Any]]:
    frame = pd.DataFrame({"kind": ["x", "y", "x"]}, index=["a", "b", "c"])
    state, arrays = dump_attributes(learn_attributes(frame, NODES))
    column = state["raw"]["kind"]
    if change == "short":
        column["entries"] = ["x"]
    elif change == "object":
        column["entries"] = ["x", {"date": "never"}, "y"]
    elif change == "list":
        column["entries"] = ["x", ["y"], "y"]
    elif change == "absent":
        state["raw"] = {}
    elif change == "other":
        state["raw"]["more"] = column
    elif change == "source":
        state["source"] = "elsewhere"
    else:
        arrays["attributes_learned"] = np.ones(7, dtype=np.bool_)
    return state, arrays


@pytest.mark.parametrize(
    "change", ["short", "object", "list", "absent", "other", "source", "learned"]
)
def test_forged_entries_are_refused(change: str) -> None:
    pytest.importorskip("skrub")
    with pytest.raises(ValueError, match=r"entr|attributes|isoformat"):
        restore_attributes(*_forge(change), 3)
