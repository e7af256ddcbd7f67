"""read_edges and read_values: columns, values, and errors that name the place."""

import gzip
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from examples import list_edges
from gradraker import read_edges, read_values
from gradraker.exceptions import GraphFileError, UnclearTableError
from gradraker.graph import known_values
from gradraker.io import readers


def test_columns_are_chosen_by_name_or_position(write_file: Callable[..., Any], way: str) -> None:
    path = write_file("a,b,c,d\nx,y,1,2\ny,z,3,4\n")
    assert list_edges(read_edges(path, source="b", target="a", weight="d")) == [
        ("y", "x", 2.0),
        ("z", "y", 4.0),
    ]
    assert list_edges(read_edges(path, source=1, target=0, weight=2, header=True))[1] == (
        "z",
        "y",
        3.0,
    )
    assert list_edges(read_edges(path, weight=False, header=True)) == [
        ("x", "y", None),
        ("y", "z", None),
    ]
    assert (
        read_edges(write_file("1,2,2020-01-01\n", "dated.csv"), weight=False, header=False).weight
        is None
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "edges.csv: the file is empty"),
        ("\ufeff", "the file is empty|no data"),
        ("\n \n", "edges.csv: the file is empty"),
        ("# only\n# comments\n", "edges.csv: the file holds no data"),
        ("source,target\n", "edges.csv: there is a header, but no data"),
        ("a\nb\n", "edges.csv, line 1: at least two columns are needed, got 'a'"),
        (
            "a,b\n\n# c\nc\n",
            r"edges.csv, line 4: the line has 1 column\(s\), but 2 are expected after line 1",
        ),
        (
            "a,b\nc,d,e\n",
            r"edges.csv, line 2: the line has 3 column\(s\), but 2 are expected after line 1",
        ),
        ("a,b\na,\n", "edges.csv, line 2, column 2: the name of a node is missing"),
        (
            "source,target\nc,d\n ,e\n",
            r"line 3, column 1 \(source\): the name of a node is missing",
        ),
        ("a,b,1\nb,c,x\n", "line 2, column 3: 'x' is not a finite decimal number"),
        ("a,b,1\r\nb,c,\r\n", "line 2, column 3: the weight is missing"),
        ("a,b,1\nb,c,nan\n", "line 2, column 3: the weight is missing"),
        ("a,b,1\nb,c,NaN\n", "line 2, column 3: the weight is missing"),
        ("source,target,weight\na,b,inf\n", r"line 2, column 3 \(weight\): 'inf' is not a finite"),
        ("a,b,1\nb,c,1e999\n", "line 2, column 3: '1e999' is not a finite"),
        ("a,b,1\nb,c,1_0\n", "line 2, column 3: '1_0' is not a finite"),
        ("a,b,1\nb,c,0x1\n", "line 2, column 3: '0x1' is not a finite"),
        ("a,b,1\nb,c,١\n", "line 2, column 3: '١' is not a finite"),
        ('a,b\n"c,d\n', "line 2: a quoted field is not closed"),
        ('a,b\n"c"x,d\n', "line 2: a quoted field is not closed"),
        ('a,b\n"c\nd",e\n', "line 2: a quoted field is not closed"),
        ("a;b,c\n", "line 1: columns could be separated by ',' or ';': pass separator"),
        (b"a,b\nc,\xff\n", "line 2: byte 0xff is not UTF-8"),
        (b"a,b\r\nc,d\re,\xc3\n", "line 3: byte 0xc3 is not UTF-8"),
        (b"a,b\nc,\0d\n", "line 2: the file holds a zero byte, so it is not text"),
        ("a,b\n".encode("utf-16"), "the text is in UTF-16"),
        (gzip.compress(b"a,b\n", mtime=0)[:-9], "gzip data end too early"),
        (gzip.compress(b"a,b\n" * 99, mtime=0)[:-20] + b"x" * 20, "gzip data are damaged"),
        (b"PAR1 and then nothing", "not a readable Parquet file"),
        (b"%%MatrixMarket matrix\n", "line 1: a matrix of real numbers begins"),
        (b"<graphml>", "not a readable GraphML file"),
    ],
)
def test_errors_name_file_line_and_column(
    content: bytes | str, message: str, write_file: Callable[..., Any], way: str
) -> None:
    with pytest.raises(GraphFileError, match=message) as caught:
        read_edges(write_file(content))
    text = str(caught.value)
    assert "edges.csv" in text
    assert "\n" not in text
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "x"}, "edges.csv: source='x' is not a column: the table has columns 'a', 'b'"),
        ({"weight": "w"}, "edges.csv: weight='w' is not a column"),
        ({"source": 5}, "edges.csv: source=5 is not a column"),
        (
            {"source": 1, "target": 1},
            "source and target must be two columns, got column 1 for both",
        ),
        ({"format": "parquet"}, "format asks for parquet, but the content looks like text"),
    ],
)
def test_columns_that_do_not_exist_are_refused(
    arguments: dict[Any, Any], message: str, write_file: Callable[..., Any]
) -> None:
    with pytest.raises(GraphFileError, match=message):
        read_edges(write_file("a,b\na,d\n"), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "xls"},
        {"separator": "ab"},
        {"separator": '"'},
        {"comment": ""},
        {"comment": " "},
        {"ids": "int"},
    ],
)
def test_wrong_arguments_are_named(
    arguments: dict[str, Any], write_file: Callable[..., Any]
) -> None:
    (name,) = arguments
    with pytest.raises(ValueError, match=f"{name} must be") as caught:
        read_edges(write_file("a,b\na,d\n"), **arguments)
    assert not isinstance(caught.value, GraphFileError)


