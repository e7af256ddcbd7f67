"""Separator, comments and header of a text table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from examples import list_edges
from gradraker import read_edges, read_values
from gradraker.exceptions import GraphFileError


def test_header_is_found_by_the_first_two_lines(write_file: Callable[..., Any], way: str) -> None:
    assert len(read_edges(write_file("from,to\na,b\n"))) == 1
    assert len(read_edges(write_file("x,y\na,b\n"))) == 2  # nothing says that x and y are no nodes
    assert len(read_edges(write_file("x,y\na,b\n"), header=True)) == 1
    assert len(read_edges(write_file("x,y\n1,2\n"))) == 1
    assert len(read_edges(write_file("x,7\n1,2\n"))) == 2
    assert len(read_edges(write_file("source,target\n"), header=False)) == 1
    assert len(read_edges(write_file("x,y,w\na,b,1\n"))) == 1
    assert read_values(write_file("x,1\ny,2\n")) == {"x": 1.0, "y": 2.0}
    assert read_values(write_file("page,visits\ny,2\n")) == {"y": 2.0}


@pytest.mark.parametrize(
    ("reader", "text", "column"),
    [(read_edges, "1,2,1.5x\n2,3,1\n3,4,2\n", 3), (read_values, "1,abc\n2,3\n", 2)],
)
def test_mistake_in_the_first_line_is_not_a_header(
    tmp_path: Path, reader: Callable[..., Any], text: str, column: int
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(GraphFileError, match=f"line 1, column {column}"):
        reader(path)


def test_source_and_dest_are_a_header(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,dest\na,b\n")
    assert len(read_edges(path)) == 1


def test_separator_and_comment_can_be_given(write_file: Callable[..., Any], way: str) -> None:
    path = write_file("% KONECT\na|b\n%c|d\n#e|f\n")
    found = read_edges(path, separator="|", comment="%")
    assert [edge[:2] for edge in list_edges(found)] == [("a", "b"), ("#e", "f")]
    assert len(read_edges(write_file("#a,b\n"), comment=None)) == 1
    assert len(read_edges(write_file("//x\na,b\n"), comment="//")) == 1
    assert list_edges(read_edges(write_file("a,b c\n"), separator=" "))[0][:2] == ("a,b", "c")
