"""Text tables: separator, comments and header; then columns, in bulk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import list_edges
from gradraker import read_edges, read_values
from gradraker.exceptions import GraphFileError, UnclearTableError
from gradraker.io import text_table

PLAIN = [(3, 7, 2.0), (3, 5, 0.5), (7, 5, -1.0)]


def test_header_is_found_by_the_first_two_lines(write_file: Callable[..., Any], way: str) -> None:
    assert len(read_edges(write_file("from,to\na,b\n"))) == 1
    with pytest.raises(UnclearTableError, match="'x', 'y' may name the columns or be data"):
        read_edges(write_file("x,y\na,b\n"))
    assert len(read_edges(write_file("x,y\na,b\n"), header=False)) == 2
    assert len(read_edges(write_file("x,y\na,x\n"))) == 2  # a node that occurs again
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


def test_separator_and_comment_can_be_given(write_file: Any, way: Any) -> None:
    path = write_file("% KONECT\na|b\n%c|d\n#e|b\n")
    found = read_edges(path, separator="|", comment="%")
    assert [edge[:2] for edge in list_edges(found)] == [("a", "b"), ("#e", "b")]
    assert len(read_edges(write_file("#a,b\n"), comment=None)) == 1
    assert len(read_edges(write_file("//x\na,b\n"), comment="//")) == 1
    assert list_edges(read_edges(write_file("a,b c\n"), separator=" "))[0][:2] == ("a,b", "c")


@pytest.mark.parametrize(
    "content",
    [
        "source,target,weight\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "3,7,2\n3,5,0.5\n7,5,-1",
        "3\t7\t2\n3\t5\t0.5\n7\t5\t-1\n",
        "3;7;2\n3;5;0.5\n7;5;-1\n",
        "  3   7  2\n3 5 \t .5\n\n7 5  -1.  \n",
        "# SNAP\n# FromNodeId\tToNodeId\n3\t7\t2e0\n# between\n3\t5\t5e-1\n7\t5\t-1\n",
        " # indented\n3,7,2\n  # indented, too\n3,5,0.5\n7,5,-1\n",
        "from,to,strength\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "a,b,weight\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "weight,note,target,source\n2,x,7,3\n0.5,,5,3\n-1,z,5,7\n",
        '"source","target","weight"\n"3","7",2\n3,"5",0.5\n"7",5,"-1"\n',
        "3, 7, 2\n 3 ,5\t, 0.5\n7,5,-1\n   \n\n",
        "\ufeffsource,target,weight\r\n3,7,2\r\n3,5,0.5\r\n7,5,-1\r\n",
        "3,7,2\r3,5,0.5\r7,5,-1\r",
    ],
)
def test_read_edges_from_text_with_any_separator_and_header(
    content: str, write_file: Callable[..., Any], way: str
) -> None:
    path = write_file(content)
    assert list_edges(read_edges(path)) == PLAIN
    assert read_edges(path).nodes.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("1,2\n", [1, 2]),
        ("-1,0\n", [-1, 0]),
        ("1,002\n", ["002", "1"]),
        ("+1,2\n", ["+1", "2"]),
        ("-0,2\n", ["-0", "2"]),
        ("1,2.0\n", ["1", "2.0"]),
        ("1,x\n", ["1", "x"]),
        ("1,٣\n", ["1", "٣"]),
        ("9223372036854775807,-9223372036854775808\n", [-(2**63), 2**63 - 1]),
        ("9223372036854775808,1\n", ["1", "9223372036854775808"]),
        (f"{'9' * 5000},1\n", ["1", "9" * 5000]),
    ],
)
def test_ids_are_integers_only_if_nothing_is_lost(
    content: str, names: list[Any], write_file: Callable[..., Any], way: str
) -> None:
    path = write_file(content)
    assert read_edges(path).nodes.tolist() == names
    assert read_edges(path, ids="text").nodes.tolist() == sorted(map(str, names))


def test_names_keep_quotes_and_unicode(write_file: Callable[..., Any], way: str) -> None:
    path = write_file('"Bern, BE",Zürich\n"say ""hi""",日本\n')
    assert [edge[:2] for edge in list_edges(read_edges(path, header=False))] == [
        ("Bern, BE", "Zürich"),
        ('say "hi"', "日本"),
    ]
    assert list_edges(read_edges(write_file('5" disk,b\n')))[0][0] == '5" disk'
    assert list_edges(read_edges(write_file('"New York" Bern\n')))[0][:2] == ("New York", "Bern")
    assert list_edges(read_edges(write_file("a\u00a0b c\n")))[0][:2] == ("a\u00a0b", "c")
    assert list_edges(read_edges(write_file("a\u2028b,c\n")))[0][:2] == ("a\u2028b", "c")


@pytest.mark.parametrize(
    "content",
    [
        "source,target,weight\n3,7,2\n3,5,0.5\n",
        "# SNAP\n3\t7\n# in between\n\n3\t5\r\n",
        "  3   7\n3 \t 5 \n",
        '"from","to"\n"a, b","c"\n"d",e\n',
        "a, b\nc ,a\n",
    ],
)
def test_lines_are_examined_in_python_only_for_errors(
    content: str, write_file: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_table, "explain_line", lambda *_: pytest.fail("line by line"))
    assert len(read_edges(write_file(content))) == 2


def test_large_files_are_read_in_pieces(
    write_file: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_table, "_PIECE", 64)
    edges = [(i, (7 * i) % 101, i / 8) for i in range(200)]
    text = "".join(f"{s},{t},{w}\n" for s, t, w in edges)
    assert list_edges(read_edges(write_file(text))) == edges
    # Only the last piece shows that nodes are texts.
    mixed = list_edges(read_edges(write_file(text + "x,y,1\n")))
    assert mixed == [(str(s), str(t), w) for s, t, w in [*edges, ("x", "y", 1.0)]]
    with pytest.raises(GraphFileError, match="line 201, column 3: 'w'"):
        read_edges(write_file(text + "x,y,w\n"))
