"""Tables of attributes: kinds of columns, and columns that do not fit."""

import json

import numpy as np
import pytest

from attribute_frames import NODES, N, encode, make_frame
from gradraker.attributes import learn_attributes
from gradraker.attributes.table import AttributeTable

pytest.importorskip("skrub")


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
    new = make_frame().iloc[:2].astype({column: object})
    new.iloc[0, new.columns.get_loc(column)] = entry
    with pytest.raises(ValueError, match=message):
        encode(table, new)


def test_other_columns_than_at_fit_are_refused(table: AttributeTable) -> None:
    frame = make_frame()
    with pytest.raises(ValueError, match="lacks 'age' and has 'years', which fit did not see"):
        encode(table, frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="2 columns without names, but there were 9"):
        encode(table, np.ones((N, 2)))
    plain = learn_attributes(np.ones((N, 2)) * np.arange(N)[:, None], NODES)
    with pytest.raises(ValueError, match="3 columns, but there were 2 at fit"):
        encode(plain, np.ones((N, 3)))
    with pytest.raises(ValueError, match="without names of columns at fit"):
        encode(plain, frame)
