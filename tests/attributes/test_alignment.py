"""Attributes aligned with the nodes of a graph."""

import numpy as np
import pytest

from gradraker.attributes import learn_attributes
from gradraker.exceptions import UnknownNodesError
from gradraker.graph.names import to_name_array

NODES = to_name_array(["a", "b", "c"], argument="nodes")


def test_nodes_that_are_not_named_have_no_attributes() -> None:
    table = learn_attributes({"b": [1.0]}, NODES)
    assert table.given.tolist() == [False, True, False]
    np.testing.assert_array_equal(table.matrix[:, 0], [np.nan, 1.0, np.nan])
    assert repr(table) == "AttributeTable: 1 numbers per node (number: 1); 2 without"


def test_attributes_of_unknown_nodes_are_refused() -> None:
    with pytest.raises(UnknownNodesError, match=r"attributes holds .* 'zoe'; pass unknown_nodes="):
        learn_attributes({"zoe": [1.0]}, NODES)
    with pytest.raises(ValueError, match="attributes"):
        learn_attributes({1: [1.0]}, NODES)
