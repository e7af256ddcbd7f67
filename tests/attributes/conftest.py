"""A table of attributes that tests of several files share."""

import pytest

from attribute_frames import NODES, make_frame
from gradraker.attributes import learn_attributes
from gradraker.attributes.table import AttributeTable


@pytest.fixture(scope="module")
def table() -> AttributeTable:
    return learn_attributes(make_frame(), NODES)