def test_file_that_does_not_exist_raises_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_edges(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        read_edges(tmp_path)


def test_read_values_of_every_form(
    write_file: Callable[..., Any], tmp_path: Path, way: str
) -> None:
    nodes = [3, 5, 7]
    expected = [2.5, math.nan, -1.0]
    contents = [
        "3,2.5\n7,-1\n",
        "node,value\n7,-1\n3,2.5\n5,\n",
        "value\tnode\n-1\t7\nNA\t5\n2.5\t3\n",
        "3 2.5\n7 -1\n3 2.50\n5 nan\n",
        "id,temperature\r\n3,2.5\r\n7,-1\r\n",
    ]
    for content in contents:
        found = known_values(read_values(write_file(content)), nodes)
        assert np.array_equal(found, expected, equal_nan=True), content
    pl.DataFrame({"node": nodes, "value": [2.5, None, -1]}).write_parquet(tmp_path / "v.parquet")
    found = known_values(read_values(tmp_path / "v.parquet"), nodes)
    assert np.array_equal(found, expected, equal_nan=True)
    chosen = read_values(write_file("a,b,c\n1,2,x\n"), node="c", value="a")
    assert chosen == {"x": 1.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,1\nb,2\n\na,3\n", "line 4: node 'a' has the value 3 here, but 1 in line 1"),
        ("7,1\n7,\n", "line 2: node 7 has the value nan here, but 1 in line 1"),
        ("a,1\nb,high\n", "line 2, column 2: 'high' is not a finite decimal number"),
        ("a,1\nb,-inf\n", "line 2, column 2: '-inf' is not a finite"),
        ("node,value\n", "there is a header, but no data"),
        (b"%%MatrixMarket matrix array real general\n1 1\n1\n", "values are read from text tables"),
    ],
)
def test_wrong_values_are_refused_with_their_line(
    content: bytes | str, message: str, write_file: Callable[..., Any], way: str
) -> None:
    with pytest.raises(GraphFileError, match=message):
        read_values(write_file(content))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_several_columns_of_values_are_read_at_once(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pl.DataFrame({"age": [40, 30], "place": ["a", "b"], "income": [None, 9.5]})
    path = tmp_path / f"values.{form}"
    _ = table.write_csv(path) if form == "csv" else table.write_parquet(path)
    opened, from_disk = [], readers.open_file

    def open_file(*arguments: Any) -> Any:
        opened.append(arguments)
        return from_disk(*arguments)

    monkeypatch.setattr(readers, "open_file", open_file)
    # Ages are different whole numbers, which could be names, but they are asked for as values.
    values = read_values(path, value=["age", "income"])
    assert str(values) == "{'a': {'age': 40.0, 'income': nan}, 'b': {'age': 30.0, 'income': 9.5}}"
    assert len(opened) == 1
    assert str(values.reading).startswith("read as: node = place, age, income")
    assert read_values(path, value=["age"]) == {"a": {"age": 40.0}, "b": {"age": 30.0}}
    assert (values.lines is None) == (form == "parquet")


def test_wrong_numbers_in_one_of_several_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    path.write_text("node,age,income\na,40,5\nb,,x\n")
    with pytest.raises(GraphFileError, match=r"line 3, column 3 \(income\): 'x' is not"):
        read_values(path, value=["age", "income"])
    path.write_text("node,age,income\na,40,5\na,40,6\n")
    with pytest.raises(GraphFileError, match="'a' has the value 6 here, but 5 in line 2"):
        read_values(path, value=["age", "income"])
    for value, task, told in (
        (["age", "age"], None, "must name different columns"),
        (["age", "income"], "classes", "task must be 'values' or None"),
        (["age", "node"], None, "node and value must be two columns"),
    ):
        wrong: Any = {"value": value, "task": task, "node": "node"}
        with pytest.raises(ValueError, match=told):
            read_values(path, **wrong)


def test_predictions_are_read_back_as_values(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text("node,known,value,prediction\na,True,1.5,1.4\nb,False,,1.2\n")
    values = read_values(path)
    assert values["a"] == 1.5
    assert np.isnan(values["b"])


@pytest.mark.process
def test_polars_is_imported_only_when_a_file_is_read(write_file: Callable[..., Any]) -> None:
    program = """
import sys
from gradraker import adjacency_vectors, read_edges
adjacency_vectors([("a", "b")])
before = "polars" in sys.modules
read_edges(sys.argv[1])
print(before, "polars" in sys.modules)
"""
    path = write_file("a,b\n")
    found = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    "entries",
    [
        ["1,5", "2,5"],
        ["1.234,5", "17,0"],
        ["45 %", "3%"],
        ["€ 3", "€4"],
        ["1'234", "5'000"],
        ["−3", "−4"],
        ["2020-01-31", "2020-2-1"],
        ["2020-01-31T12:00:00Z", "2020-02-01 08:30"],
        ["31.1.2020", "01.02.2020"],
        ["1/31/2020", "12/1/2020"],
    ],
)
def test_read_values_refuses_dates_and_numbers_in_another_notation(
    tmp_path: Path, entries: list[str]
) -> None:
    path = tmp_path / "values.csv"
    path.write_text("node;value\n" + "".join(f"{i};{one}\n" for i, one in enumerate(entries)))
    with pytest.raises(UnclearTableError, match=r"look like (numbers|dates)"):
        read_values(path)
    assert list(read_values(path, task="classes").values()) == entries


@pytest.mark.parametrize("entries", [["1,5", "x"], ["1.2.3", "1.2.4"], ["2020-01-01", "a,b"]])
def test_read_values_takes_names_with_digits_for_classes(
    tmp_path: Path, entries: list[str]
) -> None:
    path = tmp_path / "values.csv"
    path.write_text("node;value\n" + "".join(f"{i};{one}\n" for i, one in enumerate(entries)))
    assert list(read_values(path).values()) == entries
