"""Values that are labels, in files."""

from typing import Any

import pytest

from gradraker import read_values
from gradraker.exceptions import GraphFileError


def test_read_values_task_settles_numbers_that_are_labels(write_file: Any) -> None:
    path = write_file("node,group\na,1\nb,2\nc,1\n")
    assert read_values(path) == {"a": 1.0, "b": 2.0, "c": 1.0}
    assert read_values(path, task="classes") == {"a": "1", "b": "2", "c": "1"}
    with pytest.raises(GraphFileError, match="line 3, column 2"):
        read_values(write_file("node,y\na,1\nb,two\n"), task="values")


def test_read_values_refuses_a_node_with_two_classes(write_file: Any) -> None:
    with pytest.raises(GraphFileError, match="line 4: node 'a' has the value 'blue' here, but"):
        read_values(write_file("node,label\na,red\nb,red\na,blue\n"))
